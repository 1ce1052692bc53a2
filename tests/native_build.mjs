// The native build that the tests run. `npm test` builds it with AddressSanitizer and
// UndefinedBehaviorSanitizer (preset `test` of CMakePresets.json).
import { join } from 'node:path';
import { findCompiler, root, run } from '../tools/build.mjs';

/** The `glassformer` command. `npm run coverage` sets one that counts lines. */
export const command = process.env.GLASSFORMER ?? join(root, 'build/test/glassformer');

export const library = 'build/test/libglassformer.a';

/** The command that compiles and links a program with the library. */
export const compiler = findCompiler() ?? 'c++';
export const compilerFlags = '-fsanitize=address,undefined';

/** Returns a command of the documentation, changed to use this build. */
export const asBuiltForTests = (text) =>
  text
    .replaceAll('build/native/', 'build/test/')
    .replace(/^c\+\+ /gm, `${compiler} ${compilerFlags} `);

/**
 * Returns the environment for a program without sanitizers that loads a library of this build.
 * `before`: libraries that it also needs from the start.
 */
export async function withSanitizers(...before) {
  const runtime = compiler.includes('clang')
    ? `libclang_rt.asan-${process.arch === 'x64' ? 'x86_64' : 'aarch64'}.so`
    : 'libasan.so';
  const paths = [runtime, ...before].map((name) => run(compiler, [`-print-file-name=${name}`]));
  return {
    LD_PRELOAD: (await Promise.all(paths)).map((path) => path.trim()).join(' '),
    // The program leaves memory to the system at its end.
    ASAN_OPTIONS: 'detect_leaks=0,halt_on_error=1,abort_on_error=1',
  };
}
