// The choice of the binary, and a binary's requirements.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { Worker as Thread } from 'node:worker_threads';
import { Classifier, assertError, dist, goldenFolder, load } from '../support/helpers.mjs';

const folder = goldenFolder('pre_norm_mean');
const files = { simd: 'glassformer.wasm', relaxed: 'glassformer.relaxed.wasm' };

for (const file of readdirSync(dist).filter((name) => name.endsWith('.wasm'))) {
  test(`${file}: only imports shared memory, or a function that is called when memory grows`, () => {
    const module = new WebAssembly.Module(readFileSync(join(dist, file)));
    const imports = WebAssembly.Module.imports(module).map(
      ({ module: from, name, kind }) => `${kind} ${from}.${name}`,
    );
    const shared = file.includes('threads');
    const only = shared ? 'memory env.memory' : 'function env.emscripten_notify_memory_growth';
    assert.deepEqual(imports, [only]);
  });
}

test('the best binary for this Node is chosen', () => {
  const script = `
    import { readFileSync, readdirSync } from 'node:fs';
    import { Classifier } from './dist/index.js';
    const classifier = await Classifier.load(${JSON.stringify(folder)});
    const relaxed = WebAssembly.validate(readFileSync('dist/glassformer.relaxed.wasm'));
    console.log(classifier.info.binary, relaxed ? 'relaxed' : 'simd');`;
  const choose = (...flags) => {
    const args = [...flags, '--input-type=module', '--eval', script];
    const output = execFileSync(process.execPath, args, { cwd: join(dist, '..') });
    return output.toString().trim().split(' ');
  };
  const [chosen, best] = choose();
  assert.equal(chosen, best);
  if (best === 'simd') {
    assert.deepEqual(choose('--experimental-wasm-relaxed-simd'), ['relaxed', 'relaxed']);
  }
});

test("Node's workers, which some packages make global, are not used as web workers", async () => {
  globalThis.Worker = Thread;
  try {
    const classifier = await load(folder);
    assert.ok((await classifier.classify('a film')).score > 0);
  } finally {
    delete globalThis.Worker;
  }
});

for (const [binary, file] of Object.entries(files)) {
  test(`${binary}: a given module, compiled and as bytes`, async () => {
    const bytes = readFileSync(join(dist, file));
    for (const module of [bytes, new Uint8Array(bytes).buffer, new WebAssembly.Module(bytes)]) {
      for (const worker of [false, true]) {
        assert.equal((await load(folder, { module, worker })).info.binary, binary);
      }
    }
  });
}

test('an invalid module', async () => {
  const empty = Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0);
  const bytes = readFileSync(join(dist, files.simd));
  const cases = [
    [{ module: empty }, 'invalid_option', /module: expected the binary/],
    [{ module: bytes.subarray(0, 1000) }, 'unsupported_runtime', /module does not compile/],
    [{ module: 'glassformer.wasm' }, 'invalid_option', /^module: expected/],
    [{ module: bytes, binary: 'simd' }, 'invalid_option', /^binary: expected nothing/],
  ];
  for (const [options, code, message] of cases) {
    await assertError(() => Classifier.load(folder, options), code, message);
  }
});

test('importing never throws: loading a model reports missing features', () => {
  for (const entry of ['index.js', 'inline.js']) {
    const script = `
      for (const name of ['TextEncoder', 'TextDecoder', 'Worker', 'WebAssembly', 'fetch'])
        delete globalThis[name];
      const { Classifier } = await import('./dist/${entry}');
      const error = await Classifier.load('nowhere').catch((error) => error);
      console.log(error.code, error.message);`;
    const args = ['--input-type=module', '--eval', script];
    const output = execFileSync(process.execPath, args, { cwd: join(dist, '..') });
    assert.match(output.toString(), /^unsupported_runtime This runtime has no WebAssembly/, entry);
  }
});

test('a compiled module works in runtimes that forbid compiling', async (t) => {
  const module = new WebAssembly.Module(readFileSync(join(dist, files.simd)));
  const forbidden = () => {
    throw new WebAssembly.CompileError('Wasm code generation disallowed by embedder');
  };
  t.mock.method(WebAssembly, 'compile', forbidden);
  t.mock.method(WebAssembly, 'compileStreaming', forbidden);
  const urls = { 'glassformer.wasm': pathToFileURL(join(dist, files.simd)) + '?other' };
  const load = (options) => Classifier.load(folder, options);
  await assertError(() => load({ urls }), 'unsupported_runtime', /option module/);
  (await load({ module })).dispose();
});

test('without relaxed SIMD, and without SIMD', async (t) => {
  const { validate } = WebAssembly;
  const relaxedMadd = [0xfd, 0x85, 0x02].join();
  t.mock.method(WebAssembly, 'validate', (bytes) => {
    return !bytes.join().includes(relaxedMadd) && validate(bytes);
  });
  assert.equal((await load(folder)).info.binary, 'simd');
  const wanted = () => Classifier.load(folder, { binary: 'relaxed' });
  await assertError(wanted, 'unsupported_runtime', /relaxed/);
  // SIMD without exceptions, and neither.
  const tryCatchAll = '6,64,25,11';
  WebAssembly.validate.mock.mockImplementation((bytes) => {
    return !bytes.join().includes(tryCatchAll) && validate(bytes);
  });
  await assertError(() => Classifier.load(folder), 'unsupported_runtime', /exceptions/);
  WebAssembly.validate.mock.mockImplementation(() => false);
  await assertError(() => Classifier.load(folder), 'unsupported_runtime', /SIMD/);
});
