// Code for one instruction set must never replace code that runs on every machine. The linker keeps
// one copy of an inline function, so every definition in an object of src/kernels/isa.cpp must have
// the instruction set in its name.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { root, run } from '../../tools/build.mjs';

const objects = (isa) =>
  `build/test/CMakeFiles/glassformer_kernels_${isa}.dir/src/kernels/isa.cpp.o`;
const onX64 = ['baseline', 'avx2', 'avx512', 'avx512vnni'];
const present = onX64.filter((isa) => existsSync(join(root, objects(isa))));

test('kernels were compiled for this machine', () => {
  assert.ok(present.includes('baseline'));
  if (process.arch === 'x64') assert.deepEqual(present, onX64);
});

for (const isa of present) {
  test(`the ${isa} object has no definition with a shared name`, async () => {
    const lines = (await run('nm', ['-C', '--defined-only', objects(isa)])).split('\n');
    const symbols = lines.map((line) => line.match(/^[0-9a-f]+ ([A-Za-z]) (.*)$/)).filter(Boolean);
    assert.ok(symbols.length > 0);
    // Lower-case kinds are local to the object, except u (unique) and the weak v and w.
    const shared = symbols.filter(([, kind]) => /[A-Zuvw]/.test(kind)).map((match) => match[2]);
    const avx512 = /\bavx512\w*\b/;
    const tags = {
      baseline: /\bsse2\b|\bneon64\b/,
      avx2: /\bavx2\b/,
      avx512,
      avx512vnni: avx512,
    };
    const own = new RegExp(`^(.*\\b)?glassformer::${isa}::`);
    // The pointer to the exception handler is not code.
    const wrong = shared.filter(
      (name) =>
        !own.test(name) &&
        name !== 'DW.ref.__gxx_personality_v0' &&
        !/^__(_asan_globals_registered$|odr_asan_gen_)/.test(name) && // numbers of AddressSanitizer
        !(/^(.* )?xsimd::/.test(name) && tags[isa].test(name)),
    );
    assert.deepEqual(wrong, []);
  });
}

// Engines without relaxed SIMD refuse binaries with a relaxed instruction.
const emscripten = join(root, '.toolchain/emscripten/em-config.py');
const binaryen = (await run('python3', [emscripten, 'BINARYEN_ROOT'])).trim();
for (const part of ['', '.read', '.threads']) {
  const name = `glassformer${part}`;
  test(`${name}.wasm has no relaxed instruction, ${name}.relaxed.wasm has some`, async () => {
    // Binaryen's names of relaxed instructions.
    const relaxed = ['relaxed_madd', 'dot_i8x16_i7x16_s', 'dot_i8x16_i7x16_add_s'];
    const found = async (file) => {
      const program = join(binaryen, 'bin/wasm-dis');
      const text = await run(program, ['--all-features', join(root, 'dist', file)]);
      return relaxed.filter((instruction) => text.includes(`.${instruction}`));
    };
    assert.deepEqual(await found(`${name}.wasm`), []);
    assert.deepEqual(await found(`${name}.relaxed.wasm`), relaxed);
  });
}
