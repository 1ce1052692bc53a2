// Reordering the functions of a binary must not change its behavior.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { root } from '../../wasm/toolchain/build.mjs';
import { functionBodies, withOrder } from '../../wasm/toolchain/order.mjs';

const dist = join(root, 'dist');
const binaries = readdirSync(dist).filter((name) => name.endsWith('.wasm'));

// (import "env" "add" (func)), then: one calls two, two calls the import, and three calls one
// through the table, which contains all three. Types: [] -> [i32] and [i32 i32] -> [i32].
function example({ inOne = [] } = {}) {
  const section = (id, ...bytes) => [id, bytes.length, ...bytes];
  const text = (value) => [value.length, ...Buffer.from(value)];
  const body = (...code) => [code.length + 2, 0, ...code, 0x0b];
  return Buffer.from([
    ...[0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(1, 2, 0x60, 0, 1, 0x7f, 0x60, 2, 0x7f, 0x7f, 1, 0x7f),
    ...section(2, 1, ...text('env'), ...text('add'), 0, 1),
    ...section(3, 3, 0, 0, 0),
    ...section(4, 1, 0x70, 0, 4),
    ...section(7, 2, ...text('one'), 0, 1, ...text('three'), 0, 3),
    ...section(9, 1, 0, 0x41, 1, 0x0b, 3, 1, 2, 3),
    ...section(
      10,
      3,
      ...body(...inOne, 0x10, 2),
      ...body(0x41, 40, 0x41, 2, 0x10, 0),
      ...body(0x41, 1, 0x11, 0, 0),
    ),
  ]);
}

function results(binary) {
  const instance = new WebAssembly.Instance(new WebAssembly.Module(binary), {
    env: { add: (a, b) => a + b },
  });
  return [instance.exports.one(), instance.exports.three()];
}

test('calls, exports and tables find their functions in every order', () => {
  assert.deepEqual(results(example()), [42, 42]);
  for (const order of [
    [0, 1, 2],
    [2, 1, 0],
    [1, 2, 0],
  ]) {
    const changed = withOrder(example(), order);
    assert.deepEqual(results(changed), [42, 42]);
    const moved = functionBodies(changed).map((body) => body.length);
    const lengths = functionBodies(example()).map((body) => body.length);
    assert.deepEqual(
      moved,
      order.map((index) => lengths[index]),
    );
  }
});

test('an unknown instruction is refused', () => {
  const unknown = example({ inOne: [0xc7] });
  assert.throws(() => withOrder(unknown, [0, 1, 2]), /unknown instruction 0xc7/);
});

test('a truncated binary is refused', () => {
  assert.throws(() => withOrder(example().subarray(0, -1), [0, 1, 2]), /ends too early/);
});

for (const name of binaries) {
  test(`${name} is read completely, and restoring the order restores its bytes`, () => {
    const binary = readFileSync(join(dist, name));
    const order = [...functionBodies(binary).keys()];
    assert.equal(Buffer.compare(withOrder(binary, order), binary), 0);
    const reversed = withOrder(binary, order.reverse());
    assert.notEqual(Buffer.compare(reversed, binary), 0);
    assert.equal(Buffer.compare(withOrder(reversed, order), binary), 0);
  });
}
