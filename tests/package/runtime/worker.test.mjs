// A worker per model: Node's threads here, web workers in pages.browser.test.mjs.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { Worker as Thread } from 'node:worker_threads';
import {
  Classifier,
  GlassformerError,
  assertError,
  binaries,
  collectGarbage,
  goldenFolder,
  load,
  loadTranslator,
  modelFiles,
  plain,
  readGolden,
  readModel,
  root,
  serve,
  waiting,
} from '../support/helpers.mjs';

const folder = goldenFolder('pre_norm_mean');
const { texts } = readGolden('pre_norm_mean');
const long = Array(4000).fill(texts[0]);
const everything = { attention: true, contributions: true };

const translatorFolder = goldenFolder('translate_pre_norm_shared');
const sentences = readGolden('translate_pre_norm_shared').texts;
const endless = 'not good at all. '.repeat(10_000);
const translate = { attention: true, hypotheses: true };

async function streamed(translator, text) {
  const steps = [];
  for await (const step of translator.stream(text, { attention: true })) steps.push(step);
  return plain(steps);
}

const inProcess = await load(folder);
const translatorInProcess = await loadTranslator(translatorFolder, { binary: 'simd' });
const expectedSteps = await streamed(translatorInProcess, sentences[0]);
const expectedTranslations = await translatorInProcess.translateBatch(sentences, translate);
const expected = await inProcess.classifyBatch(texts, everything);

const threads = [];
function worker() {
  threads.push(new Thread(new URL('./worker_scope.mjs', import.meta.url)));
  return threads.at(-1);
}

async function ended(thread) {
  if (thread.threadId !== -1) await once(thread, 'exit');
}

for (const binary of binaries) {
  test(`${binary}: the same results as in this thread`, async () => {
    const before = threads.length;
    const classifier = await load(folder, { binary, worker });
    assert.equal(threads.length, before + 1);
    const reference = await load(folder, { binary, worker: false });
    assert.deepEqual(classifier.info, { ...inProcess.info, binary });
    const results = await classifier.classifyBatch(texts, everything);
    assert.deepEqual(
      results.map(plain),
      (await reference.classifyBatch(texts, everything)).map(plain),
    );
    const { encoder } = results[0].attention;
    assert.deepEqual(encoder.at(1, 1).length, encoder.queries * encoder.keys);
    assert.ok(results[0].contributions[0] instanceof Float32Array);
    if (inProcess.info.binary === binary) {
      assert.deepEqual(results.map(plain), expected.map(plain));
    }
  });
}

test('progress is reported, and the caller keeps its bytes', async () => {
  const files = readModel('pre_norm_mean');
  const copy = structuredClone(files);
  const seen = new Map();
  await load(files, { worker, onProgress: ({ file, loaded }) => seen.set(file, loaded) });
  assert.deepEqual(files, copy);
  assert.deepEqual([...seen.keys()].sort(), modelFiles);
  for (const file of modelFiles) assert.equal(seen.get(file), files[file].length);
});

test('what cannot be sent to the worker is refused', async () => {
  const files = readModel('pre_norm_mean');
  structuredClone(files['config.json'].buffer, { transfer: [files['config.json'].buffer] });
  await assertError(
    () => load(files, { worker }),
    'invalid_option',
    /cannot be sent to the worker/,
  );
});

test('errors keep their code, and the next call works', async () => {
  const classifier = await load(folder, { worker });
  await assertError(() => classifier.classify(''), 'empty_input');
  await assertError(() => classifier.classify('a', { maskTokens: [99] }), 'invalid_option');
  assert.deepEqual(
    await classifier.classifyBatch(texts, everything).then((r) => r.map(plain)),
    expected.map(plain),
  );
  const server = await serve(folder, {
    '/config.json': (response) => response.writeHead(404).end(),
  });
  await assertError(() => Classifier.load(server.url, { worker }), 'http_error', /config\.json/);
  await assertError(() => Classifier.load('/nowhere', { worker }), 'missing_file');
});

test('a failed load ends its worker', waiting, async () => {
  await assertError(() => Classifier.load('/nowhere', { worker }), 'missing_file');
  await ended(threads.at(-1));
});

test('an abort takes effect between two texts, and in the queue', waiting, async () => {
  const classifier = await load(folder, { worker });
  const controller = new AbortController();
  const { signal } = controller;
  // Would take minutes.
  const endless = Array(1_000_000).fill(texts[0]);
  const calls = [
    classifier.classifyBatch(endless, { signal }),
    classifier.classify(texts[0], { signal }),
  ];
  const next = classifier.classify(texts[0], everything);
  setImmediate(() => controller.abort('enough'));
  for (const call of calls) await assert.rejects(call, { code: 'aborted', cause: 'enough' });
  assert.deepEqual(plain(await next), plain(expected[0]));
});

test('an unreferenced model ends its worker, but not during a call', waiting, async () => {
  let call;
  await (async () => {
    const classifier = await Classifier.load(folder, { worker });
    call = classifier.classifyBatch(Array(2000).fill(texts[0]));
  })();
  const thread = threads.at(-1);
  for (let i = 0; i < 5; i++) {
    await new Promise(setImmediate);
    collectGarbage();
  }
  assert.equal((await call).length, 2000);
  let running = true;
  ended(thread).then(() => (running = false));
  while (running) {
    await new Promise(setImmediate);
    collectGarbage();
  }
});

test('an abort while loading ends the worker', waiting, async () => {
  const controller = new AbortController();
  const server = await serve(folder, {
    '/model.safetensors'(response) {
      response.writeHead(200);
      response.write('12345678', () => controller.abort());
    },
  });
  const loading = Classifier.load(server.url, { worker, signal: controller.signal });
  await assertError(() => loading, 'aborted');
  await ended(threads.at(-1));
});

test('dispose ends the worker', waiting, async () => {
  const classifier = await Classifier.load(folder, { worker });
  const call = classifier.classifyBatch(long);
  classifier.dispose();
  await assertError(() => call, 'disposed');
  await ended(threads.at(-1));
  await assertError(() => classifier.classify('a'), 'disposed');
});

test('a worker that cannot start', async () => {
  const cases = [
    [
      { worker: true, urls: { 'worker.js': new URL('nowhere.js', import.meta.url) } },
      /nowhere\.js/,
    ],
    [{ worker: () => assert.fail('blocked by policy') }, /blocked by policy.*worker: false/s],
  ];
  for (const [options, message] of cases) {
    await assertError(() => Classifier.load(folder, options), 'worker_failed', message);
  }
  for (const worker of [1, 'yes', null, {}]) {
    await assertError(() => Classifier.load(folder, { worker }), 'invalid_option', /^worker: exp/);
  }
});

test('the threads of the package, from either entry, do not keep a process alive', () => {
  for (const entry of ['index.js', 'inline.js']) {
    const script = `
      import { Classifier } from './dist/${entry}';
      const classifier = await Classifier.load(${JSON.stringify(folder)}, { worker: true });
      const { label } = await classifier.classify(${JSON.stringify(texts[0])});
      console.log(label);`;
    const args = ['--input-type=module', '--eval', script];
    const output = execFileSync(process.execPath, args, { cwd: root, ...waiting });
    assert.equal(output.toString(), `${expected[0].label}\n`, entry);
  }
});

test('a worker that dies rejects its calls', async () => {
  const classifier = await load(folder, { worker });
  const call = classifier.classifyBatch(long);
  threads.at(-1).emit('error', new Error('out of memory'));
  await assert.rejects(call, (error) => {
    assert.ok(error instanceof GlassformerError);
    assert.equal(error.code, 'worker_failed');
    return /out of memory/.test(error.message);
  });
  await assertError(() => classifier.classify('a'), 'worker_failed', /out of memory/);
});

test('a translator: the same results and streams as in this thread', async () => {
  const before = threads.length;
  const translator = await loadTranslator(translatorFolder, { binary: 'simd', worker });
  assert.equal(threads.length, before + 1);
  assert.deepEqual(translator.info, translatorInProcess.info);
  const [results, ...streams] = await Promise.all([
    translator.translateBatch(sentences, translate),
    streamed(translator, sentences[0]),
    streamed(translator, sentences[0]),
  ]);
  assert.deepEqual(plain(results), plain(expectedTranslations));
  for (const steps of streams) assert.deepEqual(steps, expectedSteps);
  await assertError(() => translator.translate(''), 'empty_input');
  await assertError(() => streamed(translator, ''), 'empty_input');
  await assertError(() => translator.translate('a', { beams: 0 }), 'invalid_option', /beams/);
});

test('a translator: calls can be aborted, and loops left', waiting, async () => {
  const translator = await loadTranslator(translatorFolder, { worker });
  const controller = new AbortController();
  const { signal } = controller;
  const batch = translator.translateBatch([endless], { signal });
  const queued = translator.translate(sentences[0], { signal });
  setImmediate(() => controller.abort('enough'));
  for (const call of [batch, queued]) {
    await assert.rejects(call, { code: 'aborted', cause: 'enough' });
  }
  let tokens = 0;
  for await (const _ of translator.stream(endless)) {
    if (++tokens === 3) break;
  }
  const other = new AbortController();
  const read = async () => {
    for await (const _ of translator.stream(endless, { signal: other.signal })) {
      if (++tokens === 6) other.abort();
    }
  };
  await assertError(read, 'aborted');
  assert.equal(tokens, 6);
  // None of them blocks the next call.
  assert.equal((await translator.translate(sentences[0])).text, expectedTranslations[0].text);
});

test('a translator: dispose during a stream ends the worker', waiting, async () => {
  const translator = await loadTranslator(translatorFolder, { worker });
  const stream = translator.stream(endless);
  await stream.next();
  const call = stream.next().then(() => stream.next());
  translator.dispose();
  await assertError(() => call, 'disposed');
  await ended(threads.at(-1));
  await assertError(() => translator.translate('a'), 'disposed');
});
