// Dictionaries that the package learns: in every binary, the same as the command does.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { checkpoint, learnNatively, texts } from '../support/dictionaries.mjs';
import {
  DictionaryTrainer,
  Generator,
  assertError,
  assertNear,
  binaries,
  load,
  root,
} from '../support/helpers.mjs';

const options = { features: 30, active: 3, heldOut: 0.2 };

const native = learnNatively('--epochs', '6', '--held-out', '0.2');

for (const binary of binaries)
  test(`${binary}: dictionaries explain more as they learn, and can be opened`, async () => {
    const trainer = await DictionaryTrainer.from(checkpoint('gpt2_generate'), texts, {
      ...options,
      binary,
    });
    assert.deepEqual([trainer.examples, trainer.heldOut], [32, 8]);
    const losses = [];
    for await (const { heldOut } of trainer.train({ epochs: 6 }))
      if (heldOut) losses.push(heldOut.loss);
    assert.ok(losses.at(-1) < losses[0], `${losses}`);
    const files = await trainer.save();
    trainer.dispose();
    const names = ['config.json', 'report.json', 'texts.json', 'features-0.json', 'manifest.json'];
    for (const name of names) assert.ok(files[name], name);
    const json = (bytes) => JSON.parse(new TextDecoder().decode(bytes));
    const report = json(files['report.json']);
    const expected = json(readFileSync(join(native, 'report.json')));
    assert.equal(report.tokens, expected.tokens);
    for (const key of ['loss', 'explained_variance', 'loss_replaced', 'features_per_token'])
      assertNear([report.all[key] ?? report[key]], [expected.all[key] ?? expected[key]], 0.05, key);

    const model = await load(checkpoint('gpt2_generate'), { compute: 'f32' }, Generator);
    await model.loadDictionaries(files);
    const { dictionaries } = await model.explain('good film', { method: 'features' });
    assert.equal(dictionaries.length, report.dictionaries.length);
  });

test('what cannot be learned is refused', async () => {
  const from = (model, examples, more) =>
    DictionaryTrainer.from(model, examples, { ...options, ...more });
  const writer = checkpoint('gpt2_generate');
  await assertError(from(writer, texts, { dropout: 0 }), 'invalid_option', /unknown option/);
  await assertError(from(writer, texts, { at: 'x' }), 'invalid_option', /at: expected layers/);
  await assertError(from(writer, ['a\nb']), 'invalid_option', /lines of text/);
  await assertError(from(writer, []), 'invalid_data', /./);
  await assertError(
    from(join(root, 'weights/en-de'), ['a\tb']),
    'unsupported',
    /got a translator|expected a model/,
  );
  await assertError(from({ d_model: 32 }, texts), 'wrong_task', /folder of a model/);
});
