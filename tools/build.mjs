// Builds targets whose inputs have changed:
//
//   node tools/build.mjs TARGET...    targets: package, native, web
//
// `package` writes dist/ and build/packages as they are published, `native` writes build/native,
// `web` writes web/dist.
import { fileURLToPath } from 'node:url';
import { cmake, findCompiler, findPython } from './cmake.mjs';
import { announced } from './durations.mjs';
import { buildModels, models } from './models.mjs';
import { buildPackage, holdsRelease } from './package.mjs';
import { filesIn, root, run, runTool } from './run.mjs';
import { unlessDone } from './stamps.mjs';

export {
  buildModels,
  buildPackage,
  cmake,
  filesIn,
  findCompiler,
  findPython,
  holdsRelease,
  models,
  root,
  run,
  runTool,
  unlessDone,
};

/**
 * Installs the requirements of the groups (see setup.mjs); nearly instant if nothing is missing.
 */
export function setUp(...groups) {
  return run(process.execPath, ['tools/setup.mjs', ...groups], { inherit: true });
}

/** Builds build/native: the command line and the library. */
export function buildNative() {
  return cmake('native', 'glassformer');
}

/**
 * Builds build/test, with sanitizers: the command line, the library, its tests, and the module for
 * Python; with `all`, also the fuzzers and the add-on for Node.
 */
export async function buildTests({ all = false } = {}) {
  const modules = (await findPython()) ? ['glassformer_python'] : [];
  const more = all ? ['all', 'glassformer_addon'] : ['glassformer', 'glassformer_tests'];
  await cmake('test', ...more, ...modules);
}

/** Builds web/dist: the page as static files. It needs the package. */
export async function buildWeb() {
  const inputs = [
    'web',
    'wasm/src',
    'dist',
    ...models.map((name) => `weights/${name}`),
    'package-lock.json',
    'LICENSE',
    'THIRD_PARTY_NOTICES',
  ];
  await unlessDone('web', inputs, ['web/dist/index.html', 'build/page_chunks.json'], () =>
    runTool('vite', ['build', '--config', 'web/vite.config.ts', '--logLevel', 'warn']),
  );
}

const targets = {
  native: { what: 'the native library and command line', groups: ['native'], build: buildNative },
  package: {
    what: 'the package',
    groups: ['build'],
    build: async () => {
      await buildPackage({ release: true });
      await buildModels();
    },
  },
  web: { what: 'the page', groups: ['build'], build: buildWeb },
};

async function main(names) {
  const unknown = names.find((name) => !Object.hasOwn(targets, name));
  if (unknown !== undefined) throw new Error(`unknown target ${unknown}`);
  const wanted = Object.entries(targets).filter(([name]) => names.includes(name));
  await setUp(...new Set(wanted.flatMap(([, { groups }]) => groups)));
  const command = names.includes('native') ? 'build:native' : 'build';
  console.log(`This takes ${announced(command)}.`);
  for (const [, { what, build }] of wanted) {
    console.log(`building ${what}`);
    await build();
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  main(process.argv.slice(2)).catch((error) => {
    console.error(`${error.output ?? ''}\n${error.message}`);
    process.exitCode = 1;
  });
}
