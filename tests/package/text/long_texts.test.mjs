// The package with texts of more tokens than a model reads at once, and with generation options.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { copyOf, folderOf } from '../support/checkpoints.mjs';
import {
  Classifier,
  Embedder,
  Generator,
  TokenClassifier,
  assertError,
  assertNear,
  root,
} from '../support/helpers.mjs';

const read = (name) =>
  JSON.parse(readFileSync(join(root, 'tests/fixtures/checkpoints', name), 'utf8'));
const long = read('long_texts.json');

test('names in a long text equal those of the original library, with each stride', async () => {
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

test('a classifier reads a long text in windows if requested', async () => {
  const classifier = await Classifier.load(folderOf('bert_sequence'));
  for (const { text, stride, windows, ...expected } of long.sequence.bert_sequence) {
    for (const window of ['mean', 'max']) {
      const result = await classifier.classify(text, { window, stride });
      assert.deepEqual([result.windows, result.clipped], [windows, false]);
      assertNear(
        result.scores.map(({ score }) => score),
        expected[window],
        1e-4,
        window,
      );
    }
    assert.equal((await classifier.classify(text)).clipped, true);
  }
  classifier.dispose();
});

test('stop strings, bad words and suppressed tokens work as in the original library', async () => {
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

test('prefixes and tasks of config.json work as in the original library', async () => {
  const [{ base, config, runs }] = read('task_options.json').folders;
  const folder = copyOf(base);
  const file = join(folder, 'config.json');
  const own = JSON.parse(readFileSync(file, 'utf8'));
  writeFileSync(file, JSON.stringify({ ...own, ...config, prefix: 'answer: ' }));
  const generator = await Generator.load(folder);
  assert.equal(generator.info.prefix, 'answer: ');
  assert.deepEqual(generator.info.tasks, {
    summarization: 'summarize: ',
    translation_en_to_de: 'translate English to German: ',
    'text2text-generation': 'answer: ',
    plain: '',
    start: '',
  });
  const idsOf = (tokens) => tokens.map(({ id }) => id);
  const tasks = ['summarization', 'translation_en_to_de'];
  const some = runs.filter(({ options }) => tasks.includes(options.task));
  assert.ok(some.length >= 48);
  for (const { text, options, prompt, ids } of some) {
    const { tokens, promptTokens } = await generator.generate(text, options);
    const message = JSON.stringify({ text, options });
    assert.deepEqual([idsOf(tokens), idsOf(promptTokens)], [ids, prompt], message);
  }
  const { text, prompt } = some[0];
  const next = await generator.next(text, { task: some[0].options.task });
  assert.deepEqual(idsOf(next.promptTokens), prompt);
  for await (const step of generator.stream(text, { task: 'start', prefix: false })) {
    assert.ok(step.promptTokens === undefined || step.promptTokens[0].start === 0);
  }
  const unknown = generator.generate('a', { task: 'translation_en_to_fr' });
  await assertError(unknown, 'invalid_option', /translation_en_to_de/);
  await assertError(generator.generate('a', { prefix: 'b' }), 'invalid_option', /prefix/);
  generator.dispose();
});

test('info names the head that an embedder does not run', async () => {
  const embedder = await Embedder.load(folderOf('bert_embed'));
  assert.equal(embedder.info.unusedHead, undefined);
  embedder.dispose();
});
