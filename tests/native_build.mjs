// The native build that tests run, made by `npm test` under AddressSanitizer and
// UndefinedBehaviorSanitizer (preset `test` of CMakePresets.json).
import { join } from 'node:path';
import { findCompiler, root } from '../wasm/toolchain/build.mjs';

/** The `glassformer` command. `npm run coverage` names one that counts the lines that run. */
export const command = process.env.GLASSFORMER ?? join(root, 'build/test/glassformer');

export const library = 'build/test/libglassformer.a';

/** Compiles and links what uses the library. */
export const compiler = findCompiler() ?? 'c++';
export const compilerFlags = '-fsanitize=address,undefined';

/** A command of the documentation, as it is with this build. */
export const asBuiltForTests = (text) =>
  text
    .replaceAll('build/native/', 'build/test/')
    .replace(/^c\+\+ /gm, `${compiler} ${compilerFlags} `);
