// The native build that the tests run. `npm test` builds it with AddressSanitizer and
// UndefinedBehaviorSanitizer (preset `test` of CMakePresets.json).
import { join } from 'node:path';
import { findCompiler, root } from '../wasm/toolchain/build.mjs';

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
