// Makes dist/, the npm package, of the TypeScript and of the two binaries that CMake has built.

import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const dist = join(root, 'dist');
const types = join(root, 'build/types');

rmSync(dist, { recursive: true, force: true });
rmSync(types, { recursive: true, force: true });
mkdirSync(dist);

const tsc = createRequire(import.meta.url).resolve('typescript/bin/tsc');
execFileSync(process.execPath, [tsc, '-p', join(root, 'wasm')], { stdio: 'inherit' });
copyTypes('index');

await build({
  entryPoints: ['index', 'worker'].map((name) => join(root, 'wasm/src', `${name}.ts`)),
  outdir: dist,
  bundle: true,
  format: 'esm',
  target: 'es2022',
  minify: true,
  sourcemap: true,
  logLevel: 'warning',
});

cpSync(join(root, 'build/wasm/glassformer.wasm'), join(dist, 'glassformer.wasm'));
cpSync(
  join(root, 'build/wasm-relaxed/glassformer.relaxed.wasm'),
  join(dist, 'glassformer.relaxed.wasm'),
);

// The declarations that a user of the index sees, and none of the inner files'.
function copyTypes(name) {
  const file = `${name}.d.ts`;
  cpSync(join(types, file), join(dist, file));
  for (const [, imported] of readFileSync(join(types, file), 'utf8').matchAll(/'\.\/(\w+)\.js'/g)) {
    copyTypes(imported);
  }
}
