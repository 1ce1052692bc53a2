// The common features of the classes for published models, and the features of each class.
// checkpoints.test.mjs compares their answers with the original library.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { copyOf, expectedOf, folderOf } from '../support/checkpoints.mjs';
import {
  AttentionMap,
  Classifier,
  Embedder,
  Generator,
  MaskFiller,
  QuestionAnswerer,
  TokenClassifier,
  Translator,
  assertError,
  assertNear,
  load,
  openAny,
  plain,
  root,
} from '../support/helpers.mjs';

const sentences = ['I loved it!', 'The film opens on a quiet street.', 'New York'];
const questions = sentences.map((context) => ({ question: 'Who did?', context }));

// Each class with its folder, some inputs, one without tokens, an invalid input, and its methods.
const kinds = [
  {
    Class: Classifier,
    name: 'Classifier',
    folder: folderOf('bert_sequence'),
    inputs: [sentences[0], { text: sentences[1], pair: sentences[2] }, sentences[2]],
    empty: ' ',
    wrong: [undefined, 7, { text: 'a' }, { pair: 'a' }, { text: 'a', pair: 7 }],
    one: (model, input, options) => model.classify(input, options),
    batch: (model, inputs, options) => model.classifyBatch(inputs, options),
    each: (model, inputs, options) => model.classifyEach(inputs, options),
  },
  {
    Class: TokenClassifier,
    name: 'TokenClassifier',
    folder: folderOf('bert_tokens'),
    inputs: sentences,
    empty: ' ',
    wrong: [undefined, 7, { text: 'a', pair: 'b' }],
    one: (model, input, options) => model.classify(input, options),
    batch: (model, inputs, options) => model.classifyBatch(inputs, options),
    each: (model, inputs, options) => model.classifyEach(inputs, options),
  },
  {
    Class: QuestionAnswerer,
    name: 'QuestionAnswerer',
    folder: folderOf('bert_answer'),
    inputs: questions,
    empty: { question: 'Who?', context: ' ' },
    wrong: [undefined, 'a', { question: 'a' }, { question: 7, context: 'a' }],
    one: (model, input, options) => model.answer(input?.question, input?.context, options),
    batch: (model, inputs, options) => model.answerBatch(inputs, options),
    each: (model, inputs, options) => model.answerEach(inputs, options),
  },
  {
    Class: MaskFiller,
    name: 'MaskFiller',
    folder: folderOf('bert_masks'),
    inputs: ['I [MASK] it!', '[MASK] loved the [MASK]', 'New [MASK]'],
    empty: ' ',
    wrong: [undefined, 7, 'no mask', { text: '[MASK]', pair: 'b' }],
    one: (model, input, options) => model.fill(input, options),
    batch: (model, inputs, options) => model.fillBatch(inputs, options),
    each: (model, inputs, options) => model.fillEach(inputs, options),
  },
  {
    Class: Embedder,
    name: 'Embedder',
    folder: folderOf('bert_embed'),
    inputs: sentences,
    empty: ' ',
    wrong: [undefined, 7, { text: 'a', pair: 'b' }],
    one: (model, input, options) => model.embed(input, options),
    batch: (model, inputs, options) => model.embedBatch(inputs, options),
    each: (model, inputs, options) => model.embedEach(inputs, options),
  },
];

const collect = async (outcomes) => {
  const all = [];
  for await (const { index, result, error } of outcomes) all[index] = error ?? result;
  return all;
};

for (const { Class, name, folder, inputs, empty, wrong, one, batch, each } of kinds) {
  test(`${name}: single calls, batches and loops give the same`, async () => {
    const model = await load(folder, {}, Class);
    const single = [];
    for (const input of inputs) single.push(await one(model, input));
    assert.deepEqual(await batch(model, inputs), single);
    assert.deepEqual(await collect(each(model, inputs)), single);
    assert.deepEqual(await batch(model, []), []);
    const threaded = await load(folder, { worker: true }, Class);
    assert.deepEqual(await batch(threaded, inputs), single);
    assert.deepEqual(threaded.info, model.info);
  });

  test(`${name}: attention comes with the answer and changes no number`, async () => {
    const model = await load(folder, {}, Class);
    const { layers, heads } = model.info;
    for (const input of inputs) {
      const { attention, ...rest } = await one(model, input, { attention: true });
      assert.deepEqual(rest, await one(model, input));
      assert.ok(attention.encoder instanceof AttentionMap);
      assert.deepEqual([attention.encoder.layers, attention.encoder.heads], [layers, heads]);
      assert.equal(attention.encoder.keys, rest.tokens.length);
      for (const row of [0, rest.tokens.length - 1]) {
        const head = attention.encoder.at(layers - 1, 0);
        const weights = head.subarray(row * rest.tokens.length, (row + 1) * rest.tokens.length);
        assertNear([weights.reduce((a, b) => a + b)], [1], 1e-5, 'sum of a row');
      }
    }
  });

  test(`${name}: heads can be ablated`, async () => {
    const model = await load(folder, {}, Class);
    const [input] = inputs;
    const before = await one(model, input, { attention: true });
    const ablate = [{ attention: 'encoder', layer: 0, head: 0 }];
    const without = await one(model, input, { attention: true, ablate });
    const last = (result) => result.attention.encoder.at(model.info.layers - 1, 0);
    assert.notDeepEqual(last(without), last(before));
    assert.deepEqual(await one(model, input, { attention: true }), before);
    const missing = [{ attention: 'encoder', layer: model.info.layers, head: 0 }];
    const fail = (options) => assertError(() => one(model, input, options), 'invalid_option');
    await fail({ ablate: missing });
    await fail({ ablate: [{ attention: 'cross', layer: 0, head: 0 }] });
  });

  test(`${name}: refused input`, async () => {
    const model = await load(folder, {}, Class);
    const [input] = inputs;
    await assertError(() => one(model, empty), 'empty_input');
    await assertError(() => batch(model, [input, empty]), 'empty_input', /texts\[1\]/);
    const outcomes = await collect(each(model, [input, empty, input]));
    assert.equal(outcomes[1].code, 'empty_input');
    assert.deepEqual(outcomes[2], outcomes[0]);
    for (const given of wrong) {
      await assertError(() => one(model, given), 'invalid_option');
      await assertError(() => batch(model, [input, given]), 'invalid_option', /texts\[1\]/);
      assert.equal((await collect(each(model, [given])))[0].code, 'invalid_option');
    }
    for (const given of [undefined, 'a', {}]) {
      await assertError(() => batch(model, given), 'invalid_option', /texts/);
    }
    const unknown = { attentions: true };
    await assertError(() => one(model, input, unknown), 'invalid_option', /attentions/);
    await assertError(() => batch(model, [input], unknown), 'invalid_option', /attentions/);
    await assertError(() => collect(each(model, [input], unknown)), 'invalid_option', /attentions/);
    await assertError(() => Class.load(folder, { shortlist: true }), 'invalid_option', /shortlist/);
  });

  test(`${name}: calls can be aborted, and end when the model is disposed`, async () => {
    const model = await load(folder, {}, Class);
    const [input] = inputs;
    const expected = await one(model, input);
    const many = Array(3000).fill(input);
    await assertError(() => one(model, input, { signal: AbortSignal.abort() }), 'aborted');
    const controller = new AbortController();
    const long = batch(model, many, { signal: controller.signal });
    setImmediate(() => controller.abort('enough'));
    await assert.rejects(long, { code: 'aborted', cause: 'enough' });
    assert.deepEqual(await one(model, input), expected);
    const left = batch(model, many);
    model.dispose();
    await assertError(() => left, 'disposed');
    await assertError(() => one(model, input), 'disposed');
    if (Symbol.dispose) assert.equal(Class.prototype[Symbol.dispose], Class.prototype.dispose);
  });
}

test('two texts: each token names its text, and no character separates them', async () => {
  const classifier = await load(folderOf('bert_sequence'));
  const pair = { text: 'I loved\tit', pair: 'New York' };
  const { tokens } = await classifier.classify(pair);
  for (const { start, end, sequence, text } of tokens) {
    if (start === end) continue;
    const source = sequence === 0 ? pair.text : pair.pair;
    assert.ok(source.toLowerCase().slice(start, end).startsWith(text.trim().slice(0, 1)));
  }
  const words = (wanted) => tokens.filter((t) => t.sequence === wanted && t.end > t.start);
  assert.equal(words(0).at(-1).end, pair.text.length);
  assert.equal(words(1).at(-1).end, pair.pair.length);
  // The same number of tokens as with a space: white space has no token.
  const spaced = await classifier.classify({ ...pair, text: 'I loved it' });
  assert.deepEqual(spaced.tokens, tokens);
  assert.ok(
    (await classifier.classify(pair.text)).tokens.every(({ sequence }) => sequence === undefined),
  );
  const long = await classifier.classify({ text: 'a '.repeat(100), pair: 'b' });
  assert.ok(long.clipped);
  assert.equal(long.tokens.length, classifier.info.maxSourceLength);
});

test('a tab does not separate a question from its context', async () => {
  const answerer = await load(folderOf('bert_answer'), {}, QuestionAnswerer);
  const context = 'My children laughed.';
  const expected = await answerer.answer('Who did?', context);
  assert.deepEqual(await answerer.answer('Who\tdid?', context), expected);
});

test('a question to a long text', async () => {
  const answerer = await load(folderOf('bert_answer'), {}, QuestionAnswerer);
  const context = 'My children laughed from start to finish. '.repeat(200);
  const { answer, start, end, tokens, attention } = await answerer.answer('Who did?', context, {
    attention: true,
  });
  assert.equal(answer, context.slice(start, end));
  assert.ok(tokens.length <= answerer.info.maxSourceLength);
  assert.equal(attention.encoder.queries, tokens.length);
  const covered = tokens.filter(({ sequence, end }) => sequence === 1 && end > 0);
  assert.ok(covered[0].start <= start && end <= covered.at(-1).end);
  const fail = (options, message) =>
    assertError(() => answerer.answer('Who?', context, options), 'invalid_option', message);
  await fail({ maxAnswerLen: 0 }, /^maxAnswerLen: expected at least 1, got 0$/);
  await assert.rejects(answerer.answer('Who?', context, { maxAnswerLen: 0 }), {
    field: 'maxAnswerLen',
  });
  await fail({ docStride: -1 }, /docStride/);
  await fail({ maskTokens: [1] }, /maskTokens/);
});

test('ignored labels, and masked tokens', async () => {
  const classifier = await load(folderOf('bert_tokens'), {}, TokenClassifier);
  const [text] = sentences;
  const all = await classifier.classify(text, { ignoreLabels: [] });
  assert.equal(all.entities.length, all.tokens.filter(({ start, end }) => end > start).length);
  const none = await classifier.classify(text, { ignoreLabels: classifier.info.labels });
  assert.deepEqual(none.entities, []);
  const masked = await classifier.classify(text, { maskTokens: [1], ignoreLabels: [] });
  assert.notDeepEqual(masked.entities, all.entities);
  await assertError(
    () => classifier.classify(text, { aggregation: 'mean' }),
    'invalid_option',
    /aggregation: expected .*simple.*, got "mean"/,
  );
});

test('vectors are compared as the folder says', async () => {
  const name = 'config_sentence_transformers.json';
  const [a, b] = [
    [1, 2],
    [4, -2],
  ];
  for (const [similarity, expected] of [
    [null, 0],
    ['cosine', 0],
    ['dot', 0],
    ['euclidean', -5],
    ['manhattan', -7],
  ]) {
    const folder = copyOf('bert_embed');
    const file = join(folder, name);
    writeFileSync(file, JSON.stringify({ similarity_fn_name: similarity }));
    const embedder = await load(folder, {}, Embedder);
    assert.equal(embedder.info.similarity, similarity ?? 'cosine');
    assertNear([embedder.similarity(a, b)], [expected], 1e-12, similarity);
    assertNear(
      [embedder.similarity([3, 0], [2, 0])],
      [{ dot: 6, euclidean: -1, manhattan: -1 }[similarity] ?? 1],
      1e-12,
      similarity,
    );
  }
  const folder = copyOf('bert_embed');
  writeFileSync(join(folder, name), JSON.stringify({ similarity_fn_name: 'learned' }));
  await assertError(() => Embedder.load(folder), 'unsupported', /similarity_fn_name.*learned/);
});

test('the head of SetFit is refused by name', async () => {
  const folder = copyOf('bert_embed');
  writeFileSync(join(folder, 'model_head.pkl'), '');
  await assertError(() => Classifier.load(folder), 'unsupported', /model_head\.pkl.*SetFit/);
  (await Embedder.load(folder)).dispose();
});

test('vectors: pooling, length and similarity', async () => {
  const embedder = await load(folderOf('bert_embed'), {}, Embedder);
  const { dModel, poolings, normalize } = embedder.info;
  assert.deepEqual([poolings, normalize], [['mean'], true]);
  const [text] = sentences;
  const lengthOf = (vector) => Math.hypot(...vector);
  const { embedding } = await embedder.embed(text);
  assert.equal(embedding.length, dModel);
  assertNear([lengthOf(embedding)], [1], 1e-6, 'length');
  const several = await embedder.embed(text, { pooling: ['cls', 'max'], normalize: false });
  assert.equal(several.embedding.length, 2 * dModel);
  const cls = await embedder.embed(text, { pooling: 'cls', normalize: false });
  assert.deepEqual(several.embedding.subarray(0, dModel), cls.embedding);
  assertNear([embedder.similarity(embedding, embedding)], [1], 1e-6, 'likeness');
  assertNear([embedder.similarity([3, 4], [4, 3])], [24 / 25], 1e-12, 'likeness');
  assert.equal(embedder.similarity([1, 0], [0, 0]), 0);
  assert.throws(() => embedder.similarity(embedding, [1]), { code: 'invalid_option' });
  assert.throws(() => embedder.similarity('a', 'b'), { code: 'invalid_option', message: /embed/ });
  await assertError(
    () => embedder.embed(text, { promptName: 'query' }),
    'invalid_option',
    /promptName.*prompts/,
  );
  const prompted = await embedder.embed(text, { prompt: 'the story: ' });
  const joined = await embedder.embed(`the story: ${text}`);
  assert.deepEqual(prompted.embedding, joined.embedding);
  const last = prompted.tokens.at(-2);
  assert.deepEqual([last.start, last.end], [text.length - 1, text.length]);
  await assertError(() => embedder.embed(text, { pooling: 'first' }), 'invalid_option', /pooling/);
  const copy = structuredClone(plain(await embedder.embed(text)));
  assert.deepEqual(copy.embedding, embedding);
});

test('a vocabulary has the text of each token, by id', async () => {
  const modelOf = (name) => join(root, 'weights', name);
  const classifier = await load(modelOf('sentiment'), {}, Classifier);
  const read = await classifier.vocabulary();
  assert.equal(read.length, classifier.info.vocabSize);
  const { tokens } = await classifier.classify('A gripping film 🙂.');
  assert.ok(tokens.length > 5);
  assert.deepEqual(
    tokens.map(({ id }) => read[id]),
    tokens.map(({ text }) => text),
  );
  // With two vocabularies, it is the target's.
  const translator = await load(folderOf('marian_two_tables'), {}, Translator);
  const written = await translator.vocabulary();
  const [{ tokens: target }] = (await translator.translate('the film is good')).sentences;
  assert.ok(target.length > 0);
  assert.deepEqual(
    target.map(({ id }) => written[id]),
    target.map(({ text }) => text),
  );
  const generator = await load(modelOf('writer'), {}, Generator);
  const pieces = await generator.vocabulary();
  assert.equal(pieces.length, 4096);
  const { next } = await generator.next('The film');
  assert.ok(next.length > 0 && next.every(({ id, text }) => pieces[id] === text));
  generator.dispose();
  await assertError(() => generator.vocabulary(), 'disposed', /disposed/);
});

test('calls of one translator have different languages at a time', async () => {
  const translator = await load(folderOf('nllb'), { explain: true }, Translator);
  const { sourceLanguage, languages } = translator.info;
  assert.equal(sourceLanguage, 'und');
  assert.deepEqual(languages, ['deu_Latn', 'eng_Latn', 'fra_Latn', 'zho_Hans']);
  const ids = ({ tokens }) => tokens.map(({ id }) => id);
  const { texts } = expectedOf('nllb');
  await Promise.all(
    texts.map(async ({ text, from, to, output }) => {
      const options = { from, to, maxLength: output.length };
      const { sentences } = await translator.translate(text, { ...options, beams: 1 });
      assert.deepEqual(ids(sentences[0]), output);
      let last;
      for await (const step of translator.stream(text, options)) last = step;
      assert.deepEqual(ids(last.result.sentences[0]), output);
      const explained = await translator.explain(text, { method: 'rollout', from, to });
      assert.equal(explained.sentences[0].tokens[0].text, to);
    }),
  );
  for (const [options, message] of [
    [{}, /^from: expected one of deu_Latn, eng_Latn, fra_Latn, zho_Hans, got none$/],
    [{ from: 'eng_Latn' }, /^to: expected one of deu_Latn, .*, got none$/],
    [{ from: 'eng_Latn', to: 'de' }, /^to: expected one of deu_Latn, .*, got "de"$/],
  ]) {
    await assertError(() => translator.translate('a', options), 'invalid_option', message);
  }
});

test('a translator of one pair only accepts its own languages', async () => {
  const translator = await load(folderOf('marian'), {}, Translator);
  assert.deepEqual(translator.info.languages, []);
  const { text } = await translator.translate('the film', { from: 'eng' });
  assert.equal(text, (await translator.translate('the film')).text);
  const own = /^from: expected eng, the model's own language, got "deu"$/;
  await assertError(() => translator.translate('a', { from: 'deu' }), 'invalid_option', own);
});

test('load takes a task, and its messages suggest a correction', async () => {
  const folder = folderOf('bert_sequence');
  const model = await openAny(folder, { task: 'text-classification' });
  assert.ok(model instanceof Classifier);
  model.dispose();
  await assertError(() => openAny(folder, { task: 'translation' }), 'wrong_task', /Classifier/);
  await assertError(
    () => openAny(folder, { task: 'chat' }),
    'invalid_option',
    /task: .*translation/,
  );
  const hint = /a model of a hub is named "hf:nobody\/nothing"/;
  await assertError(() => openAny('nobody/nothing'), 'missing_file', hint);
});

test('the error of a call that runs out of time is a TimeoutError', async () => {
  const classifier = await Classifier.load(folderOf('bert_sequence'));
  const call = classifier.classify(sentences[0], { signal: AbortSignal.abort(timeoutReason()) });
  await assert.rejects(call, { name: 'TimeoutError', code: 'aborted' });
  const other = classifier.classify(sentences[0], { signal: AbortSignal.abort() });
  await assert.rejects(other, { name: 'AbortError', code: 'aborted' });
  classifier.dispose();
});

// The reason of an AbortSignal.timeout signal, without waiting.
function timeoutReason() {
  return new DOMException('The operation was aborted due to timeout', 'TimeoutError');
}
