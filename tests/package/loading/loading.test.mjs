// The sources of models, the progress of loading, and failed loads.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
} from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { after, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import vm from 'node:vm';
import { gzipSync } from 'node:zlib';
import {
  Classifier,
  Generator,
  GlassformerError,
  Translator,
  assertError,
  clearCache,
  dist,
  goldenFolder,
  load,
  modelFiles,
  readGolden,
  readModel,
  root,
  serve,
  waiting,
} from '../support/helpers.mjs';
import { manifestOf } from '../../../tools/manifest.mjs';

const folder = goldenFolder('pre_norm_mean');
const translator = goldenFolder('translate_post_norm_tied');
const checkpoint = (name) => join(root, 'tests/fixtures/checkpoints', name);
const text = readGolden('pre_norm_mean').texts[0];
const expected = await (await load(folder)).classify(text);

async function assertLoads(source, options) {
  const classifier = await load(source, options);
  assert.deepEqual(await classifier.classify(text), expected);
}

// A model folder whose name must be escaped.
const odd = mkdtempSync(join(tmpdir(), 'a model #1 100% é?'));
cpSync(folder, odd, { recursive: true });
after(() => rmSync(odd, { recursive: true }));

test('from a path', async () => {
  await assertLoads(folder);
  await assertLoads(`${folder}/`);
  await assertLoads(relative(process.cwd(), folder));
  await assertLoads(odd);
});

test('from a file: URL', async () => {
  await assertLoads(pathToFileURL(folder));
  await assertLoads(pathToFileURL(`${odd}/`).href);
});

test('from bytes, which do not change', async () => {
  const files = readModel('pre_norm_mean');
  const copy = structuredClone(files);
  await assertLoads(files);
  assert.deepEqual(files, copy);
});

test('from bytes in the middle of a larger buffer', async () => {
  const files = Object.entries(readModel('pre_norm_mean')).map(([name, bytes]) => {
    const larger = new Uint8Array(bytes.length + 20).fill(7);
    larger.set(bytes, 13);
    return [name, larger.subarray(13, 13 + bytes.length)];
  });
  await assertLoads(Object.fromEntries(files));
});

test('from bytes of another realm, as in test runners', async () => {
  const Other = vm.runInNewContext('Uint8Array');
  assert.notEqual(Other, Uint8Array);
  const files = Object.entries(readModel('pre_norm_mean'));
  await assertLoads(Object.fromEntries(files.map(([name, bytes]) => [name, Other.from(bytes)])));
});

test('over HTTP: each file is requested once, with its query', async () => {
  const server = await serve(folder);
  await assertLoads(server.url);
  await assertLoads(`${server.url}/`);
  await assertLoads(new URL(`${server.url}/?token=a/b`));
  assert.deepEqual(
    server.requests.sort(),
    [...modelFiles, 'manifest.json']
      .flatMap((file) => [`/${file}`, `/${file}`, `/${file}?token=a/b`])
      .sort(),
  );
});

test('over HTTP, in chunks of one byte and of 1000', async () => {
  const send = (size) => async (response, request) => {
    const bytes = readFileSync(join(folder, request.url));
    response.writeHead(200);
    for (let at = 0; at < bytes.length; at += size) {
      response.write(bytes.subarray(at, at + size));
      if (at % 4000 === 0) await new Promise(setImmediate);
    }
    response.end();
  };
  for (const size of [1, 1000]) {
    const routes = Object.fromEntries(modelFiles.map((file) => [`/${file}`, send(size)]));
    await assertLoads((await serve(folder, routes)).url);
  }
});

test('each URL can be replaced', async () => {
  const server = await serve(folder);
  const urls = {
    'config.json': `${server.url}/config.json`,
    'model.safetensors': join(folder, 'model.safetensors'),
    'tokenizer.model': pathToFileURL(join(folder, 'tokenizer.model')),
  };
  await assertLoads('/nowhere', { urls });
  assert.deepEqual(server.requests, ['/config.json']);
});

test('both binaries can have other addresses', async () => {
  const server = await serve(dist);
  for (const [binary, file] of [
    ['simd', 'glassformer.wasm'],
    ['relaxed', 'glassformer.relaxed.wasm'],
  ]) {
    const urls = { [file]: `${server.url}/${file}` };
    const classifier = await load(folder, { urls, binary });
    assert.equal(classifier.info.binary, binary);
    await load(folder, { urls, binary }); // compiled once
  }
  // If only the plain SIMD binary is hosted elsewhere, it runs even if relaxed SIMD is supported.
  const urls = { 'glassformer.wasm': `${server.url}/glassformer.wasm` };
  assert.equal((await load(folder, { urls })).info.binary, 'simd');
  assert.deepEqual(server.requests, ['/glassformer.wasm', '/glassformer.relaxed.wasm']);
});

test('the small binary is tried first if its address is given', async () => {
  const server = await serve(dist);
  const names = ['glassformer.read.wasm', 'glassformer.wasm'];
  const urls = Object.fromEntries(names.map((name) => [name, `${server.url}/${name}`]));
  await load(folder, { urls });
  assert.deepEqual(server.requests, ['/glassformer.read.wasm']);
  await load(translator, { urls }, Translator);
  await load(checkpoint('gpt2_generate'), { urls }, Generator);
  await load(folder, { urls, explain: true });
  await load(folder, { urls, gradients: true });
  assert.deepEqual(
    server.requests,
    names.map((name) => `/${name}`), // each is compiled once
  );
  // A model of another class: the binary with everything tells which class opens it.
  await assertError(() => load(checkpoint('t5'), { urls }, Classifier), 'wrong_task', /Generator/);
  const module = new WebAssembly.Module(readFileSync(join(dist, names[0])));
  await load(folder, { module });
  const refused = () => load(translator, { module }, Translator);
  await assertError(refused, 'invalid_option', /module: expected glassformer.wasm/);
});

test('without its address, the binary with everything is loaded', async () => {
  const server = await serve(dist);
  const urls = { 'glassformer.wasm': `${server.url}/glassformer.wasm` };
  await load(folder, { urls });
  assert.deepEqual(server.requests, ['/glassformer.wasm']);
});

test('glassformer/read and glassformer/threads name their binaries', async () => {
  const options = {};
  for (const scope of ['read', 'threads']) {
    const { default: urls } = await import(`../../../dist/${scope}.js`);
    const files = ['', '.relaxed'].map((kind) => `glassformer.${scope}${kind}.wasm`);
    assert.deepEqual(Object.keys(urls), files);
    for (const file of files) assert.equal(urls[file], pathToFileURL(join(dist, file)).href);
    options[scope] = { urls, compute: 'f32', backend: 'wasm' };
  }
  const small = await load(folder, { ...options.read, threads: 1 });
  const gradients = () => small.classify('a film', { gradients: ['logits'] });
  await assertError(gradients, 'unsupported', /option gradients/);
  assert.equal((await load(folder, { ...options.threads, threads: 2 })).info.threads, 2);
});

// Loads a model and returns its progress events. Each must continue the one before.
async function progressOf(source, options) {
  const events = [];
  await load(source, { ...options, onProgress: (progress) => events.push(progress) });
  const last = {};
  let { loaded, total } = { loaded: 0, total: undefined };
  for (const { file, overall, ...progress } of events) {
    assert.ok(progress.loaded >= (last[file]?.loaded ?? 0), file);
    assert.ok(overall.loaded >= loaded);
    if (total !== undefined) assert.equal(overall.total, total);
    if (last[file]?.total !== undefined) assert.equal(progress.total, last[file].total, file);
    last[file] = progress;
    ({ loaded, total } = overall);
  }
  for (const file of modelFiles) {
    const { size } = statSync(join(folder, file));
    assert.deepEqual(last[file], { loaded: size, total: size }, file);
  }
  const all = modelFiles.reduce((sum, file) => sum + statSync(join(folder, file)).size, 0);
  assert.deepEqual(events.at(-1).overall, { loaded: all, total: all });
  return events;
}

// Sends a compressed file, so that its size is unknown.
const compressed = (response, request) => {
  const body = gzipSync(readFileSync(join(folder, request.url)));
  response.writeHead(200, { 'content-encoding': 'gzip', 'content-length': body.length });
  response.end(body);
};
const allCompressed = Object.fromEntries(modelFiles.map((file) => [`/${file}`, compressed]));

test('progress ends at the true sizes', async () => {
  const server = await serve(folder);
  for (const source of [folder, readModel('pre_norm_mean'), server.url]) {
    const events = await progressOf(source);
    // Uncompressed files have a known size.
    for (const { total } of events) assert.notEqual(total, undefined);
  }
});

test('progress of compressed files: their sizes come from their ends and from the weights', async () => {
  const server = await serve(folder, allCompressed);
  await assertLoads(server.url);
  const events = await progressOf(server.url);
  for (const { overall } of events) assert.equal(overall.total, events.at(-1).overall.loaded);
});

test('progress with a manifest: true totals from the first event on', async () => {
  const manifest = JSON.stringify(manifestOf(folder));
  const server = await serve(folder, {
    ...allCompressed,
    // The manifest comes last.
    '/manifest.json': (response) => void setImmediate(() => response.end(manifest)),
  });
  const events = await progressOf(server.url);
  for (const { total, overall } of events) {
    assert.notEqual(total, undefined);
    assert.notEqual(overall.total, undefined);
  }
});

test('a Content-Length of other bytes is not used as the size', async () => {
  // As across origins, where Content-Encoding is hidden.
  const { fetch } = globalThis;
  after(() => (globalThis.fetch = fetch));
  const server = await serve(folder);
  globalThis.fetch = async (...args) => {
    const response = await fetch(...args);
    if (!response.ok) return response;
    return new Response(response.body, { headers: { 'content-length': '100' } });
  };
  await progressOf(server.url);
  globalThis.fetch = fetch;
});

test('an error in onProgress fails the load', async () => {
  const mine = new Error('mine');
  const onProgress = () => {
    throw mine;
  };
  await assert.rejects(Classifier.load(folder, { onProgress }), (error) => {
    assert.ok(error instanceof GlassformerError);
    assert.equal(error.code, 'callback_failed');
    assert.match(error.message, /onProgress.*mine/);
    assert.equal(error.cause, mine);
    return true;
  });
});

test('missing files', async () => {
  await assertError(() => Classifier.load('/nowhere/at/all'), 'missing_file', /nowhere/);
  const { 'tokenizer.model': _, ...files } = readModel('pre_norm_mean');
  await assertError(() => Classifier.load(files), 'missing_file', /tokenizer\.model/);
});

test('HTTP errors name the file and the status', async () => {
  for (const file of modelFiles) {
    for (const status of [404, 403, 500]) {
      const server = await serve(folder, {
        [`/${file}`]: (response) => response.writeHead(status).end('no'),
      });
      const url = `${server.url}/${file}`;
      await assert.rejects(Classifier.load(server.url), {
        name: 'GlassformerError',
        code: 'http_error',
        message: `${url}: HTTP status ${status}`,
        status,
        url,
      });
    }
  }
  await assertLoads(folder);
});

test('a web page instead of a file', async () => {
  for (const file of modelFiles) {
    const server = await serve(folder, {
      [`/${file}`]: (response) =>
        response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end('<!doctype>'),
    });
    await assertError(() => Classifier.load(server.url), 'wrong_content_type', new RegExp(file));
  }
  const server = await serve(dist, {
    '/glassformer.wasm': (response) =>
      response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype>'),
  });
  const urls = { 'glassformer.wasm': `${server.url}/glassformer.wasm` };
  await assertError(() => Classifier.load(folder, { urls }), 'wrong_content_type', /wasm/);
});

test('a binary that does not compile, and a missing one', async () => {
  let answer = (response) => response.writeHead(500).end();
  const server = await serve(dist, {
    '/glassformer.wasm': (response) => answer(response),
    '/text.wasm': (response) => response.end('no binary'),
  });
  const from = (path) => ({ urls: { 'glassformer.wasm': new URL(path, server.url) } });
  await assertError(() => Classifier.load(folder, from('text.wasm')), 'unsupported_runtime');
  await assertError(() => Classifier.load(folder, from('nothing')), 'http_error');
  await assertError(() => Classifier.load(folder, from('glassformer.wasm')), 'http_error');
  // The failure is not cached.
  answer = (response) => response.end(readFileSync(join(dist, 'glassformer.wasm')));
  await load(folder, from('glassformer.wasm'));
  const urls = { 'glassformer.wasm': '/nowhere.wasm' };
  await assertError(() => Classifier.load(folder, { urls }), 'missing_file');
});

test('if one file fails, the other downloads are aborted', waiting, async () => {
  let closed;
  const whenClosed = new Promise((resolve) => (closed = resolve));
  const server = await serve(folder, {
    '/config.json': (response) => response.writeHead(404).end(),
    '/tokenizer.model': (response) => response.writeHead(200).write('begun'),
    '/model.safetensors': (_, request) => request.socket.on('close', closed), // never answers
  });
  await assertError(() => Classifier.load(server.url), 'http_error', /config\.json/);
  await whenClosed;
});

const descriptors = '/proc/self/fd';
const noDescriptors = !existsSync(descriptors) && `no ${descriptors}`;
test('files are closed', { skip: noDescriptors, ...waiting }, async () => {
  const count = () => readdirSync(descriptors).length;
  await assertLoads(folder);
  const before = count();
  for (let i = 0; i < 5; i++) {
    (await Classifier.load(folder)).dispose();
    const urls = { 'config.json': join(folder, 'golden.json') };
    await assertError(() => Classifier.load(folder, { urls }), 'invalid_config');
  }
  // Loading does not wait until files are closed.
  while (count() > before) await new Promise(setImmediate);
});

test('a connection that breaks during a file', async () => {
  const bytes = readFileSync(join(folder, 'model.safetensors'));
  const server = await serve(folder, {
    '/model.safetensors'(response) {
      response.writeHead(200, { 'content-length': bytes.length });
      response.write(bytes.subarray(0, bytes.length / 2), () => response.destroy());
    },
  });
  await assertError(() => Classifier.load(server.url), 'fetch_failed', /model\.safetensors/);
  await assertLoads(folder);
});

test('a server that stalls', waiting, async () => {
  // Before the headers, or after the first byte. On a busy machine another file may be late first.
  const stalls = [...modelFiles, 'manifest.json'].flatMap((file) => [
    [file, () => {}],
    [file, (response) => response.writeHead(200).write('{')],
  ]);
  const attempts = stalls.map(async ([file, begin]) => {
    let whenClosed;
    const server = await serve(folder, {
      [`/${file}`](response, request) {
        whenClosed = new Promise((resolve) => request.socket.on('close', resolve));
        begin(response);
      },
    });
    await assert.rejects(Classifier.load(server.url, { timeout: 300 }), (error) => {
      assert.ok(error instanceof GlassformerError);
      assert.equal(error.code, 'timeout');
      assert.equal(error.message, `${error.url}: no byte arrived for 300 ms`);
      assert.ok(error.url.startsWith(`${server.url}/`));
      return true;
    });
    await whenClosed; // the download also ends
  });
  await Promise.all(attempts);
  await assertLoads((await serve(folder)).url, { timeout: 2 ** 31 - 1 });
});

test('a server that never ends', waiting, async () => {
  const endless = (response) => {
    const write = () => {
      while (response.write(Buffer.alloc(1 << 16, ' ')));
    };
    response.on('drain', write);
    write();
  };
  for (const [file, code, limit] of [
    ['config.json', 'invalid_config', '1048576'],
    ['manifest.json', 'invalid_manifest', '1048576'],
    ['tokenizer.model', 'invalid_tokenizer', '33554432'],
  ]) {
    const server = await serve(folder, { [`/${file}`]: endless });
    const message = new RegExp(`${file}: expected at most ${limit} bytes, got more`);
    await assertError(() => Classifier.load(server.url), code, message);
  }
});

test('a few compressed bytes that expand to many', async () => {
  const body = gzipSync(Buffer.alloc(1 << 26, ' '));
  const server = await serve(folder, {
    '/config.json': (response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(body),
  });
  await assertError(() => Classifier.load(server.url), 'invalid_config', /at most 1048576 bytes/);
});

test('compressed weights that are too short or too long', async () => {
  const whole = readFileSync(join(folder, 'model.safetensors'));
  for (const [bytes, message] of [
    [whole.subarray(0, 5), /expected at least 8 bytes, got 5/],
    [whole.subarray(0, 100), /header: expected \d+ bytes, got 92/],
    [whole.subarray(0, -1), /ends inside tensor \S+, after \d+ of \d+ bytes/],
    [Buffer.concat([whole, Buffer.alloc(1)]), /more than the \d+ bytes of data/],
  ]) {
    const server = await serve(folder, {
      '/model.safetensors': (response) =>
        response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(bytes)),
    });
    await assertError(() => Classifier.load(server.url), 'invalid_safetensors', message);
  }
});

test('a port without a server', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  await assertError(() => Classifier.load(`http://127.0.0.1:${port}`), 'fetch_failed');
});

test('an abort during each file', waiting, async () => {
  for (const file of modelFiles) {
    const controller = new AbortController();
    let closed;
    const whenClosed = new Promise((resolve) => (closed = resolve));
    const server = await serve(folder, {
      [`/${file}`](response, request) {
        request.socket.on('close', closed);
        response.writeHead(200, { 'content-length': 1000 });
        response.write('{', () => controller.abort(new Error('changed my mind')));
      },
    });
    const loading = Classifier.load(server.url, { signal: controller.signal });
    await assert.rejects(loading, (error) => {
      assert.ok(error instanceof GlassformerError);
      assert.equal(error.code, 'aborted');
      assert.equal(error.cause.message, 'changed my mind');
      return true;
    });
    await whenClosed; // the download also stops
  }
  await assertLoads(folder);
});

test('an abort before loading, and one between tensors', async () => {
  const before = AbortSignal.abort();
  await assertError(() => Classifier.load(folder, { signal: before }), 'aborted');
  const controller = new AbortController();
  const onProgress = ({ file }) => file === 'model.safetensors' && controller.abort();
  const { signal } = controller;
  await assertError(() => Classifier.load(folder, { signal, onProgress }), 'aborted');
  // An abort after loading has no effect.
  const later = new AbortController();
  const classifier = await load(folder, { signal: later.signal });
  later.abort();
  assert.deepEqual(await classifier.classify(text), expected);
});

test('Node has no cache', async () => {
  const { url } = await serve(folder);
  await assertError(
    () => Classifier.load(url, { cache: true }),
    'unsupported_runtime',
    /Cache API/,
  );
  await clearCache(url);
  await clearCache();
});

test('loading options are checked', async () => {
  for (const [options, message] of [
    [{ progress: 1 }, /load: unknown option "progress".*onProgress/],
    [{ compute: 'f16' }, /compute/],
    [{ compute: 8 }, /compute/],
    [{ binary: 'scalar' }, /binary/],
    [{ signal: 1 }, /signal/],
    [{ signal: {} }, /signal/],
    [{ onProgress: true }, /onProgress/],
    [{ cache: 1 }, /cache: expected true or false/],
    [{ cache: true }, /cache: expected a model at an HTTP URL/],
    [{ timeout: 0 }, /timeout: expected milliseconds from 1 to 2147483647/],
    [{ timeout: 2 ** 31 }, /timeout/],
    [{ timeout: NaN }, /timeout/],
    [{ timeout: '100' }, /timeout/],
    [{ urls: { 'config.json': 1 } }, /urls\["config\.json"\]/],
    [{ urls: 'x' }, /urls: expected an object/],
    [{ hubUrl: 1 }, /hubUrl: expected a URL/],
    [{ urls: { 'config.json': 'http://[' } }, /not a URL/],
    ['f32', /load: expected an object/],
    [null, /load: expected an object/],
  ]) {
    await assertError(() => Classifier.load(folder, options), 'invalid_option', message);
  }
  for (const source of [undefined, null, 7, [], { 'model.bin': new Uint8Array() }]) {
    await assert.rejects(Classifier.load(source), GlassformerError);
  }
  const files = { ...readModel('pre_norm_mean'), 'config.json': '{}' };
  await assertError(() => Classifier.load(files), 'invalid_option', /config\.json/);
});
