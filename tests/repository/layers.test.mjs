// Checks the layers of the sources, from their includes and imports.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { filesIn, root } from '../../tools/build.mjs';
import { includes, sourcesIn } from './includes.mjs';

// The layers of src, from the lowest, which depends on nothing. Each may include those before it.
// No other layer includes the public headers in glassformer.
const floors = [
  'base',
  'tensor',
  'kernels',
  'weights',
  'text',
  'jinja',
  'image',
  'run',
  'layers',
  'models',
  'families',
  'search',
  'explain',
  'train',
  'api',
  'tasks',
  'glassformer',
  'linked',
  'cli',
];

// Layers that must not include each other, despite their order: only families use both text or
// pictures and models.
const apart = {
  run: ['text', 'image'],
  layers: ['text', 'image'],
  models: ['text', 'image'],
  text: ['tensor', 'kernels', 'weights'],
  jinja: ['tensor', 'kernels', 'weights'],
  image: ['tensor', 'kernels', 'weights', 'text', 'jinja'],
  search: ['families', 'text', 'image'],
  explain: ['families', 'search', 'text', 'image'],
  train: ['families', 'search', 'explain', 'text'],
};

// Libraries that only some files may include.
const confined = [
  { pattern: /^(xtensor|xtl)\b/, where: /^src\/tensor\// },
  {
    pattern: /^(xsimd\b|wasm_simd128\.h|.*intrin\.h|arm_neon\.h)/,
    where: /^(src\/kernels\/|tests\/bench\/peak\.cpp$)/,
  },
  { pattern: /^emscripten\b/, where: /^wasm\/export\.hpp$/ },
  { pattern: /^node_api\.h$/, where: /^wasm\/native\/addon\.cpp$/ },
  { pattern: /^nlohmann\b/, where: /^(src\/cli\/|tests\/)/ },
  { pattern: /^CLI\b/, where: /^src\/cli\// },
  { pattern: /^(png\.h|jpeglib\.h|webp\b)/, where: /^src\/image\/decode\// },
];

const sources = sourcesIn('src', 'wasm', 'tests');

test('src contains the known layers', () => {
  const folders = new Set(
    sources.filter((file) => /^src\/.*\//.test(file)).map((file) => file.split('/')[1]),
  );
  assert.deepEqual([...folders].toSorted(), floors.toSorted());
});

test('each layer includes only layers below it', () => {
  const wrong = [];
  for (const file of sources.filter((name) => /^src\/.*\//.test(name))) {
    const floor = file.split('/')[1];
    for (const included of includes(file)) {
      const other = included.split('/')[0];
      if (!floors.includes(other) || other === floor) continue;
      const above = floors.indexOf(other) > floors.indexOf(floor);
      if (above || other === 'glassformer' || apart[floor]?.includes(other))
        wrong.push(`${file}: ${included}`);
    }
  }
  assert.deepEqual(wrong, []);
});

test('public headers include only the standard library, each other and the installed values', () => {
  const headersIn = (floor) =>
    sources.filter((file) => file.startsWith(`src/${floor}/`) && file.endsWith('.hpp'));
  const headers = headersIn('glassformer');
  assert.ok(headers.length > 0);
  const build = readFileSync(join(root, 'tools/cmake/install.cmake'), 'utf8');
  const [, list] = /set\(GLASSFORMER_VALUES\s([^)]+)\)/.exec(build);
  const values = list.trim().split(/\s+/);
  const included = new Set();
  for (const file of [...headers, ...values.map((name) => `src/${name}`)]) {
    const others = includes(file).filter((name) => !/^[a-z_]+$/.test(name));
    for (const name of others) included.add(name);
    assert.deepEqual(
      others.filter((name) => !headers.includes(`src/${name}`) && !values.includes(name)),
      [],
      file,
    );
  }
  assert.deepEqual(
    values.filter((name) => !included.has(name)),
    [],
    'a public header includes every installed value',
  );
  assert.deepEqual(
    headersIn('api').filter((file) => !values.includes(file.replace('src/', ''))),
    [],
    'all options and results are installed',
  );
});

test('includes within the project are relative to src', () => {
  const wrong = [];
  for (const file of sources.filter((name) => name.startsWith('src/'))) {
    for (const included of includes(file)) {
      if (included.startsWith('.')) wrong.push(`${file}: ${included}`);
    }
  }
  assert.deepEqual(wrong, []);
});

test('only the allowed files include libraries', () => {
  const wrong = [];
  for (const file of sources) {
    for (const included of includes(file)) {
      for (const { pattern, where } of confined) {
        if (pattern.test(included) && !where.test(file)) wrong.push(`${file}: ${included}`);
      }
    }
  }
  assert.deepEqual(wrong, []);
});

test('only tokenizers contain the marks of spaces, words and bytes in vocabularies', () => {
  const marks = /[▁Ġ]|\\u\{?2581|\\x96\\x81|['"]##['"]|\b(space_symbol|byte_of_piece)\b/iu;
  const knows = (file) => marks.test(readFileSync(join(root, file), 'utf8'));
  const files = ['src', 'wasm', 'web/src'].flatMap((folder) => filesIn(folder));
  const wrong = files.filter((file) => /\.([ch]pp|ts|svelte)$/.test(file) && knows(file));
  assert.deepEqual(
    wrong.filter((file) => !file.startsWith('src/text/')),
    [],
  );
  assert.ok(wrong.length > 0, 'the tokenizers contain them');
});

function imports(file) {
  const text = readFileSync(join(root, file), 'utf8');
  const pattern = /\b(?:from|import)\s*\(?\s*['"]([^'"]+)['"]/g;
  return [...text.matchAll(pattern)].map((match) => match[1]);
}

test('the page imports only public entries of the package', () => {
  const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const wrong = [];
  const pages = filesIn('web').filter((file) => /\.(ts|svelte|js)$/.test(file));
  assert.ok(pages.length > 0);
  for (const file of pages) {
    for (const name of imports(file)) {
      const path = name.startsWith('.') ? join(dirname(file), name) : name;
      const outside = name.startsWith('.') && !path.startsWith('web/');
      const hidden = /^glassformer\//.test(name) && !(name.replace(/^\w+/, '.') in exports);
      if (outside || hidden) wrong.push(`${file}: ${name}`);
    }
  }
  assert.deepEqual(wrong, []);
});

/** Imports by module, static and dynamic, of those files that are among them. */
function importsAmong(modules) {
  return new Map(
    modules.map((file) => [
      file,
      imports(file)
        .map((name) => join(dirname(file), name.replace(/\.js$/, '.ts')))
        .filter((name) => modules.includes(name)),
    ]),
  );
}

/** The modules that import themselves through others. */
function circlesIn(needs) {
  const left = new Map(needs);
  // Repeatedly removes the modules that import no other; what stays is in circles.
  for (let size = 0; size !== left.size;) {
    size = left.size;
    for (const [file, others] of left) {
      if (!others.some((other) => left.has(other))) left.delete(file);
    }
  }
  return [...left.keys()];
}

test('no module of the package or the page imports itself through others', () => {
  for (const folder of ['wasm/src', 'web/src']) {
    const needs = importsAmong(filesIn(folder).filter((file) => /\.(ts|svelte)$/.test(file)));
    assert.ok([...needs.values()].flat().length > needs.size, folder);
    assert.deepEqual(circlesIn(needs), [], folder);
  }
});

test('each folder of the package imports only folders before it in the list', () => {
  const packageFloors = [
    'base',
    'engine',
    'loading',
    'host',
    'model',
    'tasks',
    'training',
    'chat',
    'tokenizer',
    'html',
    'pipelines',
  ];
  const modules = filesIn('wasm/src').filter((file) => /^wasm\/src\/.+\//.test(file));
  const folderOf = (file) => file.split('/')[2];
  const wrong = [];
  for (const [file, others] of importsAmong(modules)) {
    for (const other of others) {
      const [own, imported] = [folderOf(file), folderOf(other)];
      // The element is an entry of its own and uses nothing but what is in base.
      const allowed =
        own === 'element'
          ? ['element', 'base'].includes(imported)
          : packageFloors.indexOf(imported) <= packageFloors.indexOf(own) && imported !== 'element';
      if (!allowed) wrong.push(`${file}: ${other}`);
    }
  }
  assert.deepEqual(wrong, []);
  assert.deepEqual(
    [...new Set(modules.map(folderOf))].toSorted(),
    [...packageFloors, 'element'].toSorted(),
  );
});

const pageModules = filesIn('web/src').filter((file) => /\.(ts|svelte)$/.test(file));

test('each floor of the page imports only floors above it in the list', () => {
  const pageFloors = ['ui', 'models', 'panels', 'views', 'app'];
  const floorOf = (file) => pageFloors.indexOf(file.split('/')[2]);
  const wrong = [];
  for (const [file, others] of importsAmong(pageModules)) {
    assert.ok(floorOf(file) >= 0, file);
    for (const other of others) {
      if (floorOf(other) > floorOf(file)) wrong.push(`${file}: ${other}`);
    }
  }
  assert.deepEqual(wrong, []);
});

test('only the table of views imports a view, and each view has an entry', () => {
  const table = 'web/src/views/index.ts';
  const viewOf = (file) => /^web\/src\/views\/([^/]+)\//.exec(file)?.[1];
  const views = new Set(pageModules.map(viewOf).filter((name) => name !== undefined));
  assert.ok(views.size > 6);
  const needs = importsAmong(pageModules);
  const wrong = [];
  for (const [file, others] of needs) {
    if (file === table) continue;
    for (const other of others) {
      const view = viewOf(other);
      if (view !== undefined && view !== viewOf(file)) wrong.push(`${file}: ${other}`);
    }
  }
  assert.deepEqual(wrong, []);
  assert.deepEqual(
    needs
      .get(table)
      .filter((file) => viewOf(file) && !file.endsWith('/contents.ts')) // for the search
      .toSorted(),
    [...views].map((name) => `web/src/views/${name}/index.ts`).toSorted(),
  );
});

test('the page makes no HTML from text', () => {
  const makes = /\b(innerHTML|outerHTML|insertAdjacentHTML|setHTMLUnsafe)\b|\{@html\b/;
  assert.deepEqual(
    pageModules.filter((file) => makes.test(readFileSync(join(root, file), 'utf8'))),
    [],
  );
});

test('a folder of the page, or of its tests and those of the package, holds at most 15 files', () => {
  const counts = new Map();
  for (const file of ['web/src', 'tests/page', 'tests/package'].flatMap((folder) =>
    filesIn(folder),
  ))
    counts.set(dirname(file), (counts.get(dirname(file)) ?? 0) + 1);
  assert.deepEqual(
    [...counts].filter(([, count]) => count > 15),
    [],
  );
});

test('the package has no dynamic import and no runtime dependency', () => {
  const wrong = [];
  for (const file of filesIn('wasm/src')) {
    const text = readFileSync(join(root, file), 'utf8');
    if (/\bimport\s*\(/.test(text.replace(/\/\/.*|\/\*[^]*?\*\//g, ''))) wrong.push(file);
  }
  assert.deepEqual(wrong, []);
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  assert.equal(manifest.dependencies, undefined);
});

// The libraries' names of tokenizer components, classes, files and variables may contain a family's
// name.
const components =
  /\b(?:Bert(?:Normalizer|PreTokenizer|Processing)|RobertaProcessing|bert_normalizer|\w+Tokenizer|sentence_[\w-]+_config|previtem)\b/g;

test('only the file of a checkpoint family and the registry contain its name', () => {
  const registry = readFileSync(join(root, 'src/linked/all.cpp'), 'utf8');
  const names = /^extern const Family ([^;]+);$/m.exec(registry)[1].split(/,\s+/);
  assert.ok(names.length > 6);
  // "clip" is a word of its own, too: of that family only the name in capitals counts. "previtem" is no
  // name of a family.
  const anyCase = names.filter((name) => !['clip', 'vit'].includes(name)).join('|');
  const pattern = new RegExp(`minilm|firefox|(?<!pre)vit|${anyCase}`, 'i');
  const family = { test: (code) => pattern.test(code) || code.includes('CLIP') };
  const own = names.map((name) => `src/families/${name}`);
  own.push('src/linked/all', 'src/linked/read'); // the tables of families
  own.push('src/text/hub/tokenizer_classes'); // the library's table of classes
  own.push('src/text/hub/languages'); // the library's lists of languages
  own.push('src/image/picture_steps'); // the library's classes that prepare pictures
  own.push('src/families/config/rope'); // the library's names of scalings
  const inFolder = sources.filter((file) => file.startsWith('src/'));
  const wrong = inFolder
    .filter((file) => !own.includes(file.replace(/\.[ch]pp$/, '')))
    .filter((file) => {
      const text = readFileSync(join(root, file), 'utf8');
      const code = text.replace(/^\s*\/\/.*$|\s\/\/[^"\n]*$/gm, '').replace(components, '');
      return family.test(code);
    });
  assert.deepEqual(wrong, []);
  assert.ok(
    inFolder.some((file) => family.test(file)),
    'found no file of a family',
  );
});
