// The functions of the engine, which stand in wasm/functions.hpp: TypeScript's types and the table of
// the add-on for Node have the same, with as many arguments.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { root } from '../../tools/build.mjs';

const read = (file) => readFileSync(join(root, file), 'utf8');

/** Returns the number of arguments of each function that a pattern finds. */
const found = (text, pattern) =>
  new Map(
    [...text.matchAll(pattern)].map(([, name, list]) => [
      name,
      list.split(',').filter((part) => part.trim()).length,
    ]),
  );

const declared = found(read('wasm/functions.hpp'), /\b(gf_\w+)\(([^)]*)\);/g);

test('types of TypeScript', () => {
  assert.ok(declared.size > 30);
  const [, engine] = /interface Functions [^]*?\{\n([^]*?)\n\}/.exec(
    read('wasm/src/engine/engine.ts'),
  );
  const own = found(
    `${engine}\n${read('wasm/src/engine/threads.ts')}`,
    /\b(gf_\w+)\??\(([^)]*)\):/g,
  );
  for (const name of ['gf_thread', 'gf_thread_lost']) own.delete(name); // of the binary with threads
  assert.deepEqual([...own].sort(), [...declared].sort());
});

test('the table of the add-on', () => {
  const names = [...read('wasm/native/addon.cpp').matchAll(/^ {4}\{"(gf_\w+)",/gm)].map(
    ([, name]) => name,
  );
  const expected = [...declared.keys()].filter((name) => name !== 'gf_relaxed_simd');
  assert.deepEqual(names.sort(), expected.sort());
});
