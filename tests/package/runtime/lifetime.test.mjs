// Queueing, aborting and disposing, and freed memory.

import assert from 'node:assert/strict';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import {
  Classifier,
  assertError,
  assertFreed,
  goldenFolder,
  load,
  memoriesOf,
  randomModel,
  readGolden,
  root,
} from '../support/helpers.mjs';

const folder = goldenFolder('pre_norm_mean');
const sentiment = join(root, 'weights/sentiment');
const { texts } = readGolden('pre_norm_mean');
const long = Array(4000).fill(texts[0]);

test('concurrent calls wait for one another', async () => {
  const classifier = await load(folder);
  const single = [];
  for (const text of texts) single.push(await classifier.classify(text));
  const order = [];
  const results = await Promise.all(
    texts.map(async (text, index) => {
      const result = await classifier.classify(text);
      order.push(index);
      return result;
    }),
  );
  assert.deepEqual(results, single);
  assert.deepEqual(
    order,
    texts.map((_, index) => index),
  );
  // A failed call does not block the next.
  const failing = assertError(() => classifier.classify(''), 'empty_input');
  assert.deepEqual(await classifier.classify(texts[0]), single[0]);
  await failing;
});

test('an abort during a batch', async () => {
  const classifier = await load(folder);
  const controller = new AbortController();
  const batch = classifier.classifyBatch(long, { signal: controller.signal });
  const next = classifier.classify(texts[1]);
  setImmediate(() => controller.abort('enough')); // when the batch first gives way
  await assert.rejects(batch, { code: 'aborted', cause: 'enough' });
  assert.equal((await next).tokens.length, (await classifier.classify(texts[1])).tokens.length);
});

test('an abort before a call, and an abort of a waiting call', async () => {
  const classifier = await load(folder);
  const signal = AbortSignal.abort();
  await assertError(() => classifier.classify(texts[0], { signal }), 'aborted');
  const controller = new AbortController();
  const first = classifier.classify(texts[0]);
  const second = classifier.classify(texts[1], { signal: controller.signal });
  controller.abort();
  await assertError(() => second, 'aborted');
  assert.equal((await first).clipped, false);
  await classifier.classify(texts[1]);
});

test('calls remove their listeners from a signal', async () => {
  const classifier = await load(folder);
  const { signal } = new AbortController();
  let listeners = 0;
  const { addEventListener, removeEventListener } = signal;
  signal.addEventListener = (...args) => {
    listeners++;
    addEventListener.apply(signal, args);
  };
  signal.removeEventListener = (...args) => {
    listeners--;
    removeEventListener.apply(signal, args);
  };
  (await Classifier.load(folder, { signal })).dispose();
  await classifier.classify(texts[0], { signal });
  await assertError(() => classifier.classify('', { signal }), 'empty_input');
  assert.equal(listeners, 0);
});

test('dispose rejects current and later calls, and may be repeated', async () => {
  const classifier = await Classifier.load(folder);
  const calls = [
    classifier.classify(texts[0]),
    classifier.classifyBatch(long),
    classifier.classify(texts[0]),
  ];
  classifier.dispose();
  for (const call of calls) await assertError(() => call, 'disposed');
  classifier.dispose();
  await assertError(() => classifier.classify(texts[0]), 'disposed');
  await assertError(() => classifier.classifyBatch([]), 'disposed');
  assert.equal(classifier.info.task, 'text-classification');

  const second = await Classifier.load(folder);
  const batch = second.classifyBatch(long);
  setImmediate(() => second.dispose());
  await assertError(() => batch, 'disposed');
});

test('Symbol.dispose disposes', { skip: !Symbol.dispose && 'no Symbol.dispose' }, async () => {
  const classifier = await Classifier.load(folder);
  classifier[Symbol.dispose]();
  await assertError(() => classifier.classify('a'), 'disposed');
});

test('dispose frees the memory even while the classifier and its results are kept', async () => {
  const kept = [];
  const memories = await memoriesOf(async () => {
    for (let i = 0; i < 5; i++) {
      const classifier = await Classifier.load(folder);
      kept.push(classifier, await classifier.classify(texts[0], { attention: true }));
      const under = classifier.classifyBatch(long).catch(() => {});
      classifier.dispose();
      await under;
    }
  });
  await assertFreed(memories);
  assert.equal(kept.length, 10);
});

test('a failed load frees the memory', async () => {
  const memories = await memoriesOf(async () => {
    const onProgress = ({ file }) => {
      if (file === 'model.safetensors') throw new Error('stop');
    };
    await assert.rejects(Classifier.load(folder, { onProgress }), /stop/);
  });
  await assertFreed(memories);
});

test('weights are loaded tensor by tensor, never the whole file at once', async () => {
  const config = JSON.parse(readFileSync(join(folder, 'config.json'), 'utf8'));
  const larger = { ...config, d_model: 256, d_ff: 1024, n_heads: 8, encoder_layers: 12 };
  const model = randomModel(larger, join(folder, 'tokenizer.model'));
  const { size } = statSync(join(model, 'model.safetensors'));
  assert.ok(size > 30e6);

  let classifier;
  const [reference] = await memoriesOf(async () => {
    classifier = await load(model);
  });
  assert.ok(classifier.info.parameters * 4 < size);
  // The packed weights and the binary's first 16 MB; twice the weights would be more.
  const { byteLength } = reference.deref().buffer;
  assert.ok(byteLength < size + 17e6, `${byteLength} bytes for a file of ${size}`);
  await classifier.classify(texts[0]);
});

for (const compute of ['f32', 'int8']) {
  test(`${compute}: 256 tokens need no more than the weights and 16 MB`, async () => {
    let classifier;
    const [reference] = await memoriesOf(async () => {
      classifier = await load(sentiment, { compute });
    });
    const text = Array(256).fill('good').join(' ');
    const { tokens } = await classifier.classify(text, { attention: true });
    assert.equal(tokens.length, 256);
    const weights = classifier.info.parameters * (compute === 'int8' ? 1 : 4);
    const { byteLength } = reference.deref().buffer;
    // Plus 3 % for scales, sums and the padding of panels.
    assert.ok(byteLength <= weights * 1.03 + 16 * 2 ** 20, `${byteLength} bytes`);
  });
}

test('memory does not grow with calls', async () => {
  let classifier;
  const [reference] = await memoriesOf(async () => {
    classifier = await load(folder);
  });
  const memory = reference.deref();
  const megabyte = 'x'.repeat(1 << 20);
  const options = { attention: true, contributions: true };
  const calls = async (count) => {
    for (let i = 0; i < count; i++) {
      await classifier.classify(megabyte, options);
      await classifier.classifyBatch(texts, options);
      await assertError(() => classifier.classify(' '.repeat(1 << 20)), 'empty_input');
      await assertError(() => classifier.classify('a', { maskTokens: [99] }), 'invalid_option');
    }
  };
  await calls(2);
  const size = memory.buffer.byteLength;
  await calls(20); // a leak of one text per call would show
  assert.equal(memory.buffer.byteLength, size);
});
