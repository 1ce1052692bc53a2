// Queueing, aborting, leaving and disposing translations and streams.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  Translator,
  assertError,
  assertFreed,
  goldenFolder,
  loadTranslator,
  memoriesOf,
  readGolden,
  waiting,
} from '../support/helpers.mjs';

const name = 'translate_pre_norm_shared';
const folder = goldenFolder(name);
const { texts } = readGolden(name);
const many = Array(2000).fill(texts[0]);
const long = 'not good at all. '.repeat(1000);

async function collect(stream) {
  const seen = [];
  for await (const { text } of stream) seen.push(text);
  return seen;
}

test('concurrent calls wait for one another, and each gets its own answer', async () => {
  const translator = await loadTranslator(folder);
  const single = [];
  for (const text of texts) single.push(await translator.translate(text));
  const streamed = [];
  for (const text of texts) streamed.push(await collect(translator.stream(text)));
  const order = [];
  const note = async (what, promise) => {
    const result = await promise;
    order.push(what);
    return result;
  };
  const failing = assertError(() => translator.translate(''), 'empty_input');
  const results = await Promise.all([
    ...texts.map((text, index) => note(index, translator.translate(text))),
    note('batch', translator.translateBatch(texts)),
    note('stream', collect(translator.stream(texts[0]))),
    note('last', translator.translate(texts[0])),
  ]);
  assert.deepEqual(results, [...single, single, streamed[0], single[0]]);
  assert.deepEqual(order, [...texts.keys(), 'batch', 'stream', 'last']);
  await failing;
});

test('two concurrent streams are decoded one after the other, in any reading order', async () => {
  const translator = await loadTranslator(folder);
  const expected = [];
  for (const text of texts.slice(0, 2)) expected.push(await collect(translator.stream(text)));
  assert.deepEqual(
    await Promise.all(texts.slice(0, 2).map((text) => collect(translator.stream(text)))),
    expected,
  );
  // Read in turn.
  const [a, b] = texts.slice(0, 2).map((text) => translator.stream(text));
  const seen = [[], []];
  for (let i = 0; i < 5; i++) {
    seen[0].push((await a.next()).value.text);
    seen[1].push((await b.next()).value.text);
  }
  assert.deepEqual(
    seen,
    expected.map((all) => all.slice(0, 5)),
  );
  await Promise.all([a.return(), b.return()]);
  // One stream inside the other, with a call inside.
  const inner = [];
  for await (const { text } of translator.stream(texts[0])) {
    if (inner.length > 0) continue;
    inner.push(...(await collect(translator.stream(texts[1]))));
    assert.equal((await translator.translate(texts[0], { beams: 1 })).text.indexOf(text), 0);
  }
  assert.deepEqual(inner, expected[1]);
});

test('leaving the loop ends decoding', waiting, async () => {
  const translator = await loadTranslator(folder);
  let count = 0;
  for await (const step of translator.stream(long)) {
    assert.ok(step.text.length > 0);
    if (++count === 3) break;
  }
  await translator.translate(texts[0]); // would wait for 1000 sentences
  // A stream starts with its first request.
  translator.stream(long);
  await translator.translate(texts[0]);
  // An exception leaves it, too.
  const mine = new Error('mine');
  await assert.rejects(async () => {
    for await (const _ of translator.stream(long)) throw mine;
  }, mine);
  await translator.translate(texts[0]);
});

// Returns a translator and a counter of its engine's steps.
async function loadCounted() {
  const { instantiate } = WebAssembly;
  const count = { steps: 0 };
  WebAssembly.instantiate = async (...args) => {
    const { exports } = await instantiate(...args);
    const gf_step = () => {
      count.steps++;
      return exports.gf_step();
    };
    return { exports: { ...exports, gf_step } };
  };
  try {
    return [await loadTranslator(folder), count];
  } finally {
    WebAssembly.instantiate = instantiate;
  }
}

const turns = async (count) => {
  for (let i = 0; i < count; i++) await new Promise(setImmediate);
};

test('an abort ends a stream within one token', waiting, async () => {
  const [translator, count] = await loadCounted();
  for (const reason of ['enough', undefined]) {
    const controller = new AbortController();
    let tokens = 0;
    count.steps = 0;
    const read = async () => {
      for await (const _ of translator.stream(long, { signal: controller.signal })) {
        if (++tokens === 3) controller.abort(reason);
      }
    };
    await assert.rejects(read, { code: 'aborted', ...(reason && { cause: reason }) });
    await turns(5);
    assert.equal(tokens, 3);
    assert.ok(count.steps <= 1 + 3 + 1, `${count.steps} steps`); // the first one encodes
  }
  // Tokens that were not requested yet are dropped.
  const controller = new AbortController();
  const stream = translator.stream(texts[0], { signal: controller.signal });
  await stream.next();
  await turns(10);
  controller.abort();
  await assertError(() => stream.next(), 'aborted');
  assert.deepEqual(await stream.next(), { value: undefined, done: true });

  const signal = AbortSignal.abort('no');
  await assert.rejects(collect(translator.stream(texts[0], { signal })), {
    code: 'aborted',
    cause: 'no',
  });
  await translator.translate(texts[0]);
});

test('an abort ends a batch within one token', waiting, async () => {
  const [translator, count] = await loadCounted();
  const controller = new AbortController();
  const { signal } = controller;
  const batch = translator.translateBatch(many, { signal });
  const queued = translator.translate(texts[0], { signal });
  const next = translator.translate(texts[1]);
  await turns(10);
  controller.abort('enough');
  const { steps } = count;
  for (const call of [batch, queued]) await assert.rejects(call, { code: 'aborted' });
  await turns(1);
  const { sentences } = await next;
  assert.ok(steps > 0);
  assert.ok(count.steps <= steps + 1 + 1 + sentences[0].tokens.length + 1, `${count.steps} steps`);
});

test('other events run between steps', waiting, async () => {
  const [translator, count] = await loadCounted();
  let last = 0;
  let most = 0;
  let done = false;
  const watch = () => {
    most = Math.max(most, count.steps - last);
    last = count.steps;
    if (!done) setImmediate(watch);
  };
  setImmediate(watch);
  await translator.translateBatch([...texts, ...texts]);
  done = true;
  assert.equal(most, 1);
});

test('calls and streams remove their listeners from a signal', async () => {
  const translator = await loadTranslator(folder);
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
  await translator.translate(texts[0], { signal });
  await collect(translator.stream(texts[0], { signal }));
  for await (const _ of translator.stream(texts[0], { signal })) break;
  await assertError(() => collect(translator.stream('', { signal })), 'empty_input');
  await turns(5);
  assert.equal(listeners, 0);
});

test('dispose rejects current and later calls and streams', waiting, async () => {
  const translator = await Translator.load(folder);
  const begun = translator.stream(long);
  await begun.next();
  const calls = [
    begun.next(),
    translator.translateBatch(many),
    collect(translator.stream(texts[0])),
    translator.translate(texts[0]),
  ];
  translator.dispose();
  for (const call of calls) await assertError(() => call, 'disposed');
  translator.dispose();
  assert.deepEqual(await begun.next(), { value: undefined, done: true });
  await assertError(() => translator.translate(texts[0]), 'disposed');
  await assertError(() => translator.translateBatch([]), 'disposed');
  await assertError(() => collect(translator.stream(texts[0])), 'disposed');
  assert.equal(translator.info.task, 'translation');

  // Inside the loop.
  const other = await Translator.load(folder);
  let tokens = 0;
  const read = async () => {
    for await (const _ of other.stream(long)) {
      if (++tokens === 3) other.dispose();
    }
  };
  await assertError(read, 'disposed');
  assert.equal(tokens, 3);
});

test('Symbol.dispose disposes', { skip: !Symbol.dispose && 'no Symbol.dispose' }, async () => {
  const translator = await Translator.load(folder);
  translator[Symbol.dispose]();
  await assertError(() => translator.translate('a'), 'disposed');
});

test('dispose frees the memory even while streams and results are kept', async () => {
  const kept = [];
  const memories = await memoriesOf(async () => {
    for (let i = 0; i < 5; i++) {
      const translator = await Translator.load(folder);
      kept.push(translator, await translator.translate(texts[0], { attention: true }));
      const stream = translator.stream(long, { attention: true });
      kept.push(stream, await stream.next());
      translator.dispose();
    }
  });
  await assertFreed(memories);
  assert.equal(kept.length, 20);
});

test('memory does not grow with calls', waiting, async () => {
  let translator;
  const [reference] = await memoriesOf(async () => {
    translator = await loadTranslator(folder);
  });
  const memory = reference.deref();
  const options = { attention: true, hypotheses: true, beams: 8 };
  const calls = async (count) => {
    for (let i = 0; i < count; i++) {
      await translator.translateBatch([...texts, 'not good at all. '.repeat(20)], options);
      await collect(translator.stream(texts[0], { attention: true }));
      for await (const _ of translator.stream(long)) break;
      await assertError(() => translator.translate(' '), 'empty_input');
      await assertError(() => translator.translate('a', { beams: 0 }), 'invalid_option');
    }
  };
  await calls(3);
  const size = memory.buffer.byteLength;
  await calls(10);
  assert.equal(memory.buffer.byteLength, size);
});
