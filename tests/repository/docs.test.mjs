// The documentation: every snippet is run or compiled, and the site has no dead link, no code and
// no content from other origins.
import assert from 'node:assert/strict';
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import { basename, dirname, extname, join, normalize } from 'node:path';
import { after, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { svelte } from '@sveltejs/vite-plugin-svelte';
import { build as esbuild, transform } from 'esbuild';
import { build as vite } from 'vite';
import { filesIn, root, run, runTool, unlessDone } from '../../tools/build.mjs';
import { companions } from '../../tools/companions.mjs';
import { models } from '../../tools/models.mjs';
import { addonName } from '../../tools/native_addon.mjs';
import { buildDocs } from '../../web/docs/build.mjs';
import { launch } from '../page/open.mjs';
import { asBuiltForTests, library } from '../native_build.mjs';
import { documents, folderWithPackages, of, snippets } from './snippets.mjs';

const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const folder = folderWithPackages('docs-snippets');
const nameOf = ({ file, line }) => `${file.split('/').pop()}:${line}`;
const fileOf = (snippet, ending) =>
  join(folder, `${nameOf(snippet).replace(/\W/g, '_')}.${ending}`);

// A static host with the repository's packages and models, and the `pages` of a test.
const types = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.json': 'application/json',
  '.wasm': 'application/wasm',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
};
const places = {
  '/models/': 'weights/',
  '/packages/glassformer/': '',
  '/packages/@glassformer/': 'build/packages/',
  '/built/': 'build/docs-snippets/built/',
};
let pages = {}; // address: { body, policy }
const server = createServer((request, response) => {
  const path = normalize(new URL(request.url, 'http://localhost').pathname);
  const [place] = Object.keys(places).filter((start) => path.startsWith(start));
  const file = place && join(root, places[place], path.slice(place.length));
  const page = pages[path];
  if (!page && !(file && existsSync(file) && extname(file))) {
    response.writeHead(404, { 'content-type': 'text/html' }).end('not here');
    return;
  }
  const type = types[extname(path)] ?? (page ? 'text/html' : 'application/octet-stream');
  const headers = { 'content-type': type };
  if (page?.policy) headers['content-security-policy'] = page.policy;
  response.writeHead(200, headers).end(page?.body ?? readFileSync(file));
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const origin = `http://127.0.0.1:${server.address().port}`;
const browser = await launch();
after(async () => {
  await browser.close();
  server.closeAllConnections();
  server.close();
});

await buildDocs();

test('every snippet has a kind that a test knows', () => {
  const known = [
    ...['js', 'js page', 'js check', 'js bundle vite', 'js bundle esbuild', 'js bundle file'],
    ...['js recipe', 'jsx recipe', 'jsx recipe server', 'ts recipe', 'svelte recipe'],
    ...[
      'html',
      'html page',
      'html frame',
      'ts',
      'ts react',
      'cpp',
      'cpp short',
      'cmake',
      'json',
      'text',
      'text output',
    ],
    ...['python', 'python module', 'python run', 'python packages'],
    'python glassformer', // see tests/python
    ...['sh', 'sh check', 'sh install', 'sh compile'],
    ...['sh corpus', 'sh corpus parallel', 'sh corpus dask'], // see corpora.test.mjs
  ];
  assert.ok(snippets.length > 40);
  for (const snippet of snippets) {
    const kind = `${snippet.language} ${snippet.kind}`.trim();
    assert.ok(known.includes(kind), `${nameOf(snippet)}: ${kind}`);
  }
});

// --- in Node and in the shell, from the repository's root ------------------------------------------

// A snippet of the kind `text output` is the output of the one before it; … stands for any characters.
const shown = snippets.filter(({ language, kind }) => `${language} ${kind}` === 'text output');
function assertOutput(snippet, output) {
  const expected = shown.find((each) => snippets[snippets.indexOf(each) - 1] === snippet);
  if (!expected) return;
  const escaped = expected.code.trimEnd().replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  const pattern = new RegExp(`^${escaped.replaceAll('…', '.*')}$`, 's');
  assert.match(output.trimEnd(), pattern, nameOf(expected));
}

test('every output is that of a snippet that runs', () => {
  for (const each of shown) {
    const { file, language, kind } = snippets[snippets.indexOf(each) - 1];
    assert.equal(file, each.file, nameOf(each));
    const before = `${language} ${kind}`.trim();
    assert.ok(
      [
        ...['js', 'sh', 'cpp short'],
        ...['python run', 'python packages', 'python glassformer'],
      ].includes(before),
      nameOf(each),
    );
  }
});

for (const snippet of of('js', '')) {
  test(`runs in Node: ${nameOf(snippet)}`, async () => {
    const file = fileOf(snippet, 'mjs');
    writeFileSync(file, snippet.code);
    const output = await run(process.execPath, [file]);
    // The text in a comment after console.log must be printed.
    for (const [, text] of snippet.code.matchAll(/^console\.log\(.*\/\/ (.+)$/gm)) {
      const words = text.split(/ or |;/).map((word) => word.replaceAll('"', '').replace(/….*/, ''));
      assert.ok(
        words.some((word) => output.includes(word)),
        `printed ${output}, expected ${text}`,
      );
    }
    assertOutput(snippet, output);
  });
}

// Snippets of the kind `check` need an environment: see snippets.test.mjs.

// In their order, because some read the files of those before.
test('shell snippets and Python snippets run', async () => {
  const commands = of('sh', '');
  // Remove the files of this test's last run, because no command overwrites files.
  for (const { code } of commands)
    for (const [, file] of code.matchAll(/--out (build\/\S+)/g))
      rmSync(join(root, file), { force: true });
  for (const snippet of snippets) {
    const { language, kind, code } = snippet;
    if (language === 'sh' && kind === '') {
      const command = ['-euo', 'pipefail', '-c', asBuiltForTests(code)];
      assertOutput(snippet, await run('bash', command));
    }
    if (language === 'python' && kind === 'module')
      writeFileSync(join(root, 'build/example/tensors.py'), code);
    if (language === 'python' && kind === 'run')
      assertOutput(snippet, await run(python, ['-B', '-c', code], { env }));
    if (language === 'python' && kind === 'packages') {
      await run(python, ['-c', `compile(${JSON.stringify(code)}, 'snippet', 'exec')`]);
      if (await hasModules(code)) assertOutput(snippet, await run(python, ['-c', code]));
    }
  }
  for (const { code } of of('sh', 'check')) await run('bash', ['-n', '-c', code]);
});

const python = existsSync('/usr/bin/python3') ? '/usr/bin/python3' : 'python3';
const env = { PYTHONPATH: join(root, 'build/example') };
async function hasModules(code) {
  const imports = [...code.matchAll(/^(?:from|import) (\w+)/gm)].map(
    ([, name]) => `import ${name}`,
  );
  return run(python, ['-c', imports.join('\n')]).then(
    () => true,
    () => false,
  );
}

test('the packages and commands in the documents exist', () => {
  const scoped = [...models, ...Object.keys(companions)].map((name) => `@glassformer/${name}`);
  const packages = ['glassformer', addonName, ...scoped];
  for (const { code } of of('sh', 'install')) {
    const [, names] = code.match(/^npm install (.+)\n$/);
    for (const name of names.split(' ')) assert.ok(packages.includes(name), name);
  }
  for (const file of documents) {
    const text = readFileSync(join(root, file), 'utf8');
    for (const [, script] of text.matchAll(/npm run ([\w:]+)/g)) {
      assert.ok(manifest.scripts[script], `${file}: npm run ${script}`);
    }
  }
});

test('JavaScript snippets agree with the types', async () => {
  // Bundlers turn these files into modules; service workers have their own types.
  const modules = join(folder, 'modules.d.ts');
  const endings = ['wasm', 'model', 'safetensors'];
  writeFileSync(modules, endings.map((end) => `declare module '*.${end}';\n`).join(''));
  const files = snippets
    .filter(
      ({ language, code }) =>
        language === 'js' && !/waitUntil|trustedTypes|config\.json'/.test(code),
    )
    .map((snippet) => {
      const file = fileOf(snippet, 'types.mjs');
      writeFileSync(file, snippet.code);
      return file;
    });
  const compilerOptions = {
    target: 'es2022',
    lib: ['es2022', 'dom', 'dom.iterable'],
    module: 'esnext',
    moduleResolution: 'bundler',
    checkJs: true,
    strict: false,
    noEmit: true,
    types: ['node'],
    skipLibCheck: true,
  };
  writeFileSync(
    join(folder, 'tsconfig.js.json'),
    JSON.stringify({ compilerOptions, files: [modules, ...files] }),
  );
  await runTool('tsc', ['-p', join(folder, 'tsconfig.js.json')]);
});

test('TypeScript snippets compile, strictly', async () => {
  const files = of('ts', '').map((snippet) => {
    const file = fileOf(snippet, 'ts');
    writeFileSync(file, snippet.code);
    return file;
  });
  const compilerOptions = {
    target: 'es2022',
    lib: ['es2022', 'dom'],
    module: 'esnext',
    moduleResolution: 'bundler',
    strict: true,
    noEmit: true,
    types: [],
  };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }));
  await runTool('tsc', ['-p', folder]);
});

test('with the snippet for React 19, its JSX has the element', async () => {
  const [snippet] = of('ts', 'react');
  const use = `import { createElement, type JSX } from 'react';
export const view: JSX.Element = <glassformer-attention layer={2} theme="dark" />;
// @ts-expect-error: no such theme
export const wrong: JSX.Element = <glassformer-attention theme="red" />;
export const other = createElement('div');
`;
  const file = fileOf(snippet, 'tsx');
  writeFileSync(file, `${snippet.code}\n${use}`);
  const compilerOptions = {
    target: 'es2022',
    lib: ['es2022', 'dom'],
    module: 'esnext',
    moduleResolution: 'bundler',
    jsx: 'react-jsx',
    paths: {
      react: [join(root, 'node_modules/@types/react')],
      'react/*': [join(root, 'node_modules/@types/react/*')],
    },
    strict: true,
    noEmit: true,
    types: [],
  };
  const config = join(folder, 'tsconfig.react.json');
  writeFileSync(config, JSON.stringify({ compilerOptions, files: [file] }));
  await runTool('tsc', ['-p', config]);
});

test('the C++ example compiles and runs', async () => {
  const [{ code }] = of('cpp', '');
  const [{ code: command }] = of('sh', 'compile');
  const source = join(folder, 'example.cpp');
  const program = 'build/docs-example';
  writeFileSync(source, code);
  const compile = asBuiltForTests(command)
    .replace('example.cpp', source)
    .replace('-o example && ./example', `-o ${program}`);
  const inputs = ['web/docs/cpp.md', 'src', library];
  await unlessDone('docs-cpp', inputs, [program], () => run('bash', ['-c', compile]));
  const output = await run(join(root, program), []);
  assert.match(
    output,
    /^positive 0\.\d+, \d+ tokens\n a attends .* 0\.\d+\n.*Bahnhof.*\nmissing_file: no\/such.*\n$/,
  );
});

test('the short C++ examples compile and run', async () => {
  const [{ code: command }] = of('sh', 'compile');
  for (const [i, snippet] of of('cpp', 'short').entries()) {
    const source = join(folder, `short_${i}.cpp`);
    const program = `build/docs-short-${i}`;
    writeFileSync(source, snippet.code);
    const compile = asBuiltForTests(command)
      .replace('example.cpp', source)
      .replace('-o example && ./example', `-o ${program}`);
    const inputs = [snippet.file, 'src', library];
    await unlessDone(`docs-cpp-short-${i}`, inputs, [program], () => run('bash', ['-c', compile]));
    assertOutput(snippet, await run(join(root, program), []));
  }
});

test('the CMake snippet equals the project that a test builds', () => {
  const project = readFileSync(join(root, 'tests/install/example/CMakeLists.txt'), 'utf8');
  const lines = of('cmake', '').flatMap(({ code }) => code.trim().split('\n'));
  assert.ok(lines.length > 0);
  for (const line of lines) assert.ok(project.includes(`${line}\n`), line);
});

test('JSON snippets are JSON; the configuration is the shipped one', () => {
  for (const { file, code } of of('json', '')) {
    const value = JSON.parse(code);
    if (!file.endsWith('models.md')) continue;
    const shipped = readFileSync(join(root, 'weights/sentiment/config.json'), 'utf8');
    assert.deepEqual(value, JSON.parse(shipped));
  }
});

// --- in a page, served by a static host -----------------------------------------------------------

const [{ code: policyText }] = of('text', '').filter(({ code }) => code.startsWith('Content-Sec'));
const policy = policyText.replace(/^.*?: /, '').trim();

// Opens a page until its title is set. Returns the title and the errors.
async function titleOf(url) {
  const context = await browser.newContext();
  const page = await context.newPage();
  const failure = new Promise((_, reject) => page.on('pageerror', reject));
  failure.catch(() => {});
  await page.goto(url);
  await Promise.race([failure, page.waitForFunction(() => document.title)]);
  const title = await page.title();
  await context.close();
  return title;
}

// Returns a page with a script and a policy.
const script = (body) => `<!doctype html><body><script type="module">${body}</script></body>`;

for (const snippet of of('js', 'page')) {
  test(`runs in a page: ${nameOf(snippet)}`, async () => {
    const strict = snippet.file.endsWith('csp.md');
    const trusted = snippet.code.includes('trustedTypes');
    const body =
      snippet.code
        .replaceAll("'glassformer'", "'/packages/glassformer/dist/index.js'")
        .replaceAll(/'glassformer\/(read|threads)'/g, "'/packages/glassformer/dist/$1.js'")
        .replaceAll("'@glassformer/element'", "'/packages/@glassformer/element/element.js'") +
      "\ndocument.title = 'done';\n";
    pages = {
      '/': {
        body: '<!doctype html><body><script type="module" src="/main.js"></script></body>',
        policy: strict && policy + (trusted ? "; require-trusted-types-for 'script'" : ''),
      },
      '/main.js': { body },
    };
    assert.equal(await titleOf(`${origin}/`), 'done');
  });
}

test('the page with an import map runs', async () => {
  const [{ code }] = of('html', 'page');
  pages = { '/': { body: `<!doctype html>${code}` } };
  assert.equal(await titleOf(`${origin}/`), 'positive');
});

test('the documentation of the course names its lessons, and frames show one', () => {
  const views = join(root, 'web/src/views');
  const text = readFileSync(join(root, 'web/docs/course.md'), 'utf8');
  const named = [...text.matchAll(/^\| `([\w-]+)` \|/gm)].map(([, name]) => name);
  const lessons = readFileSync(join(views, 'course/lessons.ts'), 'utf8');
  assert.deepEqual(
    named,
    [...lessons.matchAll(/^ {4}name: '([\w-]+)'/gm)].map(([, name]) => name),
  );
  for (const { code } of of('html', 'frame')) {
    const address = new URL(/src="([^"]+)"/.exec(code)[1]);
    const link = new URLSearchParams(address.hash.slice(1));
    assert.equal(link.get('embed'), '1');
    assert.equal(link.get('view'), 'course');
    assert.ok(named.includes(link.get('lesson')));
  }
});

test('the element in a page shows the JSON inside it', async () => {
  const [{ code }] = of('html', '');
  const shown = `<script type="module">
    const view = document.querySelector('glassformer-attention');
    const { weight } = await new Promise(function wait(resolve) {
      if (view.cell) resolve(view.cell);
      else requestAnimationFrame(() => wait(resolve));
    });
    document.title = weight.toFixed(3);</script>`;
  pages = { '/': { body: `<!doctype html>${code}${shown}` } };
  assert.equal(await titleOf(`${origin}/`), '0.900');
});

// Builds a script and returns the title that it gives a page.
async function titleOfBuild(input, plugins = []) {
  await vite({
    root: folder,
    base: '/built/vite/',
    configFile: false,
    logLevel: 'error',
    plugins,
    build: {
      outDir: 'built/vite',
      target: 'es2022',
      rollupOptions: { input, output: { entryFileNames: 'entry.js' } },
    },
  });
  pages = { '/': { body: script("import '/built/vite/entry.js';") } };
  return titleOf(`${origin}/`);
}

test('a Vite build runs in a page', async () => {
  for (const snippet of of('js', 'bundle vite')) {
    writeFileSync(fileOf(snippet, 'js'), snippet.code);
    assert.equal(await titleOfBuild(fileOf(snippet, 'js')), 'positive');
  }
});

// --- recipes of frameworks.md. tests/environments runs the package in the frameworks themselves. ----

const recipe = (language, kind) => of(language, kind)[0].code;
const inRecipes = (name) => join(folder, 'recipes', name);

test('the Svelte recipe runs in a page', async () => {
  mkdirSync(inRecipes(''), { recursive: true });
  writeFileSync(inRecipes('model.js'), recipe('js', 'recipe'));
  writeFileSync(inRecipes('Verdict.svelte'), recipe('svelte', 'recipe'));
  writeFileSync(
    inRecipes('main.js'),
    `import { mount } from 'svelte';
import Verdict from './Verdict.svelte';
mount(Verdict, { target: document.body });
const wait = () => {
  const { textContent } = document.querySelector('output');
  if (textContent === 'positive') document.title = textContent;
  else setTimeout(wait, 10);
};
wait();
`,
  );
  assert.equal(
    await titleOfBuild(inRecipes('main.js'), [svelte({ configFile: false })]),
    'positive',
  );
});

// Stand-ins with the few functions that the recipes use. A component runs once, then its effects do.
const standIns = {
  'react/index.js': `let state;
export const useState = (initial) => [(state ??= initial), (value) => (state = value)];
export const useEffect = (effect) => void effect();
export const stateNow = () => state;
`,
  'react/jsx-runtime.js': 'export const jsx = (type, { children }) => children;\n',
  '@angular/core/index.js': `export const Component = () => (type) => type;
export const signal = (value) => Object.assign(() => value, { set: (next) => (value = next) });
`,
};

test('the recipes for React, Next and Angular run with stand-ins for the frameworks', async () => {
  const exports = { '.': './index.js', './jsx-runtime': './jsx-runtime.js' };
  for (const [name, code] of Object.entries(standIns)) {
    const file = join(folder, 'node_modules', name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, code);
    writeFileSync(join(dirname(file), 'package.json'), JSON.stringify({ type: 'module', exports }));
  }
  const jsx = { loader: 'jsx', jsx: 'automatic', format: 'esm' };
  const ts = {
    loader: 'ts',
    format: 'esm',
    tsconfigRaw: '{ "compilerOptions": { "experimentalDecorators": true } }',
  };
  mkdirSync(inRecipes(''), { recursive: true });
  writeFileSync(inRecipes('model.js'), recipe('js', 'recipe'));
  const write = async (name, code, options) =>
    writeFileSync(inRecipes(name), (await transform(code, options)).code);
  await write('Verdict.mjs', recipe('jsx', 'recipe'), jsx);
  await write('Page.mjs', recipe('jsx', 'recipe server'), jsx);
  // Node resolves addresses only in browsers: the model is a path here.
  const angular = recipe('ts', 'recipe').replace("'/models/", "'models/");
  await write('verdict.component.mjs', angular, ts);
  symlinkSync(join(root, 'weights'), join(folder, 'models'));
  writeFileSync(
    inRecipes('main.mjs'),
    `import { stateNow } from 'react';
import Verdict from './Verdict.mjs';
import Page from './Page.mjs';
import { Verdict as Component } from './verdict.component.mjs';
process.chdir(process.argv[2]);
Verdict({ text: 'A gripping film.' });
while (stateNow() === '…') await new Promise((resolve) => setTimeout(resolve, 10));
const component = new Component();
await component.ngOnInit();
console.log(stateNow(), await Page(), component.label());
`,
  );
  const output = await run(process.execPath, [inRecipes('main.mjs'), folder]);
  assert.equal(output.trim(), 'positive positive positive');
});

test('an esbuild bundle runs in a page', async () => {
  const [snippet] = of('js', 'bundle esbuild');
  writeFileSync(fileOf(snippet, 'js'), snippet.code);
  const outfile = join(folder, 'built/esbuild.js');
  const entryPoints = [fileOf(snippet, 'js')];
  await esbuild({ entryPoints, outfile, bundle: true, format: 'esm', logLevel: 'error' });
  pages = { '/': { body: script("import '/built/esbuild.js';") } };
  assert.equal(await titleOf(`${origin}/`), 'positive');
});

test('one script that contains the model runs in a page opened as a file', async () => {
  const [snippet] = of('js', 'bundle file');
  writeFileSync(fileOf(snippet, 'js'), snippet.code);
  const [{ code: command }] = of('sh', 'check').filter(({ code }) => code.startsWith('esbuild '));
  const outfile = join(folder, 'page.js');
  const options = command
    .replace('main.js', fileOf(snippet, 'js'))
    .replace('page.js', outfile)
    .split(/\\\n|\s+/);
  await runTool('esbuild', [...options.slice(1).filter(Boolean), '--log-level=error']);
  const page = join(folder, 'page.html');
  writeFileSync(page, '<!doctype html><script src="page.js"></script>');
  assert.equal(await titleOf(pathToFileURL(page).href), 'positive');
});

// --- the site --------------------------------------------------------------------------------------

const site = join(root, 'build/docs');
const built = readdirSync(site, { recursive: true }).filter(
  (file) => file.endsWith('.html') && file !== '404.html',
);
const contents = new Map(built.map((file) => [file, readFileSync(join(site, file), 'utf8')]));

test('the site has all pages, each with a title and one main heading', () => {
  assert.ok(built.length > 40, `${built.length} pages`);
  for (const [file, html] of contents) {
    assert.match(html, /<title>[^<]+<\/title>/, file);
    assert.equal(html.match(/<h1\b/g)?.length, 1, file);
  }
});

test('the C++ reference has every declaration of the public headers, with a comment', () => {
  const page = contents.get('cpp-reference.html');
  const headersIn = (folder) => filesIn(folder).filter((file) => file.endsWith('.hpp'));
  const read = (file) => readFileSync(join(root, file), 'utf8');
  const headers = headersIn('src/glassformer');
  let found = 0;
  for (const file of [...headers, ...headersIn('src/api')]) {
    // Options and results are in the section of the public header that includes theirs.
    const include = `#include "${file.replace('src/', '')}"`;
    const owner = headers.includes(file)
      ? file
      : headers.find((header) => read(header).includes(include));
    assert.ok(owner, file);
    const section = page.match(
      new RegExp(`<h2[^>]*>${basename(owner)} <a([^]*?)(?:<h2|</main>)`),
    )?.[1];
    assert.ok(section, file);
    const text = read(file);
    // Types, constants and functions begin a line; methods other than operators are in classes.
    const names = [
      ...text.matchAll(/^(?:struct|class|enum class|using) (\w+)\b(?!;)/gm),
      ...text.matchAll(/^(?! )[\w:<>* ]*\b(\w+)(?:\(| = )/gm),
    ].map(([, name]) => name);
    // What describes options is on the page of options.
    const described = /^(about_\w+|(\w+_)?fields)$/;
    for (const name of new Set(names.filter((each) => !described.test(each)))) {
      assert.match(
        section,
        new RegExp(`<h3[^>]*>${name} <a[^>]*>[^<]*</a></h3><p>`),
        `${file}: ${name}`,
      );
    }
    for (const [, name] of text.matchAll(
      /^ {2}(?! )(?:static |const )?[\w:<>&, ]+ &?(\w+)\((?:.*[;,])?$/gm,
    )) {
      if (!/^[A-Z]/.test(name)) assert.ok(section.includes(name), `${file}: ${name}`);
    }
    found += names.length;
  }
  assert.ok(found > 30, `${found} names`);
  assert.doesNotMatch(page, /private:|unique_ptr|pipeline_/);
});

test('no link of the site is dead', () => {
  const dead = [];
  const start = `${manifest.repository.url.replace(/^git\+|\.git$/g, '')}/blob/main/`;
  for (const [file, html] of contents) {
    for (const [, target] of html.matchAll(/\b(?:href|src)="([^"]+)"/g)) {
      if (/^https:/.test(target)) {
        const path = target.startsWith(start) && target.slice(start.length).split('#')[0];
        if (path && !existsSync(join(root, path))) dead.push(`${file}: ${target}`);
        continue;
      }
      const { pathname, hash } = new URL(target, `http://site/${file}`);
      const to = pathname === '/' ? 'index.html' : decodeURIComponent(pathname.slice(1));
      const id = decodeURIComponent(hash.slice(1));
      const there = existsSync(join(site, to));
      // VitePress makes the target of its own link past the navigation.
      if (!there || (id && id !== 'VPContent' && !contents.get(to)?.includes(`id="${id}"`)))
        dead.push(`${file}: ${target}`);
    }
  }
  assert.deepEqual(dead, []);
});

test('links in the sources of the site exist in the repository', () => {
  const dead = [];
  for (const file of documents) {
    const text = readFileSync(join(root, file), 'utf8').replace(/^```[^]*?^```$/gm, '');
    for (const [, target] of text.matchAll(/\]\((?!https?:|#)([^)#]+)/g)) {
      if (!existsSync(join(root, dirname(file), target))) dead.push(`${file}: ${target}`);
    }
  }
  assert.deepEqual(dead, []);
});

test('the pages cause no browser errors, fit a phone and fetch nothing from other origins', async () => {
  pages = {};
  places['/'] = 'build/docs/';
  for (const file of [
    'index.html',
    'start.html',
    'interpretability.html',
    'performance.html',
    'bundlers.html',
    'cards/sentiment.html',
    'api/classes/Classifier.html',
    'cpp-reference.html',
  ]) {
    const page = await browser.newPage({ viewport: { width: 390, height: 800 } });
    const complaints = [];
    page.on('console', (message) => complaints.push(message.text()));
    page.on('requestfailed', (request) => complaints.push(request.url()));
    page.on('request', (request) => {
      if (!/^data:/.test(request.url()) && new URL(request.url()).origin !== origin)
        complaints.push(request.url());
    });
    await page.goto(`${origin}/${file}`, { waitUntil: 'networkidle' });
    const width = await page.evaluate(() => document.documentElement.scrollWidth);
    assert.equal(width, 390, file);
    assert.deepEqual(complaints, [], file);
    await page.close();
  }
});

test('the search finds a page by a word of it', async () => {
  const page = await browser.newPage();
  await page.goto(`${origin}/index.html`, { waitUntil: 'networkidle' });
  await page.getByRole('button', { name: 'Search', exact: true }).click();
  await page.getByRole('searchbox').fill('maskTokens');
  await page.locator('.results .result').first().waitFor();
  assert.match(await page.locator('.results').innerText(), /ClassifyOptions/);
  await page.close();
});
