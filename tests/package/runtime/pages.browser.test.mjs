// The package in Chromium under a strict policy: in a page, in a worker of a page and in a service
// worker.

import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { extname, join } from 'node:path';
import { after, test } from 'node:test';
import { chromium } from 'playwright-core';
import { executablePath, flags } from '../../page/chromium.mjs';
import {
  dist,
  goldenFolder,
  load,
  loadTranslator,
  readGolden,
  root,
  serve,
  types,
} from '../support/helpers.mjs';

const name = 'pre_norm_mean';
const { texts } = readGolden(name);
const expected = await (await load(goldenFolder(name))).classifyBatch(texts);

const translatorName = 'translate_pre_norm_shared';
const source = readGolden(translatorName).texts[0];

const policy = "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'";
const send = (type, body) => (response) =>
  response.writeHead(200, { 'content-type': type, 'content-security-policy': policy }).end(body);

// Answers a message with the results, or with the error's code.
const workerScript = `
  import { Classifier } from '/dist/index.js';
  async function answer(texts) {
    const classifier = await Classifier.load('/tests/fixtures/golden/${name}/');
    const results = await classifier.classifyBatch(texts, { attention: true });
    classifier.dispose();
    return results.map(({ label, scores, attention }) =>
      ({ label, scores, size: attention.encoder.at(1, 1).length }));
  }
  self.addEventListener('message', async ({ data, source, ports }) => {
    const reply = ports[0] ?? source ?? self;
    try {
      reply.postMessage(await answer(data));
    } catch (error) {
      reply.postMessage(String(error.code ?? error));
    }
  });
  // A new service worker controls pages at once.
  self.addEventListener('activate', (event) => event.waitUntil(self.clients.claim()));`;

// A page whose only script shows a verdict or the error.
const page = (entry, options, before = '') => `<!doctype html><script type="module">
  import { Classifier } from '${entry}';
  ${before}
  try {
    const classifier = await Classifier.load('/tests/fixtures/golden/${name}', ${options});
    const { label, scores } = await classifier.classify(${JSON.stringify(texts[0])});
    document.title = JSON.stringify({ label, scores });
  } catch (error) {
    document.title = JSON.stringify({ code: error.code, message: error.message });
  }</script>`;
const wasmOnly = "script-src 'self' 'unsafe-inline' 'wasm-unsafe-eval'; worker-src 'self'";
const trusted = `${wasmOnly}; require-trusted-types-for 'script'`;
const makePolicy = `const policy = trustedTypes.createPolicy('p', { createScriptURL: (url) => url });`;
const scriptUrl = `policy.createScriptURL('/dist/worker.js')`;
const startWorker = `new Worker(${scriptUrl}, { type: 'module' })`;
// The headers of the page, its source, the number of workers, and the expected result.
const places = {
  'the inline entry': ['', page('/dist/inline.js', '{}'), 1],
  'the inline entry, blobs forbidden': [wasmOnly, page('/dist/inline.js', '{}'), 0],
  'no worker wanted': [wasmOnly, page('/dist/index.js', '{ worker: false }'), 0],
  'Trusted Types, without a policy': [trusted, page('/dist/index.js', '{}'), 0, /createScriptURL/],
  'Trusted Types, a trusted URL': [
    trusted,
    page('/dist/index.js', `{ urls: { 'worker.js': ${scriptUrl} } }`, makePolicy),
    1,
  ],
  'Trusted Types, a worker of the page’s own': [
    trusted,
    page('/dist/index.js', `{ worker: () => ${startWorker} }`, makePolicy),
    1,
  ],
  'no WebAssembly': [
    "script-src 'self' 'unsafe-inline'",
    page('/dist/index.js', '{}'),
    0,
    /wasm-unsafe-eval/,
  ],
  'a development server of Vite 6': ['', page('/node_modules/.vite/deps/glassformer.js', '{}'), 1],
};

const serveDist = (file) => (response) =>
  response
    .writeHead(200, { 'content-type': types[extname(file)] })
    .end(readFileSync(join(dist, file)));

const server = await serve(root, {
  ...Object.fromEntries(
    Object.values(places).map(([policy, html], index) => [
      `/place/${index}`,
      (response) =>
        response
          .writeHead(200, { 'content-type': 'text/html', 'content-security-policy': policy })
          .end(html),
    ]),
  ),
  // The optimizer's copy of the script, and the installed package.
  '/node_modules/.vite/deps/glassformer.js': serveDist('index.js'),
  '/node_modules/glassformer/dist/worker.js': serveDist('worker.js'),
  ...Object.fromEntries(
    readdirSync(dist)
      .filter((file) => file.endsWith('.wasm'))
      .map((file) => [`/node_modules/glassformer/dist/${file}`, serveDist(file)]),
  ),
  '/page/': send('text/html', '<!doctype html><base href="/tests/fixtures/"><title>test</title>'),
  '/worker.js': send('text/javascript', workerScript),
  '/tests/fixtures/cut/config.json': (response) => response.writeHead(404).end(),
});

const browser = await chromium.launch({ executablePath, args: flags });
after(() => browser.close());

// Opens a page with the package. Policy violations and exceptions fail the test.
async function open() {
  const context = await browser.newContext();
  const page = await context.newPage();
  const problems = [];
  page.on('pageerror', (error) => problems.push(error.message));
  page.on('console', (message) => message.type() === 'error' && problems.push(message.text()));
  const script = "import * as it from '/dist/index.js'; globalThis.glassformer = it;";
  await page.route('**/setup.js', (route) =>
    route.fulfill({ contentType: 'text/javascript', body: script }),
  );
  await page.goto(`${server.url}/page/`);
  await page.addScriptTag({ url: '/setup.js', type: 'module' });
  return { page, problems };
}

function assertResults(results, binary, count = expected.length) {
  assert.equal(results.length, count);
  for (const [index, { label, scores, size }] of results.entries()) {
    const { tokens, ...one } = expected[index];
    assert.equal(label, one.label);
    assert.equal(size, tokens.length ** 2);
    for (const [id, { logit }] of one.scores.entries()) {
      const got = scores[id].logit;
      assert.ok(Math.abs(got - logit) < 1e-5, `${binary}: ${got} for ${logit}`);
    }
  }
}

for (const binary of ['simd', 'relaxed']) {
  test(`a page, ${binary}`, async () => {
    const { page, problems } = await open();
    const result = await page.evaluate(
      async ({ binary, name, texts }) => {
        const seen = {};
        // Relative to the document's base.
        const classifier = await glassformer.Classifier.load(`golden/${name}`, {
          binary,
          onProgress: ({ file, loaded, total }) => (seen[file] = [loaded, total]),
        });
        const results = await classifier.classifyBatch(texts, { attention: true });
        const controller = new AbortController();
        // Takes far longer than the page waits, even if the page is late.
        const endless = Array(100_000).fill(texts[0]);
        const calls = [
          classifier.classifyBatch(endless, { signal: controller.signal }),
          classifier.classify(''),
          classifier.classify(texts[0], { attentions: true }),
        ];
        setTimeout(() => controller.abort(), 20);
        const codes = (await Promise.allSettled(calls)).map((call) => call.reason?.code);
        const again = await classifier.classify(texts[0]);
        globalThis.classifier = classifier;
        return {
          results: results.map(({ label, scores, attention }) => ({
            label,
            scores,
            size: attention.encoder.at(1, 1).length,
          })),
          binary: classifier.info.binary,
          codes,
          same: again.score === results[0].score,
          seen,
        };
      },
      { binary, name, texts },
    );
    assertResults(result.results, binary);
    assert.equal(result.binary, binary);
    assert.deepEqual(result.codes, ['aborted', 'empty_input', 'invalid_option']);
    assert.ok(result.same);
    for (const [file, [loaded, total]] of Object.entries(result.seen)) {
      const size = readFileSync(join(goldenFolder(name), file)).length;
      assert.deepEqual([loaded, total], [size, size]);
    }
    assert.equal(Object.keys(result.seen).length, 3);

    // One worker for the model, and none after dispose.
    assert.equal(page.workers().length, 1);
    const closed = page.workers()[0].waitForEvent('close');
    const code = await page.evaluate(async (text) => {
      const call = classifier.classify(text);
      classifier.dispose();
      return call.catch((error) => error.code);
    }, texts[0]);
    assert.equal(code, 'disposed');
    await closed;
    assert.deepEqual(problems, []);
    await page.context().close();
  });
}

for (const binary of ['simd', 'relaxed']) {
  test(`a page translates, ${binary}`, async () => {
    const reference = await loadTranslator(goldenFolder(translatorName), { binary });
    const greedy = await reference.translate(source, { beams: 1 });
    const { page, problems } = await open();
    const result = await page.evaluate(
      async ({ binary, name, source }) => {
        const translator = await glassformer.Translator.load(`golden/${name}`, { binary });
        const endless = 'not good at all. '.repeat(1000);
        const read = async (text, { limit = Infinity, ...options } = {}) => {
          const seen = [];
          for await (const step of translator.stream(text, { attention: true, ...options })) {
            const { cross } = step.done ? step.result.sentences[0].attention : step.attention;
            seen.push([step.text, cross.at(1, 1).length === cross.queries * cross.keys]);
            if (seen.length === limit) break;
          }
          return seen;
        };
        const controller = new AbortController();
        const results = await Promise.all([
          translator.translate(source, { beams: 1, attention: true }),
          read(source),
          read(source),
          read(endless, { limit: 3 }),
        ]);
        const calls = [
          read(endless, { signal: controller.signal }),
          translator.translate(''),
          translator.translate('a', { beams: 0 }),
        ];
        setTimeout(() => controller.abort(), 20);
        const codes = (await Promise.allSettled(calls)).map((call) => call.reason?.code);
        const again = await read(source);
        const each = [];
        const rows = [source, ' ', ...Array(40).fill(source)];
        for await (const { index, result, error } of translator.translateEach(rows, { beams: 1 })) {
          each[index] = error ? error.code : result.text;
        }
        const stream = translator.stream(endless);
        await stream.next();
        const call = stream.next().then(() => stream.next());
        translator.dispose();
        codes.push(await call.catch((error) => error.code));
        const [{ text, score, sentences }, ...streams] = results;
        return {
          text,
          score,
          size: sentences[0].attention.cross.at(1, 1).length,
          streams: [...streams, again],
          each,
          codes,
        };
      },
      { binary, name: translatorName, source },
    );
    assert.equal(result.text, greedy.text);
    assert.equal(result.score, greedy.score);
    const [{ tokens, sourceTokens }] = greedy.sentences;
    assert.equal(result.size, tokens.length * sourceTokens.length);
    const [first, second, left, again] = result.streams;
    const own = tokens.filter((token) => token.text !== '</s>'); // it has no step
    assert.equal(first.length, own.length + 1);
    assert.equal(first.at(-1)[0], greedy.text);
    assert.ok(first.every(([, whole]) => whole));
    assert.deepEqual([second, again], [first, first]);
    assert.equal(left.length, 3);
    assert.deepEqual(result.each, [greedy.text, 'empty_input', ...Array(40).fill(greedy.text)]);
    assert.deepEqual(result.codes, ['aborted', 'empty_input', 'invalid_option', 'disposed']);
    assert.deepEqual(problems, []);
    await page.context().close();
  });
}

for (const [index, [place, [, , workers, failure]]] of Object.entries(places).entries()) {
  test(`a page: ${place}`, async () => {
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(`${server.url}/place/${index}`);
    await page.waitForFunction(() => document.title);
    const result = JSON.parse(await page.title());
    if (failure) assert.match(result.message, failure);
    else assertResults([{ ...result, size: expected[0].tokens.length ** 2 }], place, 1);
    assert.equal(page.workers().length, workers);
    await context.close();
  });
}

test('a page: loading errors have their code', async () => {
  const { page } = await open();
  const codes = await page.evaluate(async (name) => {
    const code = (folder, options) =>
      glassformer.Classifier.load(folder, options).then(
        () => 'loaded',
        (error) => error.code,
      );
    return [
      await code('cut'),
      await code('http://127.0.0.1:1/'),
      await code(`golden/${name}`, { urls: { 'worker.js': '/nowhere.js' } }),
      await code(`golden/${name}`, { urls: { 'worker.js': 'http://127.0.0.1:1/worker.js' } }),
    ];
  }, name);
  assert.deepEqual(codes, ['http_error', 'fetch_failed', 'worker_failed', 'worker_failed']);
  await page.context().close();
});

test('a worker of the page, with the model in another worker', async () => {
  const { page, problems } = await open();
  const results = await page.evaluate(
    (texts) =>
      new Promise((resolve, reject) => {
        const worker = new Worker('/worker.js', { type: 'module' });
        worker.onmessage = ({ data }) => resolve(data);
        worker.onerror = reject;
        worker.postMessage(texts);
      }),
    texts,
  );
  assertResults(results, 'in a worker');
  assert.deepEqual(problems, []);
  await page.context().close();
});

test('a service worker, which cannot start workers', async () => {
  const { page, problems } = await open();
  const results = await page.evaluate(async (texts) => {
    await navigator.serviceWorker.register('/worker.js', { type: 'module' });
    const { active } = await navigator.serviceWorker.ready;
    const { port1, port2 } = new MessageChannel();
    return new Promise((resolve) => {
      port1.onmessage = ({ data }) => resolve(data);
      active.postMessage(texts, [port2]);
    });
  }, texts);
  assertResults(results, 'in a service worker');
  assert.deepEqual(problems, []);
  await page.context().close();
});
