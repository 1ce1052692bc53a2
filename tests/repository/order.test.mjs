// Functions may be stored in another order; the module must still do the same.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { root } from '../../tools/build.mjs';
import { Trainer, goldenFolder, openAny, readGolden } from '../package/support/helpers.mjs';
import { binaryen, functionBodies, withOrder } from '../../tools/order.mjs';

const dist = join(root, 'dist');
const binaries = readdirSync(dist).filter((name) => name.endsWith('.wasm'));

function assemble(text) {
  const folder = mkdtempSync(join(tmpdir(), 'order-test-'));
  try {
    writeFileSync(join(folder, 'in.wat'), text);
    const features = ['threads', 'bulk-memory', 'reference-types'].map(
      (each) => `--enable-${each}`,
    );
    const files = [join(folder, 'in.wat'), '-o', join(folder, 'out.wasm')];
    execFileSync(join(binaryen, 'wasm-as'), [...features, ...files]);
    return readFileSync(join(folder, 'out.wasm'));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

// One calls two, two calls the import, three calls one through the table.
const example = assemble(`(module
  (type $getter (func (result i32)))
  (import "env" "add" (func $add (param i32 i32) (result i32)))
  (table 4 funcref)
  (elem (i32.const 1) $one $two $three)
  (func $one (export "one") (result i32) (call $two))
  (func $two (result i32) (call $add (i32.const 40) (i32.const 2)))
  (func $three (export "three") (result i32)
    (call_indirect (type $getter) (i32.const 1)))
)`);

// A module as it is built for threads: an imported shared memory, atomic instructions, a passive
// segment of data, a start function, a function in a global.
const threaded = assemble(`(module
  (import "env" "memory" (memory 1 2 shared))
  (data $bytes "\\2a\\00\\00\\00")
  (table 2 funcref)
  (elem (i32.const 0) $copy $count)
  (global $entry (export "entry") (mut funcref) (ref.func $count))
  (start $copy)
  (func $copy (memory.init $bytes (i32.const 0) (i32.const 0) (i32.const 4)))
  (func $count (export "count") (result i32)
    (i32.atomic.rmw.add (i32.const 0) (i32.const 1)))
  (func $wake (export "wake") (result i32)
    (memory.atomic.notify (i32.const 0) (i32.const 1)))
)`);

const orders = [
  [0, 1, 2],
  [2, 1, 0],
  [1, 2, 0],
];

function results(binary) {
  const instance = new WebAssembly.Instance(new WebAssembly.Module(binary), {
    env: { add: (a, b) => a + b },
  });
  return [instance.exports.one(), instance.exports.three()];
}

test('calls, exports and tables find their functions in every order', () => {
  assert.deepEqual(results(example), [42, 42]);
  const lengths = functionBodies(example).map((body) => body.length);
  assert.equal(new Set(lengths).size, 3);
  for (const order of orders) {
    const changed = withOrder(example, order);
    assert.deepEqual(results(changed), [42, 42]);
    assert.deepEqual(
      functionBodies(changed).map((body) => body.length),
      order.map((index) => lengths[index]),
    );
  }
});

test('a module with shared memory and atomic instructions works in every order', () => {
  for (const order of orders) {
    const memory = new WebAssembly.Memory({ initial: 1, maximum: 2, shared: true });
    const module = new WebAssembly.Module(withOrder(threaded, order));
    const first = new WebAssembly.Instance(module, { env: { memory } }).exports;
    assert.equal(first.count(), 42);
    assert.equal(first.entry.value(), 43);
    assert.equal(first.wake(), 0);
    assert.equal(new Int32Array(memory.buffer)[0], 44);
  }
});

test('a binary that ends too early is refused', () => {
  assert.throws(() => functionBodies(example.subarray(0, -1)), /ends too early/);
});

for (const name of binaries) {
  test(`${name} gives the same answers with its functions in reverse`, async () => {
    const binary = readFileSync(join(dist, name));
    const order = [...functionBodies(binary).keys()];
    assert.ok(order.length > 100);
    const reversed = withOrder(binary, order.reverse());
    assert.equal(functionBodies(reversed).length, order.length);
    const answer = async (module) => {
      const classifier = await openAny(goldenFolder('pre_norm_mean'), { module });
      const text = readGolden('pre_norm_mean').texts[0];
      const answers = [await classifier.classify(text, { attention: true })];
      if (name.includes('.read')) return answers;
      const golden = 'translate_pre_norm_shared';
      const translator = await openAny(goldenFolder(golden), { module });
      answers.push(await translator.translate(readGolden(golden).texts[0], { attention: true }));
      if (name.includes('.threads')) return answers;
      const examples = ['good\ta fine film', 'bad\ta dull film'].join('\n');
      const start = { encoder_layers: 1, d_model: 16, d_ff: 32, n_heads: 2 };
      const trainer = await Trainer.from(start, examples, { module, heldOut: 0 });
      for await (const { loss } of trainer.train({ epochs: 3 })) answers.push(loss);
      return answers;
    };
    assert.deepEqual(await answer(reversed), await answer(binary));
  });
}
