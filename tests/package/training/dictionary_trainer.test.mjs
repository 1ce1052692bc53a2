// Dictionaries that the package learns: in every binary, the same as the command does.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { command } from '../../native_build.mjs';
import {
  DictionaryTrainer,
  Generator,
  assertError,
  assertNear,
  binaries,
  load,
  root,
} from '../support/helpers.mjs';

const checkpoint = (name) => join(root, 'tests/fixtures/checkpoints', name);
const scratch = mkdtempSync(join(tmpdir(), 'glassformer-dictionary-'));
after(() => rmSync(scratch, { recursive: true }));
const words = ['good', 'film', 'the', 'was', 'bad', 'story'];
const line = (i) => Array.from({ length: 7 }, (_, j) => words[(i * j + i + j * 3) % 6]).join(' ');
const texts = Array.from({ length: 40 }, (_, i) => line(i));
const options = { features: 30, active: 3, heldOut: 0.2 };

const data = join(scratch, 'texts.txt');
writeFileSync(data, texts.map((text) => `${text}\n`).join(''));
const native = join(scratch, 'native');
const flags = ['--lessons', 'dictionary', '--features', '30', '--active', '3', '--epochs', '6'];
execFileSync(
  command,
  ['train', checkpoint('gpt2_generate'), data, native, ...flags, '--held-out', '0.2'],
  { stdio: 'ignore' },
);

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
