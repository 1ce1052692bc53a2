// Code that the package tests share. They use dist/, like a user of the package.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { after } from 'node:test';
import { fileURLToPath } from 'node:url';
import v8 from 'node:v8';
import vm from 'node:vm';
import { command } from '../../native_build.mjs';

// Node 20 has relaxed SIMD behind a flag; later releases have it on.
if (Number(process.versions.node.split('.')[0]) < 21) {
  v8.setFlagsFromString('--experimental-wasm-relaxed-simd');
}

// The binaries with one thread; threads.test.mjs tests those with several.
process.env.GLASSFORMER_THREADS ??= '1';

// The library that the add-on's sanitizers need; programs that tests start have their own.
delete process.env.LD_PRELOAD;

v8.setFlagsFromString('--expose-gc');
export const collectGarbage = vm.runInNewContext('gc');

export const root = fileURLToPath(new URL('../../../', import.meta.url));
/** The package. The tests of the add-on for Node set a copy that has the add-on beside it. */
export const dist = process.env.GLASSFORMER_DIST ?? join(root, 'dist');
/** Returns the script of a package that stands on this one. */
export const companion = (name) => {
  const packages = process.env.GLASSFORMER_DIST
    ? join(dist, '../../@glassformer')
    : join(root, 'build/packages');
  return join(packages, name, `${name}.js`);
};
export const {
  AttentionMap,
  Classifier,
  Embedder,
  Generator,
  GlassformerError,
  ImageClassifier,
  MaskFiller,
  QuestionAnswerer,
  Summarizer,
  TokenClassifier,
  DictionaryTrainer,
  Trainer,
  Translator,
  ZeroShotImageClassifier,
  clearCache,
  load: openAny,
  rank,
  readPicture,
  zeroShot,
} = await import(join(dist, 'index.js'));

/**
 * Both binaries, or only the add-on, which is none. A Node without relaxed SIMD fails the tests, so
 * that none is skipped silently.
 */
export const binaries = process.env.GLASSFORMER_DIST ? [undefined] : ['simd', 'relaxed'];

/** Both binaries in every arithmetic. */
export const builds = binaries.flatMap((binary) =>
  ['f32', 'int8', 'int4'].map((compute) => [binary, compute]),
);

/** The options of tests that wait for an event: they fail if it does not come. */
export const waiting = { timeout: 120_000 };

const goldenRoot = join(root, 'tests/fixtures/golden');
const isTranslation = (name) => name.startsWith('translate_');
export const goldenNames = readdirSync(goldenRoot)
  .filter((name) => !isTranslation(name))
  .sort();
export const translationGoldenNames = readdirSync(goldenRoot).filter(isTranslation).sort();
export const modelFiles = ['config.json', 'model.safetensors', 'tokenizer.model'];

/** Returns the folder of a golden model. */
export function goldenFolder(name) {
  return join(goldenRoot, name);
}

/** Returns PyTorch's results for a golden model: golden.json, and its tensors by name. */
export function readGolden(name) {
  const golden = JSON.parse(readFileSync(join(goldenFolder(name), 'golden.json'), 'utf8'));
  return { ...golden, tensors: readSafetensors(join(goldenFolder(name), 'golden.safetensors')) };
}

/** Tells whether a golden translator's decoder has self-attention and not a recurrent unit. */
export function hasSelfAttention(name) {
  const config = JSON.parse(readFileSync(join(goldenFolder(name), 'config.json'), 'utf8'));
  return config.decoder_attention !== 'recurrent';
}

/** Returns every tensor of a golden model for one text: { text: its index, tensors }. */
export function readTrace(name) {
  const entries = Object.entries(
    readSafetensors(join(goldenFolder(name), 'golden.trace.safetensors')),
  ).map(([key, tensor]) => [...key.split('/'), tensor]);
  return {
    text: Number(entries[0][0]),
    tensors: Object.fromEntries(entries.map(([, tensor, values]) => [tensor, values])),
  };
}

/** Returns the bytes of a golden model's files, which tests can damage and pass to load. */
export function readModel(name) {
  const folder = goldenFolder(name);
  const files = readdirSync(folder).filter((file) => !file.startsWith('golden.'));
  return Object.fromEntries(
    files.map((file) => [file, new Uint8Array(readFileSync(join(folder, file)))]),
  );
}

/** Makes a model of random weights until the test file ends. Returns its folder. */
export function randomModel(config, tokenizer, seed = 1) {
  const folder = mkdtempSync(join(tmpdir(), 'glassformer-model-'));
  after(() => rmSync(folder, { recursive: true }));
  const shape = join(folder, 'shape.json');
  writeFileSync(shape, JSON.stringify(config));
  execFileSync(command, ['init', shape, join(folder, 'model'), '--seed', String(seed)]);
  copyFileSync(tokenizer, join(folder, 'model/tokenizer.model'));
  return join(folder, 'model');
}

/** Returns a shortlist.bin in which every source token offers exactly these target tokens. */
export function shortlistFile(sourceVocabSize, offered) {
  const words = [0n, BigInt(offered.length), BigInt(sourceVocabSize + 1)];
  words.push(BigInt(sourceVocabSize * offered.length));
  for (let i = 0; i <= sourceVocabSize; ++i) words.push(BigInt(i * offered.length));
  const ids = Uint32Array.from({ length: sourceVocabSize * offered.length }, (_, i) => {
    return offered[i % offered.length];
  });
  const body = Buffer.concat([
    Buffer.from(BigUint64Array.from(words).buffer),
    Buffer.from(ids.buffer),
  ]);
  let checksum = 0n;
  for (let at = 0; at + 8 <= body.length; at += 8) {
    const word = body.readBigUInt64LE(at);
    checksum ^= BigInt.asUintN(64, word + 0x9e3779b9n + (checksum << 6n) + (checksum >> 2n));
  }
  const head = Buffer.from(BigUint64Array.of(0xf11a48d5013417f5n, checksum).buffer);
  return new Uint8Array(Buffer.concat([head, body]));
}

export function splitSafetensors(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const end = 8 + Number(view.getBigUint64(0, true));
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(8, end)));
  return { header, data: bytes.subarray(end) };
}

export function joinSafetensors({ header, data }) {
  const json = new TextEncoder().encode(
    typeof header === 'string' ? header : JSON.stringify(header),
  );
  const bytes = new Uint8Array(8 + json.length + data.length);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(json.length), true);
  bytes.set(json, 8);
  bytes.set(data, 8 + json.length);
  return bytes;
}

/** Returns the F32 tensors of a file by name. */
export function readSafetensors(path) {
  const { header, data } = splitSafetensors(new Uint8Array(readFileSync(path)));
  const tensors = {};
  for (const [name, entry] of Object.entries(header)) {
    if (name === '__metadata__') continue;
    assert.equal(entry.dtype, 'F32');
    const bytes = data.slice(...entry.data_offsets);
    tensors[name] = { shape: entry.shape, data: new Float32Array(bytes.buffer) };
  }
  return tensors;
}

/** Loads a model and disposes of it when the test file ends. */
export async function load(folder, options, Model = Classifier) {
  const model = await Model.load(folder, options);
  after(() => model.dispose());
  return model;
}

export function loadTranslator(folder, options) {
  return load(folder, options, Translator);
}

/** Asserts that `action` rejects with a GlassformerError of this code and message. */
export async function assertError(action, code, message = /./) {
  await assert.rejects(action, (error) => {
    assert.ok(error instanceof GlassformerError, `not a GlassformerError: ${error?.stack}`);
    assert.equal(error.code, code, error.message);
    assert.match(error.message, message);
    return true;
  });
}

export function assertNear(actual, expected, tolerance, what) {
  assert.equal(actual.length, expected.length, `${what}: length`);
  for (let i = 0; i < expected.length; i++) {
    const error = Math.abs(actual[i] - expected[i]);
    if (error <= tolerance) continue;
    assert.fail(`${what}[${i}]: ${actual[i]}, expected ${expected[i]} ± ${tolerance}`);
  }
}

/** Returns a result as plain data, without the class of its attention weights, for comparison. */
export function plain(value) {
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, plain(field)]));
}

/** Returns the memories of all instances that are created while `work` runs. */
export async function memoriesOf(work) {
  const { instantiate } = WebAssembly;
  const memories = [];
  WebAssembly.instantiate = async (...args) => {
    const instance = await instantiate(...args);
    memories.push(new WeakRef(instance.exports.memory));
    return instance;
  };
  try {
    await work();
  } finally {
    WebAssembly.instantiate = instantiate;
  }
  return memories;
}

/** Asserts that these memories are no longer referenced. */
export async function assertFreed(memories) {
  assert.ok(memories.length > 0);
  // An aborted download and code that is still being compiled hold them for a while.
  for (let i = 0; i < 500 && memories.some((memory) => memory.deref()); i++) {
    await new Promise((resolve) => setTimeout(resolve, i));
    collectGarbage();
  }
  assert.equal(memories.filter((memory) => memory.deref()).length, 0, 'memories still held');
}

/** Content types by file extension. */
export const types = {
  '.css': 'text/css',
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.json': 'application/json',
  '.wasm': 'application/wasm',
};

/**
 * Serves files on a loopback port until the test file ends. `routes` maps paths to handlers
 * `(response, request)` and takes precedence over the folder.
 */
export async function serve(folder, routes = {}) {
  const requests = [];
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url, 'http://localhost');
    requests.push(request.url);
    if (routes[pathname]) {
      routes[pathname](response, request);
      return;
    }
    try {
      const body = readFileSync(join(folder, pathname));
      response.writeHead(200, {
        'content-type': types[extname(pathname)] ?? 'application/octet-stream',
        'content-length': body.length,
      });
      response.end(body);
    } catch {
      response.writeHead(404, { 'content-type': 'text/html' });
      response.end('<p>not here</p>');
    }
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${server.address().port}`, requests };
}
