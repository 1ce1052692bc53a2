// The packed package: its contents, its types, and its use with bundlers.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { build as esbuild } from 'esbuild';
import { build as vite } from 'vite';
import { companions } from '../../../tools/companions.mjs';
import { packageFolder } from '../../../tools/packages.mjs';
import { dist, goldenFolder, load, readGolden, root } from '../support/helpers.mjs';

const folder = goldenFolder('pre_norm_mean');
const text = readGolden('pre_norm_mean').texts[0];
const expected = await (await load(folder, { binary: 'simd' })).classify(text);

// An application with the packed package installed.
const app = mkdtempSync(join(tmpdir(), 'glassformer-app-'));
after(() => rmSync(app, { recursive: true }));
const installed = join(app, 'node_modules/glassformer');

// Packs a package and installs it. Returns the names of its files.
function install(name, folder) {
  const [{ files, filename }] = JSON.parse(
    execFileSync('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', app], {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'ignore'],
    }),
  );
  const to = join(app, 'node_modules', name);
  mkdirSync(to, { recursive: true });
  execFileSync('tar', ['-xzf', join(app, filename), '-C', to, '--strip-components=1']);
  return files.map(({ path }) => path);
}
const names = install('glassformer', root);
const companionFiles = Object.keys(companions).map((name) => [
  name,
  install(`@glassformer/${name}`, packageFolder(name)),
]);
writeFileSync(join(app, 'package.json'), '{"type":"module"}');

test('the package contains exactly the needed files', () => {
  for (const name of [
    'LICENSE',
    'README.md',
    'THIRD_PARTY_NOTICES',
    'dist/chat.d.ts',
    'dist/chat.js',
    'dist/tokenizer.d.ts',
    'dist/tokenizer.js',
    'dist/glassformer.read.relaxed.wasm',
    'dist/glassformer.read.wasm',
    'dist/glassformer.relaxed.wasm',
    'dist/glassformer.threads.relaxed.wasm',
    'dist/glassformer.threads.wasm',
    'dist/glassformer.wasm',
    'dist/index.d.ts',
    'dist/index.js',
    'dist/inline.d.ts',
    'dist/inline.js',
    'dist/licenses.txt',
    'dist/read.d.ts',
    'dist/read.js',
    'dist/sbom.cdx.json',
    'dist/threads.d.ts',
    'dist/threads.js',
    'dist/worker.js',
    'package.json',
  ]) {
    assert.ok(names.includes(name), name);
  }
  for (const name of names) {
    assert.match(
      name,
      /^(dist\/[\w./]+|web\/(docs\/[\w-]+\.md|[\w-]+\.webp)|[A-Z_]+(\.md)?|package\.json)$/,
    );
  }
});

test('the packages that stand on it contain a script with its types, and need it by version', () => {
  const { version, exports } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'));
  for (const [name, files] of companionFiles) {
    for (const file of ['LICENSE', 'README.md', 'package.json', `${name}.js`, `${name}.d.ts`])
      assert.ok(files.includes(file), `${name}: ${file}`);
    for (const file of files)
      assert.match(file, /^([\w/]+\.(d\.ts|js|js\.map)|[A-Z]+(\.md)?|package\.json)$/);
    const read = (file) => readFileSync(join(app, 'node_modules/@glassformer', name, file), 'utf8');
    const manifest = JSON.parse(read('package.json'));
    assert.equal(manifest.version, version);
    const needed = companions[name].alone ? undefined : { glassformer: version };
    assert.deepEqual(manifest.peerDependencies, needed);
    const imports = [...read(`${name}.js`).matchAll(/\bfrom ?["']([\w@./-]+)["']/g)];
    assert.deepEqual(
      [...new Set(imports.map(([, from]) => from))],
      companions[name].alone ? [] : ['glassformer'],
    );
    assert.ok(!names.some((file) => file.startsWith(`dist/${name}`)), name);
    assert.ok(!exports[`./${name}`], name);
  }
});

test('pictures and links of the README also work on a registry', () => {
  const { repository } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'));
  const inRepository = `${repository.url.replace(/^git\+|\.git$/g, '')}/blob/main/`;
  const readme = readFileSync(join(installed, 'README.md'), 'utf8');
  const targets = [...readme.matchAll(/\]\(([^)#]+)/g)].map(([, target]) => target);
  assert.ok(targets.length > 15);
  for (const target of targets) {
    const file = target.startsWith(inRepository) && target.slice(inRepository.length);
    if (file) assert.ok(existsSync(join(root, file)), target);
    else if (!target.startsWith('https:')) assert.ok(existsSync(join(installed, target)), target);
  }
});

test('a bill of materials lists the contents of the binaries, with version and license', () => {
  const read = (name) => readFileSync(join(installed, name), 'utf8');
  const bom = JSON.parse(read('dist/sbom.cdx.json'));
  const { name, version } = JSON.parse(read('package.json'));
  assert.equal(bom.bomFormat, 'CycloneDX');
  assert.equal(bom.metadata.component.name, name);
  assert.equal(bom.metadata.component.version, version);
  const names = bom.components.map((component) => component.name);
  assert.deepEqual(names, ['xtensor', 'xtl', 'xsimd', 'emscripten', 'musl', 'libc++']);
  const notices = read('THIRD_PARTY_NOTICES').toLowerCase();
  const list = read('dist/licenses.txt');
  for (const { name, version, licenses } of bom.components) {
    assert.match(version, /^\d+\.\d+\.\d+$/, name);
    assert.ok(notices.includes(name), name);
    const [line] = list.split('\n').filter((text) => text.startsWith(`${name} `));
    assert.ok(line.includes(version) && line.endsWith(licenses[0].expression), line);
  }
});

test('the package imports only itself', () => {
  const { dependencies, scripts = {} } = JSON.parse(
    readFileSync(join(installed, 'package.json'), 'utf8'),
  );
  assert.equal(dependencies, undefined);
  for (const name of ['preinstall', 'install', 'postinstall']) assert.ok(!(name in scripts));
});

test('the code works in service workers, under strict policies and with bundlers', () => {
  const index = readFileSync(join(dist, 'index.js'), 'utf8');
  const worker = readFileSync(join(dist, 'worker.js'), 'utf8');
  const inline = readFileSync(join(dist, 'inline.js'), 'utf8');
  for (const code of [index, worker, inline]) {
    assert.doesNotMatch(code, /\bimport\s*\(/, 'dynamic import');
    assert.doesNotMatch(code, /\brequire\b/);
    // Only a release has no comments.
    const run = code.replace(/\/\*[^]*?\*\/|^\s*\/\/.*$/gm, '');
    assert.doesNotMatch(run, /\bdocument\b|(?<![.\w])window\b[.[]/);
    assert.doesNotMatch(code, /\beval\s*\(|new Function/);
    const withoutHub = code.replaceAll('"https://huggingface.co"', ''); // callers select it with hf:
    assert.doesNotMatch(withoutHub, /https?:\/\//, 'an address that the caller did not give');
  }
  assert.doesNotMatch(worker, /\bimport\b|\bexport\b/, 'the worker imports and exports nothing');
  for (const file of ['glassformer.wasm', 'glassformer.relaxed.wasm', 'worker.js']) {
    const address = `new URL\\("\\./${file.replaceAll('.', '\\.')}",\\s*import\\.meta\\.url\\)`;
    assert.match(index, new RegExp(address));
  }
  assert.match(
    index,
    /new Worker\(\s*new URL\("\.\/worker\.js",\s*import\.meta\.url\),\s*\{\s*type:\s*"module"\s*\}\)/,
  );
  assert.doesNotMatch(inline, /import\.meta/);
});

test('the element has no imports, and works under strict policies', async () => {
  const code = readFileSync(join(app, 'node_modules/@glassformer/element/element.js'), 'utf8');
  assert.doesNotMatch(code, /\bimport\b/, 'an import');
  assert.doesNotMatch(code, /\beval\s*\(|new Function|innerHTML|insertAdjacentHTML|https?:/);
  // Server-rendered pages import it, too.
  const file = join(app, 'element.js');
  writeFileSync(file, "export * from '@glassformer/element';");
  const { AttentionView } = await import(pathToFileURL(file));
  assert.equal(typeof AttentionView, 'function');
});

test('bundlers keep a side-effect import of the element, and of no other module', async () => {
  const bundled = async (from) => {
    const file = join(app, 'effect.js');
    writeFileSync(file, `import '${from}';`);
    const options = { bundle: true, write: false, format: 'esm', logLevel: 'silent' };
    const { outputFiles } = await esbuild({ entryPoints: [file], ...options });
    return outputFiles[0].text;
  };
  assert.match(await bundled('@glassformer/element'), /customElements/);
  assert.doesNotMatch(await bundled('glassformer'), /class/);
});

// Writes a module into the application. Its default export classifies the text.
function writeApp(name, imports, options, from = 'glassformer') {
  const file = join(app, name);
  writeFileSync(
    file,
    `import { Classifier } from '${from}';
    ${imports}
    export default async function (folder, text) {
      const classifier = await Classifier.load(folder, ${options});
      const result = await classifier.classify(text);
      classifier.dispose();
      return result;
    }`,
  );
  return file;
}

async function assertWorks(file) {
  const { default: classify } = await import(pathToFileURL(file));
  assert.deepEqual(await classify(folder, text), expected);
}

test('Node runs it as installed', async () => {
  await assertWorks(writeApp('plain.js', '', '{ binary: "simd" }'));
});

test('Vite bundles it, including the worker and the binaries', async () => {
  const outDir = join(app, 'vite');
  await vite({
    root: app,
    base: './',
    configFile: false,
    logLevel: 'warn',
    build: {
      outDir,
      minify: false,
      modulePreload: false,
      target: 'es2022',
      rollupOptions: {
        input: writeApp('vite.js', '', '{ binary: "simd" }'),
        preserveEntrySignatures: 'strict',
        output: { entryFileNames: 'entry.js' },
      },
    },
  });
  const assets = readdirSync(join(outDir, 'assets'));
  for (const pattern of [
    /^glassformer-.*\.wasm$/,
    /^glassformer\.relaxed-.*\.wasm$/,
    /^worker-.*\.js$/,
  ]) {
    assert.equal(assets.filter((name) => pattern.test(name)).length, 1, `${pattern} of ${assets}`);
  }
  // Only the binaries that the program can reach.
  assert.equal(assets.filter((name) => name.endsWith('.wasm')).length, 2, `${assets}`);
  await assertWorks(join(outDir, 'entry.js'));
});

test('esbuild bundles it, with the binaries as files', async () => {
  const outdir = join(app, 'esbuild');
  await esbuild({
    entryPoints: {
      entry: writeApp(
        'esbuild.js',
        `import simd from 'glassformer/glassformer.wasm';
         import relaxed from 'glassformer/glassformer.relaxed.wasm';
         const url = (file) => new URL(file, import.meta.url);`,
        `{
          binary: 'simd',
          urls: { 'glassformer.wasm': url(simd), 'glassformer.relaxed.wasm': url(relaxed) },
        }`,
      ),
      worker: join(installed, 'dist/worker.js'),
    },
    outdir,
    bundle: true,
    format: 'esm',
    loader: { '.wasm': 'file' },
    logLevel: 'silent',
  });
  // The worker is next to the bundle, with its own name.
  assert.ok(readFileSync(join(outdir, 'entry.js'), 'utf8').includes('"./worker.js"'));
  readFileSync(join(outdir, 'worker.js'));
  await assertWorks(join(outdir, 'entry.js'));
});

test('the error in a classic script names the inline entry', async () => {
  const { outputFiles } = await esbuild({
    entryPoints: [writeApp('script.js', '', "{ binary: 'simd' }")],
    bundle: true,
    write: false,
    format: 'iife',
    globalName: 'glassformerApp',
    logLevel: 'silent',
  });
  const script = outputFiles[0].text;
  const { default: classify } = new Function(`${script}; return glassformerApp;`)();
  await assert.rejects(classify(folder, text), {
    name: 'GlassformerError',
    code: 'fetch_failed',
    message: /glassformer\/inline/,
  });
});

test('esbuild bundles the inline entry, into a module and into a script', async () => {
  const entry = writeApp('inline.js', '', "{ binary: 'simd' }", 'glassformer/inline');
  for (const format of ['esm', 'iife']) {
    const outfile = join(app, `inline.${format}.js`);
    const { warnings } = await esbuild({
      entryPoints: [entry],
      outfile,
      bundle: true,
      format,
      globalName: 'glassformerApp',
      minify: true,
      logLevel: 'silent',
    });
    assert.deepEqual(warnings, []);
  }
  await assertWorks(join(app, 'inline.esm.js'));
  const script = readFileSync(join(app, 'inline.iife.js'), 'utf8');
  const { default: classify } = new Function(`${script}; return glassformerApp;`)();
  assert.deepEqual(await classify(folder, text), expected);
});

test('types: correct code compiles, and wrong code does not', () => {
  cpSync(join(root, 'tests/package/packages/types.ts'), join(app, 'types.ts'));
  // The README's examples, as TypeScript.
  const readme = readFileSync(join(root, 'README.md'), 'utf8');
  const examples = [...readme.matchAll(/^```js\n([^]*?)^```$/gm)].map(([, code]) => code);
  assert.ok(examples.length >= 2);
  const names = examples.map((_, index) => `readme_${index}.ts`);
  for (const [index, name] of names.entries()) writeFileSync(join(app, name), examples[index]);
  // A program for Node, without the types of browsers.
  const own = ['chat', 'read', 'threads', 'tokenizer'].map((name) => `glassformer/${name}`);
  const entries = ['glassformer', ...own, '@glassformer/html', '@glassformer/pipelines'];
  const imports = entries.map((name, i) => `import * as e${i} from '${name}';`);
  writeFileSync(
    join(app, 'node.ts'),
    `${imports.join('\n')}\nconsole.log(${entries.map((_, i) => `e${i}`).join(', ')});\n`,
  );
  const [browser, node] = [
    { lib: ['es2022', 'dom'], types: [], files: ['types.ts', ...names] },
    { lib: ['es2022'], types: ['node'], files: ['node.ts'] },
  ];
  for (const [module, moduleResolution, { lib, types, files }] of [
    ['nodenext', 'nodenext', browser],
    ['esnext', 'bundler', browser],
    ['nodenext', 'nodenext', node],
  ]) {
    writeFileSync(
      join(app, 'tsconfig.json'),
      JSON.stringify({
        compilerOptions: {
          target: 'es2022',
          lib,
          module,
          moduleResolution,
          strict: true,
          exactOptionalPropertyTypes: true,
          skipLibCheck: false,
          noEmit: true,
          types,
          typeRoots: [join(root, 'node_modules/@types')],
        },
        files,
      }),
    );
    try {
      execFileSync(join(root, 'node_modules/.bin/tsc'), ['-p', app], { encoding: 'utf8' });
    } catch (error) {
      assert.fail(error.stdout);
    }
  }
});
