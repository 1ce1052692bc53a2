// Which binary runs where, and what a binary wants from its runtime.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { Worker as Thread } from 'node:worker_threads';
import { Classifier, assertError, dist, goldenFolder, load } from './helpers.mjs';

const folder = goldenFolder('pre_norm_mean');
const files = { simd: 'glassformer.wasm', relaxed: 'glassformer.relaxed.wasm' };

for (const [binary, file] of Object.entries(files)) {
  test(`${binary}: asks for nothing but to be told when its memory grows`, () => {
    const module = new WebAssembly.Module(readFileSync(join(dist, file)));
    const imports = WebAssembly.Module.imports(module).map(
      ({ module: from, name, kind }) => `${kind} ${from}.${name}`,
    );
    assert.deepEqual(imports, ['function env.emscripten_notify_memory_growth']);
  });
}

test('the best binary that this Node can run is chosen', () => {
  const script = `
    import { readFileSync } from 'node:fs';
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

test("Node's own workers, made global by some packages, are not taken for web workers", async () => {
  globalThis.Worker = Thread;
  try {
    const classifier = await Classifier.load(folder);
    assert.ok((await classifier.classify('a film')).score > 0);
    classifier.dispose();
  } finally {
    delete globalThis.Worker;
  }
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
  WebAssembly.validate.mock.mockImplementation(() => false);
  await assertError(() => Classifier.load(folder), 'unsupported_runtime', /SIMD/);
});
