// When the add-on is used, its life cycle, and what happens if it is missing or does not fit.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { Worker as Thread } from 'node:worker_threads';
import {
  Classifier,
  Generator,
  assertError,
  collectGarbage,
  dist,
  load,
  plain,
  randomModel,
  root,
  waiting,
} from '../package/support/helpers.mjs';

const sentiment = join(root, 'weights/sentiment');
const writer = join(root, 'weights/writer');
const modules = join(dist, '../..');
const text = 'A gripping, beautifully shot film.';
const endless = Array(4000).fill(text);

const info = async (options) => {
  const { backend, binary } = (await load(sentiment, options)).info;
  return { backend, binary };
};

test('it is used unless WebAssembly is asked for', async () => {
  const wasm = { backend: 'wasm', binary: 'relaxed' };
  const native = { backend: 'native', binary: undefined };
  assert.deepEqual(await info(), native);
  assert.deepEqual(await info({ worker: true }), native);
  assert.deepEqual(await info({ backend: 'native' }), native);
  assert.deepEqual(await info({ backend: 'native', binary: 'simd' }), native);
  assert.deepEqual(await info({ backend: 'wasm' }), wasm);
  assert.deepEqual(await info({ backend: 'wasm', worker: true }), wasm);
  assert.deepEqual(await info({ binary: 'simd' }), { backend: 'wasm', binary: 'simd' });
  const module = readFileSync(join(dist, 'glassformer.read.wasm'));
  assert.deepEqual(await info({ module }), { backend: 'wasm', binary: 'simd' });
  await assertError(() => load(sentiment, { backend: 'gpu' }), 'invalid_option', /"native" or/);
});

test('a variable of the environment switches it off', async () => {
  after(() => delete process.env.GLASSFORMER_BACKEND);
  process.env.GLASSFORMER_BACKEND = 'wasm';
  assert.equal((await info()).backend, 'wasm');
  assert.equal((await info({ backend: 'native' })).backend, 'native');
});

test('glassformer/inline searches in the folder of the program', async () => {
  const inline = await import(join(dist, 'inline.js'));
  const before = process.cwd();
  const backend = async (folder, options) => {
    process.chdir(folder);
    try {
      const model = await inline.load(sentiment, options);
      model.dispose();
      return model.info.backend;
    } finally {
      process.chdir(before);
    }
  };
  assert.equal(await backend(join(modules, '..')), 'native');
  assert.equal(await backend(join(modules, '..'), { worker: true }), 'native');
  assert.equal(await backend(tmpdir()), 'wasm');
});

/** Copies the packages, for a test to change. Returns the folder of glassformer's script. */
function copied() {
  const folder = mkdtempSync(join(tmpdir(), 'glassformer-addon-'));
  after(() => rmSync(folder, { recursive: true }));
  cpSync(modules, join(folder, 'node_modules'), { recursive: true });
  return join(folder, 'node_modules');
}

/** Runs a script with another copy of the packages. Returns what it prints. */
function run(packages, options) {
  const script = `
    const { load } = await import(${JSON.stringify(
      pathToFileURL(join(packages, 'glassformer/dist/index.js')),
    )});
    try {
      const model = await load(${JSON.stringify(sentiment)}, ${JSON.stringify(options)});
      console.log(model.info.backend);
      model.dispose();
    } catch ({ name, code, message }) {
      console.log(name, code, message);
    }`;
  const out = execFileSync(process.execPath, ['--input-type=module', '--eval', script]);
  return out.toString().trim();
}

test('without the package, models run as WebAssembly', () => {
  const packages = copied();
  rmSync(join(packages, '@glassformer'), { recursive: true });
  assert.equal(run(packages, {}), 'wasm');
  assert.equal(run(packages, { worker: true }), 'wasm');
  const missing = /^GlassformerError unsupported_runtime @glassformer\/native is not installed$/;
  assert.match(run(packages, { backend: 'native' }), missing);
});

test('a package of another version is an error, never a guess', () => {
  const packages = copied();
  const file = join(packages, '@glassformer/native/package.json');
  const manifest = JSON.parse(readFileSync(file, 'utf8'));
  writeFileSync(file, JSON.stringify({ ...manifest, version: '0.0.1' }));
  const refused = /^GlassformerError unsupported_runtime @glassformer\/native 0\.0\.1: .* 'wasm'/;
  for (const worker of [false, true]) assert.match(run(packages, { worker }), refused);
  assert.equal(run(packages, { backend: 'wasm' }), 'wasm');
});

test('a binary that does not load is an error', () => {
  const packages = copied();
  writeFileSync(join(packages, '@glassformer/native/glassformer.node'), 'not a library');
  assert.match(
    run(packages, {}),
    /^GlassformerError unsupported_runtime @glassformer\/native .*'wasm'/,
  );
});

test('its version is that of the package', () => {
  const version = (file) => JSON.parse(readFileSync(join(root, file), 'utf8')).version;
  assert.equal(version('wasm/native/package.json'), version('package.json'));
});

test('models in several threads give the same answers', waiting, async () => {
  const expected = await (await load(sentiment)).classify(text, { attention: true });
  const models = await Promise.all(
    Array.from({ length: 4 }, () => Classifier.load(sentiment, { worker: true })),
  );
  const results = await Promise.all(
    models.map((model) => model.classify(text, { attention: true })),
  );
  for (const { score, attention } of results) {
    assert.equal(score, expected.score);
    assert.deepEqual(attention.encoder.data, expected.attention.encoder.data);
  }
  for (const model of models) model.dispose();
});

test('threads that end during a call, and those that end without disposal', waiting, async () => {
  for (let i = 0; i < 3; i++) {
    const model = await Classifier.load(sentiment, { worker: true });
    const call = model.classifyBatch(endless);
    setTimeout(() => model.dispose(), 20);
    await assertError(() => call, 'disposed');
  }
  // The thread's own model, which is left to the end of the thread.
  const script = `
    const { Classifier } = await import(${JSON.stringify(pathToFileURL(join(dist, 'index.js')))});
    const model = await Classifier.load(${JSON.stringify(sentiment)});
    const { label } = await model.classify('Lovely.');
    const { parentPort } = process.getBuiltinModule('node:worker_threads');
    parentPort.postMessage(model.info.backend + ' ' + label);`;
  const url = new URL(`data:text/javascript,${encodeURIComponent(script)}`);
  for (let i = 0; i < 3; i++) {
    const thread = new Thread(url);
    const messages = [];
    thread.on('message', (message) => messages.push(message));
    const status = await new Promise((resolve, reject) => {
      thread.on('exit', resolve).on('error', reject);
    });
    assert.deepEqual([status, messages], [0, ['native positive']]);
  }
});

test('an abort stops a text that is being written', waiting, async () => {
  for (const worker of [false, true]) {
    const model = await load(writer, { worker }, Generator);
    const controller = new AbortController();
    let tokens = 0;
    const stream = async () => {
      const options = { maxNewTokens: 400, signal: controller.signal };
      for await (const step of model.stream('Once upon a time', options)) {
        if (step.done) break;
        if (++tokens === 5) controller.abort();
      }
    };
    await assertError(stream, 'aborted');
    assert.equal(tokens, 5);
    assert.ok((await model.generate('One day', { maxNewTokens: 4 })).text.length > 0);
  }
});

// AddressSanitizer keeps up to 256 MB that were freed.
for (const [name, end] of [
  ['dispose frees a model', (model) => model.dispose()],
  ['a model that is dropped is collected', collectGarbage],
]) {
  test(name, { timeout: 120_000 }, async () => {
    const config = JSON.parse(readFileSync(join(sentiment, 'config.json'), 'utf8'));
    const larger = { ...config, d_model: 256, d_ff: 1024, n_heads: 8, encoder_layers: 12 };
    const folder = randomModel(larger, join(sentiment, 'tokenizer.model'));
    const { size } = statSync(join(folder, 'model.safetensors'));
    assert.ok(size > 30e6);
    const before = process.memoryUsage().rss;
    for (let i = 0; i < 20; i++) {
      const model = await Classifier.load(folder);
      await model.classify(text);
      end(model);
      await new Promise((resolve) => setImmediate(resolve));
    }
    const grown = process.memoryUsage().rss - before;
    assert.ok(grown < 2 ** 28 + 4 * size, `${grown} bytes, for models of ${size}`);
  });
}

test('results outlive a model, and a disposed model refuses calls', async () => {
  const model = await Classifier.load(sentiment);
  const { label, attention } = await model.classify(text, { attention: true });
  const kept = attention.encoder.data.slice();
  model.dispose();
  model.dispose();
  await assertError(() => model.classify(text), 'disposed');
  assert.equal(label, 'positive');
  assert.deepEqual(attention.encoder.data, kept);
});

const require = process.getBuiltinModule('node:module').createRequire(`${modules}/`);
const addon = () => require('./@glassformer/native/glassformer.node');

test('the number of threads changes no bit', async () => {
  const loaded = require.cache[require.resolve('./@glassformer/native/glassformer.node')];
  const { open } = loaded.exports;
  let functions;
  after(() => (loaded.exports = { open }));
  loaded.exports = { open: (...options) => (functions = open(...options)) };
  const model = await load(writer, {}, Generator);
  const options = { maxNewTokens: 12, attention: true };
  const prompt = 'Once upon a time, there was a little girl. '.repeat(8);
  const expected = plain(await model.generate(prompt, options));
  for (const threads of [3, 2, 1]) {
    assert.equal(functions.gf_set_threads(threads), 0);
    assert.deepEqual(plain(await model.generate(prompt, options)), expected);
  }
  functions.gf_set_threads(4); // ended by dispose
  await model.generate(prompt, options);
});

test('the functions of a released model refuse calls, and wrong arguments are errors', () => {
  const { open } = addon();
  const model = open();
  assert.equal(model.gf_gradients(), 1);
  assert.throws(() => model.gf_alloc(), TypeError);
  assert.throws(() => model.gf_alloc('8'), TypeError);
  assert.throws(() => model.gf_alloc(-8), RangeError);
  assert.throws(() => model.write(0, [1]), TypeError);
  assert.throws(() => model.write(0, Float32Array.of(1)), TypeError);
  const address = model.gf_alloc(3);
  model.write(address, Uint8Array.of(1, 2, 3));
  assert.deepEqual(model.read(address, 3), Uint8Array.of(1, 2, 3));
  model.gf_free(address);
  model.gf_free(address); // known to be free
  assert.equal(model.gf_step(), 1); // no model is loaded
  model.gf_alloc(1000); // freed with the model
  model.release();
  model.release();
  assert.throws(() => model.gf_step(), /released/);
});
