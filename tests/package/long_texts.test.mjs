// Texts with more tokens than a model reads at once, and options of generation, through the package.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { folderOf } from './checkpoints.mjs';
import {
  Classifier,
  Embedder,
  Generator,
  TokenClassifier,
  assertError,
  assertNear,
  root,
} from './helpers.mjs';

const read = (name) => JSON.parse(readFileSync(join(root, 'tests/checkpoints', name), 'utf8'));
const long = read('long_texts.json');

test('names in a long text are the original library’s, with each stride', async () => {
  const tagger = await TokenClassifier.load(folderOf('bert_tokens'));
  for (const { text, side, stride, windows, entities } of long.tokens.bert_tokens) {
    if (side === 'left') continue;
    for (const [aggregation, expected] of Object.entries(entities)) {
      const found = await tagger.classify(text, { aggregation, stride });
      assert.deepEqual([found.windows, found.clipped], [windows, false]);
      assert.deepEqual(
        found.entities.map(({ entity, word, start, end }) => [entity, word, start, end]),
        expected.map(([entity, , word, start, end]) => [entity, word, start, end]),
      );
      assertNear(
        found.entities.map(({ score }) => score),
        expected.map(([, score]) => score),
        1e-4,
        aggregation,
      );
    }
  }
  const [{ text }] = long.tokens.bert_tokens;
  await assertError(tagger.classify(text, { attention: true }), 'too_large', /attention/);
  const cut = await tagger.classify(text, { attention: true, window: 'first' });
  assert.deepEqual([cut.clipped, cut.windows], [true, 1]);
  await assertError(tagger.classify('a', { window: 'mean' }), 'invalid_option', /window/);
  await assertError(tagger.classify('a', { stride: 18 }), 'invalid_option', /stride/);
  tagger.dispose();
});

test('a classifier reads a long text in windows, if asked to', async () => {
  const classifier = await Classifier.load(folderOf('bert_sequence'));
  for (const { text, stride, windows, ...expected } of long.sequence.bert_sequence) {
    for (const window of ['mean', 'max']) {
      const result = await classifier.classify(text, { window, stride });
      assert.deepEqual([result.windows, result.clipped], [windows, false]);
      assertNear(Object.values(result.scores), expected[window], 1e-4, window);
    }
    assert.equal((await classifier.classify(text)).clipped, true);
  }
  classifier.dispose();
});

test('stop strings, bad words and suppressed tokens are the original library’s', async () => {
  const generator = await Generator.load(folderOf('gpt2_generate'));
  for (const { text, options, ids } of read('generation_options.json').gpt2_generate) {
    const { tokens } = await generator.generate(text, options);
    assert.deepEqual(
      tokens.map(({ id }) => id),
      ids,
      JSON.stringify({ text, options }),
    );
  }
  await assertError(generator.next('a', { stopStrings: ['a'] }), 'invalid_option', /stopStrings/);
  generator.dispose();
});

test('the head that an embedder does not run is named', async () => {
  const embedder = await Embedder.load(folderOf('bert_embed'));
  assert.equal(embedder.info.unusedHead, undefined);
  embedder.dispose();
});
