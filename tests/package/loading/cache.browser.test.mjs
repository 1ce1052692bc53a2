// The option `cache` in Chromium: stored files, their use, and damaged files.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { chromium } from 'playwright-core';
import { manifestOf } from '../../../tools/manifest.mjs';
import { executablePath, flags } from '../../page/chromium.mjs';
import {
  dist,
  goldenFolder,
  load,
  modelFiles,
  readGolden,
  root,
  serve,
} from '../support/helpers.mjs';

const name = 'pre_norm_mean';
const other = 'tutorial_post_norm'; // another model, with the same tokenizer
const text = readGolden(name).texts[0];
const scoreOf = async (folder) => (await (await load(folder)).classify(text)).score;
const score = await scoreOf(goldenFolder(name));
const otherScore = await scoreOf(goldenFolder(other));
const near = (a, b) => Math.abs(a - b) < 1e-5;
assert.ok(!near(score, otherScore));

/** The optional files of a published folder. */
const publishedFiles = [
  ...['tokenizer.json', 'tokenizer_config.json', 'special_tokens_map.json', 'added_tokens.json'],
  ...['vocab.txt', 'modules.json'],
];

const blank = (response) => response.writeHead(200, { 'content-type': 'text/html' }).end();
// A sandboxed frame has another origin.
const script = (response) =>
  response
    .writeHead(200, { 'content-type': 'text/javascript', 'access-control-allow-origin': '*' })
    .end(readFileSync(join(dist, 'index.js')));
const pages = await serve(root, { '/blank': blank, '/dist/index.js': script });

const browser = await chromium.launch({
  executablePath,
  args: [...flags, '--host-resolver-rules=MAP insecure.test 127.0.0.1'],
});
after(() => browser.close());

/** Serves golden models at /NAME/FILE, with manifests if requested. It can go offline. */
async function serveModel({ manifest }) {
  const state = {
    online: true,
    folder: goldenFolder(name),
    lost: undefined, // a file whose connection breaks
    headers: {},
    spoil: (file, bytes) => bytes,
  };
  const answer = (response, { url, socket }) => {
    const file = url.split('/').at(-1);
    if (!state.online || file === state.lost) return void socket.destroy();
    const { folder } = state;
    const headers = { 'access-control-allow-origin': '*', ...state.headers };
    if (file === 'manifest.json') {
      if (manifest) response.writeHead(200, headers).end(JSON.stringify(manifestOf(folder)));
      else response.writeHead(404, headers).end();
      return;
    }
    let bytes;
    try {
      bytes = readFileSync(join(folder, file));
    } catch {
      return void response.writeHead(404, headers).end();
    }
    response.writeHead(200, headers).end(state.spoil(file, bytes));
  };
  const files = [...modelFiles, 'source.model', 'target.model', 'manifest.json', ...publishedFiles];
  const folders = ['model', 'second'];
  const routes = folders.flatMap((folder) => files.map((file) => [`/${folder}/${file}`, answer]));
  const { url, requests } = await serve('/nowhere', Object.fromEntries(routes));
  /** Returns the files that were requested since the last call. */
  const asked = () => requests.splice(0).map((path) => path.split('/').at(-1));
  return { url: `${url}/model`, second: `${url}/second`, state, asked };
}

/**
 * Opens a page of a new profile. `load` loads, classifies the text, and returns the score or the
 * error.
 */
async function open(url = `${pages.url}/blank`) {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(url);
  await page.evaluate(async (script) => {
    globalThis.glassformer = await import(script);
  }, '/dist/index.js');
  const load = (folder, options = {}) =>
    page.evaluate(
      async ({ folder, options, text }) => {
        const { Classifier, Translator } = globalThis.glassformer;
        const { task, ...rest } = options;
        const events = [];
        const onProgress = (progress) => events.push(progress);
        try {
          const Model = task === 'translate' ? Translator : Classifier;
          const model = await Model.load(folder, { cache: true, onProgress, ...rest });
          const result = task === 'translate' ? undefined : await model.classify(text);
          model.dispose();
          return { score: result?.score, events };
        } catch (error) {
          return { code: error.code, message: error.message, events };
        }
      },
      { folder, options, text },
    );
  const kept = () =>
    page.evaluate(async () => {
      const names = await caches.keys();
      const all = await Promise.all(names.map(async (name) => (await caches.open(name)).keys()));
      return all.flat().map(({ url }) => url);
    });
  /** Replaces a stored file's bytes. It keeps the headers that are not given. */
  const damage = (url, how) =>
    page.evaluate(
      async ({ url, how }) => {
        const [name] = await caches.keys();
        const cache = await caches.open(name);
        const response = await cache.match(url);
        const bytes = new Uint8Array(await response.arrayBuffer());
        const damaged = {
          changed: () => bytes.with(bytes.length >> 1, bytes[bytes.length >> 1] ^ 1),
          first: () => bytes.with(0, bytes[0] ^ 1),
          cut: () => bytes.slice(0, bytes.length >> 1),
          longer: () => new Uint8Array([...bytes, 0]),
          empty: () => new Uint8Array(),
          bare: () => bytes.with(0, bytes[0] ^ 1),
        }[how]();
        const { headers } = response;
        await cache.put(url, new Response(damaged, how === 'bare' ? {} : { headers }));
      },
      { url, how },
    );
  return { context, page, load, kept, damage };
}

function assertScore(loaded, expected = score) {
  assert.equal(loaded.code, undefined, loaded.message);
  assert.ok(near(loaded.score, expected), `${loaded.score} for ${expected}`);
}

for (const manifest of [true, false]) {
  const how = manifest ? 'with a manifest' : 'without a manifest';
  const allFiles = manifest ? [...modelFiles, 'manifest.json'] : modelFiles;
  const asked = [...modelFiles, 'manifest.json'].sort();

  test(`${how}: stored at the first load, read at the next without a network`, async () => {
    const server = await serveModel({ manifest });
    const { context, page, load, kept } = await open();
    assertScore(await load(server.url));
    assert.deepEqual(server.asked().sort(), asked);
    assert.deepEqual((await kept()).sort(), allFiles.map((file) => `${server.url}/${file}`).sort());

    const { events, ...loaded } = await load(server.url);
    assertScore(loaded);
    assert.deepEqual(server.asked(), ['manifest.json']);
    const total = modelFiles.reduce((sum, file) => {
      return sum + readFileSync(join(goldenFolder(name), file)).length;
    }, 0);
    assert.deepEqual(events.at(-1).overall, { loaded: total, total });
    if (manifest) assert.ok(events.every(({ overall }) => overall.total === total));

    server.state.online = false;
    assertScore(await load(server.url));
    // The browser repeats a request if the connection breaks.
    assert.deepEqual(new Set(server.asked()), new Set(['manifest.json']));
    assertScore(await load(`${server.url}/`));
    assert.equal((await load(server.url, { cache: false })).code, 'fetch_failed');
    assert.equal((await load(server.second)).code, 'fetch_failed');

    // Also in another page.
    const second = await context.newPage();
    await second.goto(page.url());
    const again = await second.evaluate(
      async ({ url, text }) => {
        const { Classifier } = await import('/dist/index.js');
        const classifier = await Classifier.load(url, { cache: true });
        return classifier.classify(text);
      },
      { url: server.url, text },
    );
    assertScore(again);
    await context.close();
  });

  test(`${how}: only damaged files are fetched again`, async () => {
    const server = await serveModel({ manifest });
    const { context, load, damage } = await open();
    assertScore(await load(server.url));
    server.asked();
    for (const file of modelFiles) {
      for (const how of ['changed', 'first', 'cut', 'longer', 'empty', 'bare']) {
        await damage(`${server.url}/${file}`, how);
        const loaded = await load(server.url);
        assertScore(loaded);
        const sums = loaded.events.map(({ overall }) => overall.loaded);
        assert.deepEqual(
          sums,
          sums.toSorted((a, b) => a - b),
        );
        assert.deepEqual(
          new Set(server.asked()),
          new Set([file, 'manifest.json']),
          `${file} ${how}`,
        );
        // The file is repaired.
        assertScore(await load(server.url));
        assert.deepEqual(server.asked(), ['manifest.json'], `${file} ${how}`);
      }
      // Without a network, it cannot be repaired, and is not used.
      await damage(`${server.url}/${file}`, 'changed');
      server.state.online = false;
      assert.equal((await load(server.url)).code, 'fetch_failed');
      server.state.online = true;
      assertScore(await load(server.url));
      server.asked();
    }
    await context.close();
  });

  test(`${how}: files that do not load are not stored`, async () => {
    const server = await serveModel({ manifest });
    const { context, load, kept } = await open();
    server.state.spoil = (file, bytes) =>
      file === 'model.safetensors' ? bytes.subarray(0, -1) : bytes;
    const { code } = await load(server.url);
    assert.equal(code, manifest ? 'integrity' : 'invalid_safetensors');
    assert.deepEqual(await kept(), []);
    server.state.spoil = (file, bytes) => bytes;
    assertScore(await load(server.url));
    await context.close();
  });
}

test('a new model on the server: with a manifest, only changed files are fetched', async () => {
  const server = await serveModel({ manifest: true });
  const { context, load } = await open();
  assertScore(await load(server.url));
  server.asked();
  server.state.folder = goldenFolder(other);
  assertScore(await load(server.url), otherScore);
  const { files } = manifestOf(goldenFolder(name));
  const changed = Object.entries(manifestOf(goldenFolder(other)).files)
    .filter(([file, { sha256 }]) => sha256 !== files[file].sha256)
    .map(([file]) => file);
  assert.ok(changed.length < modelFiles.length);
  assert.deepEqual(server.asked().sort(), [...changed, 'manifest.json'].sort());
  server.state.online = false;
  assertScore(await load(server.url), otherScore);
  await context.close();
});

test('a new model on the server, without a manifest: stored files stay until they are cleared', async () => {
  const server = await serveModel({ manifest: false });
  const { context, page, load, kept } = await open();
  assertScore(await load(server.url));
  assertScore(await load(server.second));
  server.state.folder = goldenFolder(other);
  assertScore(await load(server.url));
  await page.evaluate((url) => glassformer.clearCache(url), server.url);
  assert.deepEqual(
    (await kept()).sort(),
    modelFiles.map((file) => `${server.second}/${file}`).sort(),
  );
  assertScore(await load(server.url), otherScore);
  assertScore(await load(server.second));
  await page.evaluate(() => caches.open('of somebody else'));
  await page.evaluate(() => glassformer.clearCache());
  assert.deepEqual(await kept(), []);
  assert.deepEqual(await page.evaluate(() => caches.keys()), ['of somebody else']);
  assertScore(await load(server.second), otherScore);
  await context.close();
});

test('an old file in the HTTP cache with a new manifest', async () => {
  const server = await serveModel({ manifest: true });
  for (const cache of [true, false]) {
    server.state.folder = goldenFolder(name);
    server.state.headers = { 'cache-control': 'max-age=3600' };
    const { context, page, load } = await open();
    assertScore(await load(server.url, { cache }));
    server.state.folder = goldenFolder(other);
    // The manifest is requested again, the other files are not.
    await page.evaluate((url) => fetch(`${url}/manifest.json`, { cache: 'reload' }), server.url);
    assertScore(await load(server.url, { cache }), otherScore);
    await context.close();
  }
});

test('a model of two tokenizers, without a network', async () => {
  for (const manifest of [true, false]) {
    const server = await serveModel({ manifest });
    server.state.folder = goldenFolder('translate_tutorial_separate');
    const { context, load } = await open();
    for (const online of [true, false]) {
      server.state.online = online;
      const { code, message } = await load(server.url, { task: 'translate' });
      assert.equal(code, undefined, message);
    }
    await context.close();
  }
});

test('a published folder: the cache stores which optional files exist', async () => {
  const server = await serveModel({ manifest: false });
  server.state.folder = join(root, 'tests/fixtures/checkpoints/bert_sequence');
  const { context, load } = await open();
  const all = await load(server.url);
  assert.equal(all.code, undefined, all.message);
  server.state.online = false;
  assertScore(await load(server.url), all.score);
  await context.close();

  // Without its settings, the tokenizer would give other tokens.
  const another = await open();
  Object.assign(server.state, { online: true, lost: 'tokenizer_config.json' });
  const { code, message } = await another.load(server.url);
  assert.equal(code, 'fetch_failed');
  assert.match(message, /tokenizer_config\.json/);
  server.state.lost = undefined;
  assertScore(await another.load(server.url), all.score);
  await another.context.close();
});

test('with a full disk, the model loads and is not stored', async () => {
  const server = await serveModel({ manifest: true });
  const { context, page, load } = await open();
  const session = await context.newCDPSession(page);
  const { origin } = new URL(page.url());
  await session.send('Storage.overrideQuotaForOrigin', { origin, quotaSize: 100 });
  assertScore(await load(server.url));
  server.asked();
  assertScore(await load(server.url));
  assert.ok(server.asked().includes('model.safetensors'));
  await context.close();
});

test('without a Cache API', async () => {
  const server = await serveModel({ manifest: true });
  const { port } = new URL(pages.url);
  const insecure = await open(`http://insecure.test:${port}/blank`);
  const { code, message } = await insecure.load(server.url);
  assert.equal(code, 'unsupported_runtime');
  assert.match(message, /Cache API.*https:/);
  assertScore(await insecure.load(server.url, { cache: false }));
  await insecure.page.evaluate(() => glassformer.clearCache());
  // Hashing is not possible either, so only the sizes of a manifest are compared.
  server.state.spoil = (file, bytes) =>
    file === 'model.safetensors' ? bytes.subarray(0, -1) : bytes;
  assert.equal((await insecure.load(server.url, { cache: false })).code, 'integrity');
  await insecure.context.close();

  const { context, page } = await open();
  const reply = await page.evaluate((url) => {
    const frame = document.createElement('iframe');
    frame.sandbox = 'allow-scripts';
    frame.srcdoc = `<script type="module">
      const { Classifier } = await import('${location.origin}/dist/index.js');
      Classifier.load('${url}', { cache: true })
        .catch(({ code }) => parent.postMessage(code, '*'));
    </script>`;
    const reply = new Promise((resolve) =>
      addEventListener('message', ({ data }) => resolve(data), { once: true }),
    );
    document.body.append(frame);
    return reply;
  }, server.url);
  assert.equal(reply, 'unsupported_runtime');
  await context.close();
});
