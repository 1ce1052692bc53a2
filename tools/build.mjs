// Builds targets whose inputs have changed:
//
//   node tools/build.mjs TARGET...    targets: package, native, web
//
// `package` writes dist/, `native` writes build/native, `web` writes web/dist.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { deflateSync } from 'node:zlib';
import { orderedForCompression } from './order.mjs';
import { filesIn, root, run, runTool } from './run.mjs';

export { filesIn, root, run, runTool };

/**
 * Installs the requirements of the groups (see setup.mjs); nearly instant if nothing is missing.
 */
export function setUp(...groups) {
  return run(process.execPath, ['tools/setup.mjs', ...groups], { inherit: true });
}

/** Does `work`, unless it succeeded before with the same contents of `inputs` (files, folders). */
export async function unlessDone(name, inputs, outputs, work) {
  const hash = createHash('sha256').update(process.version);
  for (const input of inputs) {
    const path = join(root, input);
    const files = !existsSync(path) ? [] : statSync(path).isDirectory() ? filesIn(input) : [input];
    for (const file of files)
      hash
        .update(file)
        .update('\0')
        .update(readFileSync(join(root, file)));
  }
  const value = hash.digest('hex');
  const stamp = join(root, 'build/stamps', name);
  const done = outputs.every((file) => existsSync(join(root, file)));
  if (done && existsSync(stamp) && readFileSync(stamp, 'utf8') === value) return;
  rmSync(stamp, { force: true });
  await work();
  mkdirSync(dirname(stamp), { recursive: true });
  writeFileSync(stamp, value);
}

// em++ starts Python for every file. Version managers install python3 as a script that searches for
// the real one, which may take longer than a compilation. So the real one is searched for once.
async function pythonForEmscripten() {
  if (process.env.EMSDK_PYTHON) return {};
  const path = await run('python3', ['-c', 'import sys; print(sys.executable)']).catch(() => '');
  return path.trim() ? { EMSDK_PYTHON: path.trim() } : {};
}

/** The Clang that compiles for WebAssembly, if it is Debian's. */
export const findCompiler = () => ['/usr/bin/clang++-19'].find((file) => existsSync(file));

/**
 * Finds the Python that the tests build the package in python/ for, and the folder of its headers.
 * Returns undefined if something that they need is missing.
 */
export async function findPython() {
  if (!existsSync(join(root, '.toolchain/nanobind'))) return undefined;
  const script = "import numpy, pip, sysconfig, wheel; print(sysconfig.get_path('include'))";
  for (const python of ['/usr/bin/python3', 'python3']) {
    const include = (await run(python, ['-c', script]).catch(() => '')).trim();
    if (existsSync(join(include, 'Python.h'))) return { python, include };
  }
  return undefined;
}

const withLld = (kind) => `-DCMAKE_${kind}_LINKER_FLAGS=-fuse-ld=lld`;

/**
 * Configures one preset of CMakePresets.json, if the presets changed, and builds it or some
 * targets.
 */
export async function cmake(preset, ...targets) {
  const env = preset.startsWith('wasm') ? await pythonForEmscripten() : {};
  // Clang compiles the tests in two thirds of GCC's time, and LLVM's linker is faster, too.
  const compiler = preset === 'test' && findCompiler();
  const options = compiler
    ? [`-DCMAKE_CXX_COMPILER=${compiler}`, ...['EXE', 'MODULE'].map(withLld)]
    : [];
  const python = preset === 'test' && (await findPython());
  if (python) options.push(`-DGLASSFORMER_PYTHON_INCLUDE=${python.include}`);
  const inputs = [
    'CMakePresets.json',
    'tools/build.mjs',
    'tools/emscripten.cmake',
    '.toolchain/debian/stamp',
  ];
  await unlessDone(`configure-${preset}`, inputs, [`build/${preset}/build.ninja`], () =>
    run('cmake', ['--fresh', '--preset', preset, ...options], { env }),
  );
  const wanted = targets.length > 0 ? ['--target', ...targets] : [];
  const build = () =>
    run('cmake', ['--build', '--preset', preset, ...wanted], { env, patient: true });
  await build().catch((error) => {
    // An update of the system brings headers with dates before ours, which only Clang notices.
    if (!/modified since the precompiled/.test(error.output ?? '')) throw error;
    for (const file of filesIn(`build/${preset}/CMakeFiles`))
      if (file.endsWith('.pch')) rmSync(join(root, file));
    return build();
  });
}

// Copies the .d.ts files of the entries and those that they import. The others describe internals.
function copyDeclarations(from, to) {
  const wanted = [
    'index',
    'worker',
    'inline',
    'view',
    'pipelines',
    'chat',
    'tokenizer',
    'html',
  ].map((name) => `${name}.d.ts`);
  for (const name of wanted) {
    const text = readFileSync(join(from, name), 'utf8');
    mkdirSync(join(to, dirname(name)), { recursive: true });
    writeFileSync(join(to, name), text);
    for (const [, other] of text.matchAll(/from '(\.{1,2}\/[^']+)\.js'/g)) {
      const path = `${join(dirname(name), other)}.d.ts`;
      if (!wanted.includes(path)) wanted.push(path);
    }
  }
}

const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

// Writes dist/NAME.js and its source map, without white space. The names of classes and properties
// stay, and lines stay readable, because an uncaught error shows its line. esbuild's option for
// short lines breaks strings, including URLs that bundlers search for.
async function bundle(name, options = {}) {
  const { build } = await import('esbuild');
  const { minify } = await import('terser');
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: [`wasm/src/${name}.ts`],
    outdir: 'dist',
    bundle: true,
    format: 'esm',
    target: 'es2022',
    platform: 'neutral',
    sourcemap: 'external',
    write: false,
    logLevel: 'warning',
    ...options,
    define: { version: JSON.stringify(version), ...options.define },
  });
  const source = withClassNames(outputFiles.at(-1).text);
  const content = outputFiles.at(-2)?.text;
  const { code, map } = await minify(source, {
    module: true,
    ecma: 2022,
    compress: { passes: 2 },
    mangle: { keep_classnames: true, reserved: anonymousClasses(source) },
    format: { max_line_len: 500 },
    sourceMap: content ? { content, url: `${name}.js.map` } : false,
  });
  writeFileSync(join(root, `dist/${name}.js`), code);
  if (map) writeFileSync(join(root, `dist/${name}.js.map`), map);
}

// esbuild turns a class that uses its own name into `var Classifier = class _Classifier`, and
// consoles would show that name.
function withClassNames(source) {
  const names = [...source.matchAll(/^var (\w+) = class _\1\b/gm)].map(([, name]) => name);
  return names.reduce(
    (text, name) => text.replace(new RegExp(`\\b_${name}\\b`, 'g'), name),
    source,
  );
}

// Returns the names of classes that esbuild has turned into `var Weights = class {`. The variable's
// name is the one that consoles show.
function anonymousClasses(source) {
  return [...source.matchAll(/^var (\w+) = class\b/gm)].map(([, name]) => name);
}

// `glassformer/inline`: the same modules, except the one that finds the package's files.
const inlineAssets = {
  name: 'inline-assets',
  setup({ onResolve }) {
    onResolve({ filter: /\/assets\.js$/ }, () => ({
      path: join(root, 'wasm/src/engine/assets.inline.ts'),
    }));
  },
};

// `glassformer/pipelines`, `glassformer/chat`, `glassformer/tokenizer` and `glassformer/html` import the classes of index.js, that
// of errors included, so that there is only one copy of them.
const besideIndex = {
  name: 'beside-index',
  setup({ onResolve }) {
    onResolve({ filter: /\/(index|errors)\.js$/ }, () => ({ path: './index.js', external: true }));
  },
};

function inlineFiles(name) {
  const [simd, relaxed] = [`${name}.wasm`, `${name}.relaxed.wasm`].map((file) =>
    deflateSync(readFileSync(join(root, 'dist', file)), { level: 9 }).toString('base64'),
  );
  const worker = readFileSync(join(root, 'dist/worker.js'), 'utf8');
  return { worker: worker.replace(/\/\/# sourceMappingURL=.*/, ''), simd, relaxed };
}

/**
 * Builds dist/: index.js, worker.js, inline.js, view.js, pipelines.js, chat.js, tokenizer.js, html.js, types, binaries, the bill of materials.
 */
export async function buildPackage() {
  await cmake('wasm');
  await cmake('wasm-threads');
  const dist = join(root, 'dist');
  const parts = ['.read', '.generate', '.translate', '.pictures', '.learn', '.finetune'];
  const names = ['', '.gradients', ...parts];
  const binaries = [
    ...names.map((name) => `build/wasm/glassformer${name}`),
    'build/wasm-threads/glassformer.threads',
  ].flatMap((path) => [`${path}.wasm`, `${path}.relaxed.wasm`]);
  const inputs = [
    'wasm/src',
    'wasm/tsconfig.json',
    'tools/build.mjs',
    'tools/order.mjs',
    'tools/sbom.mjs',
    'package.json',
    'package-lock.json',
    '.toolchain/debian/stamp',
  ];
  const outputs = [
    'index.js',
    'index.d.ts',
    'worker.js',
    'inline.js',
    'view.js',
    'view.d.ts',
    'pipelines.js',
    'pipelines.d.ts',
    'chat.js',
    'chat.d.ts',
    'tokenizer.js',
    'tokenizer.d.ts',
    'html.js',
    'html.d.ts',
    ...binaries.map((file) => basename(file)),
    'sbom.cdx.json',
    'licenses.txt',
  ];
  await unlessDone(
    'package',
    [...inputs, ...binaries],
    outputs.map((name) => `dist/${name}`),
    async () => {
      rmSync(dist, { recursive: true, force: true });
      mkdirSync(dist);
      for (const file of binaries) {
        const binary = orderedForCompression(readFileSync(join(root, file)));
        writeFileSync(join(dist, basename(file)), binary);
      }
      rmSync(join(root, 'build/types'), { recursive: true, force: true });
      await runTool('tsc', [
        '-p',
        'wasm',
        '--noEmit',
        'false',
        '--declaration',
        '--emitDeclarationOnly',
        '--stripInternal',
        '--outDir',
        'build/types',
      ]);
      await bundle('index');
      await bundle('worker');
      await bundle('view');
      await bundle('pipelines', { plugins: [besideIndex] });
      await bundle('chat', { plugins: [besideIndex] });
      await bundle('tokenizer', { plugins: [besideIndex] });
      await bundle('html', { plugins: [besideIndex] });
      await bundle('inline', {
        define: { files: JSON.stringify(inlineFiles('glassformer')) },
        plugins: [inlineAssets],
        sourcemap: false, // would repeat the binaries
      });
      copyDeclarations(join(root, 'build/types'), dist);
      const { billOfMaterials, licenseList } = await import('./sbom.mjs');
      const bom = await billOfMaterials();
      writeFileSync(join(dist, 'sbom.cdx.json'), `${JSON.stringify(bom, null, 2)}\n`);
      writeFileSync(join(dist, 'licenses.txt'), licenseList(bom));
    },
  );
}

/** Builds build/native: the command line and the library. */
export function buildNative() {
  return cmake('native', 'glassformer');
}

/**
 * Builds build/test, with sanitizers: the command line, the library, its tests and fuzzers, the
 * add-on for Node, and the module for Python.
 */
export async function buildTests() {
  const modules = (await findPython()) ? ['glassformer_python'] : [];
  await cmake('test', 'all', 'glassformer_addon', ...modules);
}

/** Builds web/dist: the page as static files. It needs the package. */
export async function buildWeb() {
  const { models } = await import('./models.mjs');
  await unlessDone(
    'web',
    [
      'web',
      'wasm/src',
      'dist',
      ...models.map((name) => `weights/${name}`),
      'package-lock.json',
      'LICENSE',
      'THIRD_PARTY_NOTICES',
    ],
    ['web/dist/index.html', 'build/page_chunks.json'],
    () => runTool('vite', ['build', '--config', 'web/vite.config.ts', '--logLevel', 'warn']),
  );
}

async function main(names) {
  for (const name of names) {
    if (!['package', 'native', 'web'].includes(name)) throw new Error(`unknown target ${name}`);
  }
  const needsPackage = names.includes('package') || names.includes('web');
  await setUp(...(needsPackage ? ['build'] : []), ...(names.includes('native') ? ['native'] : []));
  // Measured on two cores without a compiler cache.
  const steps = [
    [names.includes('native'), 'the native library and command line', 'five minutes', buildNative],
    [needsPackage, 'the package', 'three minutes', buildPackage],
    [names.includes('web'), 'the page', 'half a minute', buildWeb],
  ];
  for (const [wanted, what, time, build] of steps) {
    if (!wanted) continue;
    console.log(`building ${what} (about ${time} the first time, on two cores)`);
    await build();
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  main(process.argv.slice(2)).catch((error) => {
    console.error(`${error.output ?? ''}\n${error.message}`);
    process.exitCode = 1;
  });
}
