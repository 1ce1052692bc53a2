// Compares all answers for tests/fixtures/checkpoints with those of the original library.

import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import {
  Classifier,
  Embedder,
  Generator,
  MaskFiller,
  QuestionAnswerer,
  TokenClassifier,
  Translator,
  assertError,
  assertNear,
  joinSafetensors,
  readSafetensors,
  root,
  splitSafetensors,
} from './helpers.mjs';

const checkpoints = join(root, 'tests/fixtures/checkpoints');

/** The library's own float32 is within 1e-5 of float64. */
const tolerance = 1e-4;

export const folderOf = (name) => join(checkpoints, name);

/** Returns the files of a checkpoint, without the library's answers. */
export const filesOf = (name) =>
  readdirSync(folderOf(name), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.startsWith('expected.'))
    .map((entry) => join(entry.parentPath, entry.name).slice(folderOf(name).length + 1));

/** Copies a checkpoint, to be damaged, until the test file ends. */
export function copyOf(name) {
  const folder = mkdtempSync(join(tmpdir(), 'glassformer-checkpoint-'));
  after(() => rmSync(folder, { recursive: true }));
  cpSync(folderOf(name), folder, { recursive: true });
  return folder;
}

/** Copies a classifier, with other names for its three labels. */
export function labeledCopy(names, name = 'bert_sequence') {
  const folder = copyOf(name);
  const file = join(folder, 'config.json');
  const { label2id: _, ...config } = JSON.parse(readFileSync(file, 'utf8'));
  writeFileSync(file, JSON.stringify({ ...config, id2label: { ...names } }));
  return folder;
}

/** The bytes of the largest tensor of largeCheckpoint. */
export const largeTensor = 25 * 2 ** 20;

/**
 * Writes bert_sequence with an embedding table of that size, of which texts use the beginning, and
 * with a head that it does not need, in a number of files.
 */
export function largeCheckpoint(count = 1) {
  const folder = copyOf('bert_sequence');
  const configFile = join(folder, 'config.json');
  const config = JSON.parse(readFileSync(configFile, 'utf8'));
  const rows = Math.floor(largeTensor / (4 * config.hidden_size));
  writeFileSync(configFile, JSON.stringify({ ...config, vocab_size: rows }));

  const weights = join(folder, 'model.safetensors');
  const { header, data } = splitSafetensors(new Uint8Array(readFileSync(weights)));
  const tensors = Object.entries(header)
    .filter(([name]) => name !== '__metadata__')
    .map(([name, { shape, data_offsets }]) => [name, shape, data.subarray(...data_offsets)]);
  const table = tensors.find(([name]) => name.endsWith('word_embeddings.weight'));
  const bytes = new Uint8Array(4 * rows * config.hidden_size);
  bytes.set(table[2]);
  table.splice(1, 2, [rows, config.hidden_size], bytes);
  const unused = new Uint8Array(4 * 10 ** 6);
  tensors.splice(1, 0, ['cls.predictions.decoder.weight', [1000, 1000], unused]);

  rmSync(weights);
  const weightMap = {};
  for (let i = 0; i < count; i++) {
    const name =
      count === 1 ? 'model.safetensors' : `model-0000${i + 1}-of-0000${count}.safetensors`;
    const own = tensors.filter((_, index) => index % count === i);
    let at = 0;
    const entries = own.map(([tensor, shape, { length }]) => {
      weightMap[tensor] = name;
      return [tensor, { dtype: 'F32', shape, data_offsets: [at, (at += length)] }];
    });
    const file = {
      header: Object.fromEntries(entries),
      data: concat(own.map(([, , data]) => data)),
    };
    writeFileSync(join(folder, name), joinSafetensors(file));
  }
  const index = { metadata: {}, weight_map: weightMap };
  if (count > 1) writeFileSync(join(folder, 'model.safetensors.index.json'), JSON.stringify(index));
  return folder;
}

const concat = (pieces) => new Uint8Array(Buffer.concat(pieces));

/**
 * Returns the library's answers: expected.json, and the numbers of expected.safetensors by name.
 */
export function expectedOf(name) {
  const expected = JSON.parse(readFileSync(join(folderOf(name), 'expected.json'), 'utf8'));
  if (expected.same_as) return expectedOf(expected.same_as);
  const tensors = readSafetensors(join(folderOf(name), 'expected.safetensors'));
  return { ...expected, tensors };
}

export const names = readdirSync(checkpoints, { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && !entry.name.startsWith('_'))
  .map(({ name }) => name);

/** By the task in expected.json: the class, and its comparison. */
const tasks = {
  sequence: { Class: Classifier, name: 'Classifier', compare: compareClasses },
  tokens: { Class: TokenClassifier, name: 'TokenClassifier', compare: compareEntities },
  answer: { Class: QuestionAnswerer, name: 'QuestionAnswerer', compare: compareAnswer },
  masks: { Class: MaskFiller, name: 'MaskFiller', compare: compareMasks },
  embed: { Class: Embedder, name: 'Embedder', compare: compareVectors },
  translate: { Class: Translator, name: 'Translator', compare: compareTranslation },
  generate: { Class: Generator, name: 'Generator', compare: compareContinuations },
  text2text: { Class: Generator, name: 'Generator', compare: compareAnswers },
};

/** Returns the class that opens a checkpoint, and its name. */
export const taskOf = (name) => tasks[expectedOf(name).task];
export const classes = [...new Set(Object.values(tasks).map(({ Class }) => Class))];

/** Asserts that a model gives the answers of the original library. */
export async function assertAnswers(model, name) {
  const expected = expectedOf(name);
  const { Class, compare } = tasks[expected.task];
  assert.ok(model instanceof Class);
  if (expected.labels) assert.deepEqual(model.info.labels, expected.labels);
  assert.equal(model.info.maxSourceLength, expected.max_length);
  let compared = 0;
  for (const [index, text] of expected.texts.entries()) {
    // For a text without tokens, the library reads only the special ones.
    if (text.offsets?.every((place) => place === null)) {
      await assertError(() => ask(model, text), 'empty_input');
    } else {
      await compare(model, text, { ...expected, index });
      compared++;
    }
  }
  assert.ok(compared > 0);
  if (expected.task === 'embed') await compareSimilarity(model, expected);
}

function ask(model, { text, pair, promptName }, options) {
  if (model instanceof Embedder) {
    return model.embed(text, promptName ? { ...options, promptName } : options);
  }
  return model.classify(pair === undefined ? text : { text, pair }, options);
}

function compareTokens(tokens, { ids, offsets, sequences }) {
  assert.deepEqual(
    tokens.map(({ id }) => id),
    ids,
  );
  for (const [i, { start, end, sequence }] of tokens.entries()) {
    if (offsets[i] === null) assert.equal(start, end);
    else assert.deepEqual([start, end], offsets[i]);
    assert.equal(sequence, sequences && (sequences[i] ?? 0));
  }
}

function compareAttention({ attention, tokens }, { tensors, index }) {
  for (const [kind, map] of Object.entries(attention)) {
    const { shape, data } = tensors[`${attention.cross ? kind : 'attention'}.${index}`];
    assert.deepEqual([map.layers, map.heads, map.queries, map.keys], shape);
    assert.equal(map.queries, tokens.length);
    assertNear(map.data, data, tolerance, kind);
  }
}

async function compareClasses(model, text, expected) {
  const { labels, tensors, index } = expected;
  const result = await ask(model, text, { attention: true });
  compareTokens(result.tokens, text);
  compareAttention(result, expected);
  assert.equal(result.clipped, text.truncated);
  assert.equal(result.label, text.label);
  assertNear([result.score], [text.score], tolerance, 'score');
  const each = (name) => result.scores.map(({ [name]: value }) => value);
  assert.deepEqual(each('label'), labels);
  assertNear(each('score'), text.scores, tolerance, 'scores');
  assertNear(each('logit'), tensors[`logits.${index}`].data, tolerance, 'logits');
}

async function compareEntities(model, text, expected) {
  for (const [aggregation, entities] of Object.entries(text.entities)) {
    const result = await ask(model, text, { attention: true, aggregation, window: 'first' });
    compareTokens(result.tokens, text);
    compareAttention(result, expected);
    assert.equal(result.clipped, text.truncated);
    const withoutScores = (list) => list.map(({ score: _, ...rest }) => rest);
    assert.deepEqual(withoutScores(result.entities), withoutScores(entities), aggregation);
    const scoresOf = (list) => list.map(({ score }) => score);
    assertNear(scoresOf(result.entities), scoresOf(entities), tolerance, aggregation);
  }
  const { entities } = await ask(model, text);
  assert.deepEqual(entities, (await ask(model, text, { aggregation: 'none' })).entities);
}

async function compareMasks(model, text, expected) {
  const result = await model.fill(text.text, { attention: true, topK: 3 });
  compareTokens(result.tokens, text);
  compareAttention(result, expected);
  const withoutScores = (masks) =>
    masks.map(({ index, answers }) => ({
      index,
      // The fixtures leave other masks out of `sequence`; the native tests look at it.
      answers: answers.map(({ score: _, sequence, ...rest }) =>
        masks.length === 1 ? { ...rest, sequence } : rest,
      ),
    }));
  assert.deepEqual(withoutScores(result.masks), withoutScores(text.masks));
  const scoresOf = (masks) => masks.flatMap(({ answers }) => answers.map(({ score }) => score));
  assertNear(scoresOf(result.masks), scoresOf(text.masks), tolerance, 'scores');
  for (const { start, end } of result.masks)
    assert.equal(text.text.slice(start, end).trim(), model.info.maskToken);
}

async function compareAnswer(model, text, expected) {
  const { question, context, options } = text;
  const result = await model.answer(question, context, {
    attention: true,
    maxSeqLen: options.max_length,
    docStride: options.stride,
    maxAnswerLen: options.max_answer_length,
    handleImpossibleAnswer: options.handle_impossible_answer,
  });
  const { answer, score, start, end } = result;
  assert.deepEqual([answer, start, end], [text.answer, text.start, text.end]);
  assertNear([score], [text.score], tolerance, 'score');
  if (text.window === undefined) return; // no answer
  compareTokens(result.tokens, text.windows[text.window]);
  compareAttention(result, expected);
}

async function compareTranslation(model, text, { tensors, index }) {
  for (const { options, ids, score } of text.runs) {
    const [{ tokens, ...sentence }] = (await model.translate(text.text, options)).sentences;
    assert.deepEqual(
      tokens.map(({ id }) => id),
      ids,
    );
    assertNear([sentence.score], [score], tolerance, 'score');
  }
  if (!text.output) return;
  const { from, to } = text; // for a model of many languages
  const options = { from, to, beams: 1, lengthPenalty: 0, maxLength: text.output.length };
  const result = await model.translate(text.text, { ...options, attention: true });
  assert.equal(result.text, text.translation);
  const [sentence] = result.sentences;
  const ids = (tokens) => tokens.map(({ id }) => id);
  assert.deepEqual(ids(sentence.sourceTokens), text.ids);
  assert.deepEqual(ids(sentence.tokens), text.output);
  assertNear([sentence.score], [text.logprob], tolerance, 'score');
  for (const [name, { data }] of Object.entries(sentence.attention)) {
    assertNear(data, tensors[`${name}.${index}`].data, tolerance, name);
  }
}

async function compareVectors(model, text, expected) {
  const { tensors, index } = expected;
  const result = await ask(model, text, { attention: true });
  compareTokens(result.tokens, text);
  compareAttention(result, expected);
  assert.equal(result.clipped, text.truncated);
  assert.ok(result.embedding instanceof Float32Array);
  assertNear(result.embedding, tensors[`embedding.${index}`].data, tolerance, 'embedding');
  const plain = await ask(model, text, { normalize: false });
  assertNear(plain.embedding, tensors[`pooled.${index}`].data, tolerance, 'pooled');
  const { poolings } = model.info;
  const width = tensors[`last_hidden_state.${index}`].shape.at(-1) * poolings.length;
  const pooled = await ask(model, text, { pooling: poolings });
  assert.equal(pooled.embedding.length, width);
  // Modules such as Dense only accept the vector of the model's own poolings.
  if (result.embedding.length === width) assert.deepEqual(pooled.embedding, result.embedding);
}

async function compareContinuations(model, text, { tensors, index }) {
  await compareRuns(model, text);
  const result = await model.next(text.text, { attention: true, count: 0 });
  compareTokens(result.promptTokens, text);
  compareMap(result.attention.decoder, tensors[`attention.${index}`]);
  await compareChances(model, text);
}

async function compareAnswers(model, text, { tensors, index }) {
  await compareRuns(model, text);
  const { options } = text.runs[0];
  const result = await model.generate(text.text, { ...options, attention: true });
  compareTokens(result.promptTokens, text);
  assert.equal(result.clipped, text.truncated);
  assert.equal(result.text, text.answer);
  for (const name of ['encoder', 'decoder', 'cross']) {
    compareMap(result.attention[name], tensors[`${name}.${index}`]);
  }
  await compareChances(model, text);
}

function compareMap({ layers, heads, queries, keys, data }, expected) {
  assert.deepEqual([layers, heads, queries, keys], expected.shape);
  assertNear(data, expected.data, tolerance, 'attention');
}

async function compareRuns(model, text) {
  for (const { options, ids, score } of text.runs) {
    const { tokens, ...result } = await model.generate(text.text, options);
    assert.deepEqual(
      tokens.map(({ id }) => id),
      ids,
    );
    // Scores are stored with five digits.
    if (score !== undefined) {
      assertNear([result.score], [score], tolerance + 1e-4 * Math.abs(score), 'score');
    }
  }
}

async function compareChances(model, text) {
  for (const { options, ids, best } of text.next) {
    const { next } = await model.next(text.text, { ...options, count: 0 });
    const got = next.map(({ id }) => id);
    if (Array.isArray(ids))
      assert.deepEqual(
        [...got].sort((a, b) => a - b),
        ids,
      );
    else assert.equal(got.length, ids);
    for (const [i, [id, probability]] of best.entries()) {
      assert.equal(next[i].id, id);
      assertNear([next[i].probability], [probability], tolerance, 'probability');
    }
  }
}

async function compareSimilarity(model, { texts, tensors, normalized }) {
  assert.equal(model.info.normalize, normalized);
  const vectors = texts.map((_, index) => tensors[`embedding.${index}`].data);
  const got = vectors.flatMap((a) => vectors.map((b) => model.similarity(a, b)));
  assertNear(got, tensors.similarity.data, tolerance, 'similarity');
}
