// Builds dist/, the package: its binaries, scripts and types; and the packages that stand on it.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { deflateSync } from 'node:zlib';
import { cmake } from './cmake.mjs';
import { companions, linkPackage, writeCompanion } from './companions.mjs';
import { packageFolder } from './packages.mjs';
import { root, runTool } from './run.mjs';
import { unlessDone } from './stamps.mjs';

const dist = join(root, 'dist');
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

// --- types ---------------------------------------------------------------------------------------

/** The modules that users import, and the worker's script. */
const entries = ['index', 'worker', 'inline', 'read', 'threads', 'chat', 'tokenizer'];

// Copies the .d.ts files of some entries and those that they import. The others describe internals.
// `change` changes their texts.
function copyDeclarations(names, to, change = (text) => text) {
  const from = join(root, 'build/types');
  const wanted = names.map((name) => `${name}.d.ts`);
  for (const name of wanted) {
    const text = change(readFileSync(join(from, name), 'utf8'));
    mkdirSync(join(to, dirname(name)), { recursive: true });
    writeFileSync(join(to, name), text);
    for (const [, other] of text.matchAll(/from '(\.{1,2}\/[^']+)\.js'/g)) {
      const path = `${join(dirname(name), other)}.d.ts`;
      if (!wanted.includes(path)) wanted.push(path);
    }
  }
}

async function writeTypes() {
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
  copyDeclarations(entries, dist);
  const byName = (text) => text.replace(/from '(?:\.{1,2}\/)+index\.js'/g, "from 'glassformer'");
  for (const name of Object.keys(companions)) copyDeclarations([name], packageFolder(name), byName);
}

// --- scripts -------------------------------------------------------------------------------------

// Writes NAME.js and its source map to dist/ or another folder. In a release without white space: the
// names of classes and properties stay, and lines stay readable, because an uncaught error shows its
// line. esbuild's option for short lines breaks strings, including URLs that bundlers search for.
async function bundle(name, { release, to = dist, ...options }) {
  const { build } = await import('esbuild');
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
  const { code, map } = release
    ? await minified(name, source, content)
    : { code: `${source}//# sourceMappingURL=${name}.js.map\n`, map: content };
  writeFileSync(join(to, `${name}.js`), code);
  if (map) writeFileSync(join(to, `${name}.js.map`), map);
}

async function minified(name, source, content) {
  const { minify } = await import('terser');
  return minify(source, {
    module: true,
    ecma: 2022,
    compress: { passes: 2 },
    mangle: { keep_classnames: true, reserved: anonymousClasses(source) },
    format: { max_line_len: 500 },
    sourceMap: content ? { content, url: `${name}.js.map` } : false,
  });
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

// The entries for chats and tokenizers import the classes of index.js, that of errors included, so that
// there is only one copy of them. So do the packages that stand on this one, by its name.
const importing = (path) => ({
  name: 'import-index',
  setup({ onResolve }) {
    onResolve({ filter: /\/(index|errors)\.js$/ }, () => ({ path, external: true }));
  },
});

async function writeScripts(release) {
  const plain = ['index', 'worker', 'read', 'threads'];
  const withIndex = ['chat', 'tokenizer'];
  await Promise.all([
    ...plain.map((name) => bundle(name, { release })),
    ...withIndex.map((name) => bundle(name, { release, plugins: [importing('./index.js')] })),
    ...Object.entries(companions).map(([name, { alone }]) => {
      const plugins = alone ? [] : [importing('glassformer')];
      return bundle(name, { release, plugins, to: packageFolder(name) });
    }),
  ]);
}

async function writeInline(release) {
  const [simd, relaxed] = ['', '.relaxed'].map((kind) =>
    deflateSync(readFileSync(join(dist, `glassformer${kind}.wasm`)), {
      level: release ? 9 : 1,
    }).toString('base64'),
  );
  const worker = readFileSync(join(dist, 'worker.js'), 'utf8');
  const files = { worker: worker.replace(/\/\/# sourceMappingURL=.*/, ''), simd, relaxed };
  await bundle('inline', {
    release,
    define: { files: JSON.stringify(files) },
    plugins: [inlineAssets],
    sourcemap: false, // would repeat the binaries
  });
}

// --- binaries ------------------------------------------------------------------------------------

const scopes = ['', '.read', '.threads'];
const binaries = scopes.flatMap((scope) =>
  ['', '.relaxed'].map((kind) => `glassformer${scope}${kind}.wasm`),
);

async function buildBinaries(release) {
  if (!release) {
    await cmake('quick');
    return binaries.map((name) => `build/quick/${name}`);
  }
  await cmake('wasm');
  await cmake('wasm-threads');
  return binaries.map(
    (name) => `build/${name.includes('threads') ? 'wasm-threads' : 'wasm'}/${name}`,
  );
}

async function copyBinaries(from, release) {
  for (const file of from) {
    const bytes = readFileSync(join(root, file));
    const ordered = release && (await import('./order.mjs')).orderedForCompression(bytes);
    writeFileSync(join(dist, basename(file)), ordered || bytes);
  }
}

async function listLibraries() {
  const { billOfMaterials, licenseList } = await import('./sbom.mjs');
  const bom = await billOfMaterials();
  writeFileSync(join(dist, 'sbom.cdx.json'), `${JSON.stringify(bom, null, 2)}\n`);
  writeFileSync(join(dist, 'licenses.txt'), licenseList(bom));
}

// --- the package ---------------------------------------------------------------------------------

const mark = join(root, 'build/stamps/package-kind');
const kindOfDist = () => (existsSync(mark) ? readFileSync(mark, 'utf8') : undefined);

/**
 * Builds dist/. By default quickly, for development. For a release, the binaries and scripts are as
 * small as possible, which takes several times as long; they give the same answers.
 */
export async function buildPackage({ release = false } = {}) {
  const kind = `${release ? 'release' : 'quick'}: ${entries.join(' ')}`;
  const from = await buildBinaries(release);
  // Nothing stays of the other kind of build, or of one with other entries.
  if (kindOfDist() !== kind) {
    rmSync(dist, { recursive: true, force: true });
    mkdirSync(dirname(mark), { recursive: true });
    writeFileSync(mark, kind);
  }
  mkdirSync(dist, { recursive: true });
  const done = (part, inputs, outputs, work) =>
    unlessDone(
      `package-${part}`,
      [...inputs, 'build/stamps/package-kind', 'tools/package.mjs', 'package-lock.json'],
      outputs,
      work,
    );
  const inDist = (names) => names.map((name) => `dist/${name}`);
  const besideDist = (file) =>
    Object.keys(companions).map((name) => `build/packages/${name}/${file(name)}`);
  await done('binaries', [...from, 'tools/order.mjs'], inDist(binaries), () =>
    copyBinaries(from, release),
  );
  const scripts = ['wasm/src', 'package.json'];
  const named = (ending) => [
    ...inDist(entries.map((name) => `${name}${ending}`)),
    ...besideDist((name) => `${name}${ending}`),
  ];
  const manifests = besideDist(() => 'package.json');
  const lists = inDist(['sbom.cdx.json', 'licenses.txt']);
  const libraries = ['tools/sbom.mjs', '.toolchain/debian/stamp', 'package.json'];
  await done(
    'companions',
    ['package.json', 'tools/companions.mjs', 'tools/packages.mjs', 'LICENSE'],
    manifests,
    () => Object.keys(companions).forEach(writeCompanion),
  );
  linkPackage();
  await Promise.all([
    done('types', ['wasm/src', 'wasm/tsconfig.json'], named('.d.ts'), writeTypes),
    done(
      'scripts',
      scripts,
      named('.js').filter((name) => name !== 'dist/inline.js'),
      () => writeScripts(release),
    ).then(() =>
      done('inline', [...scripts, ...from], ['dist/inline.js'], () => writeInline(release)),
    ),
    done('lists', libraries, lists, listLibraries),
  ]);
}

/** Returns whether dist/ holds a release. */
export const holdsRelease = () => kindOfDist()?.startsWith('release:') ?? false;
