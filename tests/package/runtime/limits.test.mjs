// Requests that are too large are refused before they start, non-finite answers are errors, and a
// failed engine refuses further calls.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import {
  assertError,
  binaries,
  goldenFolder,
  joinSafetensors,
  load,
  loadTranslator,
  memoriesOf,
  randomModel,
  readModel,
  root,
  splitSafetensors,
  waiting,
} from '../support/helpers.mjs';

const classifierFolder = goldenFolder('pre_norm_mean');
const translatorFolder = goldenFolder('translate_pre_norm_shared');

/** Makes a model like a golden one, with other sizes and random weights. */
function changed(folder, sizes) {
  const config = JSON.parse(readFileSync(join(folder, 'config.json'), 'utf8'));
  return randomModel({ ...config, ...sizes }, join(folder, 'tokenizer.model'));
}

/** Loads a model. Returns it and the memory of its instance. */
async function loadWithMemory(loadModel, ...args) {
  let model;
  const [reference] = await memoriesOf(async () => {
    model = await loadModel(...args);
  });
  return [model, reference.deref()];
}

for (const binary of binaries) {
  test(`${binary}: attention weights over 2^32 bytes are refused`, async () => {
    const sizes = { encoder_layers: 8, n_heads: 8, d_model: 16, max_source_length: 8192 };
    const folder = changed(classifierFolder, sizes);
    const [classifier, memory] = await loadWithMemory(load, folder, { binary });
    const before = await classifier.classify('a film');
    const size = memory.buffer.byteLength;
    await assertError(
      () => classifier.classify('a '.repeat(9000), { attention: true }),
      'too_large',
      /the requested tensors may take 16384 MiB, expected at most 512 MiB/,
    );
    assert.equal(memory.buffer.byteLength, size);
    assert.deepEqual(await classifier.classify('a film'), before);
  });

  test(`${binary}: a search over 2^32 bytes is refused`, async () => {
    const folder = changed(translatorFolder, { max_target_length: 131_073 });
    const [translator, memory] = await loadWithMemory(loadTranslator, folder, { binary });
    const before = await translator.translate('a film', { maxLength: 10 });
    const size = memory.buffer.byteLength;
    await assertError(
      () => translator.translate('a b c', { beams: 32, maxLength: 131_073 }),
      'too_large',
      /131073 tokens with 32 beams may take \d+ MiB, expected at most 512 MiB.*maxLength/,
    );
    assert.equal(memory.buffer.byteLength, size);
    assert.deepEqual(await translator.translate('a film', { maxLength: 10 }), before);
  });
}

test('64 beams with attention take the memory of one hypothesis', waiting, async () => {
  const sizes = { n_heads: 8, max_source_length: 256, max_target_length: 256 };
  const folder = changed(translatorFolder, sizes);
  const [translator, memory] = await loadWithMemory(loadTranslator, folder);
  const text = 'not good at all and '.repeat(50);
  const { sentences } = await translator.translate(text, { beams: 64, attention: true });
  assert.ok(sentences[0].attention.cross.data.length > 0);
  assert.ok(memory.buffer.byteLength < 100e6, `${memory.buffer.byteLength} bytes`);
});

test('a classifier stores only the part of a long text that it uses', waiting, async () => {
  const clipsEnd = ['a film '.repeat(7e5), classifierFolder];
  const clipsMiddle = ['\uFDFA'.repeat(1e6), join(root, 'weights/sentiment')];
  for (const [text, folder] of [clipsEnd, clipsMiddle]) {
    const [classifier, memory] = await loadWithMemory(load, folder);
    const size = memory.buffer.byteLength;
    const { tokens, clipped } = await classifier.classify(text);
    assert.ok(clipped);
    assert.equal(tokens.length, classifier.info.maxSourceLength);
    const { end } = tokens.at(-1);
    assert.ok(folder === classifierFolder ? end < 1000 : end === text.length, `${end}`);
    const grown = memory.buffer.byteLength - size;
    assert.ok(grown < new TextEncoder().encode(text).length + 6e6, `${grown} bytes`);
  }
});

test('texts have a size limit', waiting, async () => {
  const classifier = await load(classifierFolder);
  await assertError(() => classifier.classify(' '.repeat(2 ** 24 + 1)), 'too_large', /16 MiB/);
  await assertError(() => classifier.classify('a'.repeat(5 * 2 ** 20)), 'too_large', /words of/);
  const translator = await loadTranslator(translatorFolder);
  await assertError(() => translator.translate(' '.repeat(2 ** 20 + 1)), 'too_large', /1 MiB/);
  assert.ok((await classifier.classify('a film')).label);
  assert.ok((await translator.translate('a film')).text);
});

test('an endless translation can be aborted within a step', waiting, async () => {
  const translator = await loadTranslator(translatorFolder);
  const controller = new AbortController();
  const call = translator.translate('\uFDFA '.repeat(5000), { signal: controller.signal });
  setImmediate(() => setImmediate(() => controller.abort()));
  await assertError(() => call, 'aborted');
  assert.ok((await translator.translate('a film')).text);
});

test('indices that are too large are refused, not truncated', async () => {
  const classifier = await load(classifierFolder);
  for (const index of [2 ** 32, 2 ** 32 + 1, 2 ** 53]) {
    const options = { maskTokens: [index] };
    await assertError(() => classifier.classify('a good film', options), 'invalid_option');
  }
  const translator = await loadTranslator(translatorFolder);
  const options = { alignment: { heads: [2 ** 32] } };
  await assertError(() => translator.translate('a film', options), 'invalid_option');
});

test('a model that pools its first token keeps it', async () => {
  const classifier = await load(goldenFolder('post_norm_gelu_learned_first'));
  await assertError(
    () => classifier.classify('a film', { maskTokens: [0] }),
    'invalid_option',
    /maskTokens: expected positions above 0/,
  );
  assert.ok((await classifier.classify('a film', { maskTokens: [1] })).label);
});

/** Returns the files of a golden model with multiplied matrices. */
function scaled(name, factor) {
  const files = readModel(name);
  const { header, data } = splitSafetensors(files['model.safetensors'].slice());
  const bytes = data.slice();
  for (const [tensor, { shape, data_offsets: offsets }] of Object.entries(header)) {
    if (tensor === '__metadata__' || shape.length < 2) continue;
    const values = new Float32Array(bytes.buffer.slice(...offsets));
    bytes.set(new Uint8Array(values.map((value) => value * factor).buffer), offsets[0]);
  }
  return { ...files, 'model.safetensors': joinSafetensors({ header, data: bytes }) };
}

for (const binary of binaries) {
  test(`${binary}: a non-finite logit is an error, never an answer`, async () => {
    for (const name of ['linear_attention', 'pre_norm_mean', 'local_post_norm_learned']) {
      const classifier = await load(scaled(name, 1e25), { binary });
      await assertError(() => classifier.classify('a good film'), 'non_finite', /logits/);
    }
    const translator = await loadTranslator(scaled('translate_pre_norm_shared', 1e25), { binary });
    await assertError(() => translator.translate('a film'), 'non_finite', /log-probabilities/);
    const stream = translator.stream('a film');
    await assertError(() => stream.next(), 'non_finite');
  });
}

/** Overwrites a memory so that every access fails. Returns its contents. */
function spoil(memory) {
  const bytes = new Uint8Array(memory.buffer);
  const held = bytes.slice();
  bytes.fill(0xff);
  return held;
}

test('after a trap, an engine refuses all calls', waiting, async () => {
  const failed = /The engine failed \(.+\) and cannot be used any more; load the model again/;
  const [classifier, memory] = await loadWithMemory(load, classifierFolder);
  await classifier.classify('a film');
  const held = spoil(memory);
  await assertError(() => classifier.classify('a film'), 'internal', failed);
  new Uint8Array(memory.buffer).set(held); // restored, but the engine cannot know that
  await assertError(() => classifier.classify('a film'), 'internal', failed);
  await assertError(() => classifier.classifyBatch(['a film']), 'internal', failed);
  assert.ok((await (await load(classifierFolder)).classify('a film')).label);

  const [translator, other] = await loadWithMemory(loadTranslator, translatorFolder);
  const stream = translator.stream('a film, a film, a film');
  await stream.next();
  const before = spoil(other);
  await assertError(
    async () => {
      for await (const _ of stream);
    },
    'internal',
    failed,
  );
  new Uint8Array(other.buffer).set(before);
  await assertError(() => translator.translate('a film'), 'internal', failed);
  await assertError(() => translator.stream('a film').next(), 'internal', failed);
});
