// Published checkpoints with both binaries: see tests/fixtures/checkpoints.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { assertAnswers, classes, folderOf, names, taskOf } from '../support/checkpoints.mjs';
import { firefoxModel } from '../support/firefox_model.mjs';
import {
  Embedder,
  MaskFiller,
  Translator,
  assertError,
  binaries,
  load,
  openAny,
  root,
} from '../support/helpers.mjs';

assert.ok(names.length >= 20);
for (const Class of classes)
  assert.ok(names.filter((name) => taskOf(name).Class === Class).length >= 3);

for (const binary of binaries) {
  for (const name of names) {
    test(`${name}, ${binary}`, async () => {
      const { Class, name: className } = taskOf(name);
      await assertAnswers(await load(folderOf(name), { binary }, Class), name);
      // Another class names the right one.
      const cure = new RegExp(`got one for [a-z0-9-]+; ${className}\\.load opens it`);
      for (const Other of classes.filter((each) => each !== Class)) {
        if (Class === MaskFiller && Other === Embedder) continue; // without the head
        await assertError(() => Other.load(folderOf(name), { binary }), 'wrong_task', cure);
      }
    });
  }
}

test('load gives the class of the task', async () => {
  for (const name of names) {
    const model = await openAny(folderOf(name));
    after(() => model.dispose());
    assert.equal(model.constructor, taskOf(name).Class);
  }
  const translator = await openAny(join(root, 'tests/fixtures/golden/translate_pre_norm_shared'));
  after(() => translator.dispose());
  assert.ok(translator instanceof Translator);
  assert.equal((await translator.translateBatch([])).length, 0);
  const wanted = { shortlist: true };
  await assertError(() => openAny(folderOf('bert_sequence'), wanted), 'missing_file', /shortlist/);
});

test('info names the tensors that the task does not need', async () => {
  const ignored = {
    roberta_sequence: [
      'lm_head.bias',
      'lm_head.dense.bias',
      'lm_head.dense.weight',
      'lm_head.layer_norm.bias',
      'lm_head.layer_norm.weight',
      'roberta.embeddings.position_ids',
      'roberta.pooler.dense.bias',
      'roberta.pooler.dense.weight',
    ],
    gpt2_generate: [0, 1].flatMap((layer) =>
      ['bias', 'masked_bias'].map((mask) => `transformer.h.${layer}.attn.${mask}`),
    ),
    bert_shards: [],
  };
  for (const [name, expected] of Object.entries(ignored)) {
    const model = await openAny(folderOf(name));
    after(() => model.dispose());
    assert.deepEqual(model.info.ignoredTensors.toSorted(), expected, name);
  }
  // The configuration is one of a container's tensors, and it is read.
  const firefox = await openAny(firefoxModel());
  after(() => firefox.dispose());
  const { ignoredTensors } = firefox.info;
  assert.ok(ignoredTensors.length > 20);
  assert.ok(ignoredTensors.every((name) => /_QuantMultA/.test(name)));
});
