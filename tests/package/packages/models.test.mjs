// The models' packages, installed next to the package as by npm: their contents, and that `load`
// accepts their exports, in Node and with a bundler.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { build as vite, createServer } from 'vite';
import { models } from '../../../tools/models.mjs';
import { Classifier, assertError, root } from '../support/helpers.mjs';

const app = mkdtempSync(join(tmpdir(), 'glassformer-models-'));
after(async () => {
  // Vite's development server may still write to its cache after it has closed.
  for (let attempt = 0; ; attempt++) {
    try {
      rmSync(app, { recursive: true, force: true });
      return;
    } catch (error) {
      if (error.code !== 'ENOTEMPTY' || attempt === 20) throw error;
      await setTimeout(250);
    }
  }
});
writeFileSync(join(app, 'package.json'), '{"type":"module"}');

const npm = (args, cwd) =>
  execFileSync('npm', args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
const pack = (folder) => {
  const [packed] = JSON.parse(npm(['pack', '--json', '--pack-destination', app], folder));
  return { ...packed, files: packed.files.map(({ path }) => path).sort() };
};
const packed = Object.fromEntries(
  models.map((name) => [name, pack(join(root, 'build/packages', name))]),
);
const main = pack(root);
const tarballs = [main, ...Object.values(packed)].map(({ filename }) => `./${filename}`);
npm(['install', '--offline', '--no-audit', '--no-fund', ...tarballs], app);

const readPackage = (name) =>
  JSON.parse(readFileSync(join(app, 'node_modules', name, 'package.json'), 'utf8'));

for (const name of models) {
  test(`@glassformer/${name} contains exactly the model, its card and its license`, () => {
    const config = JSON.parse(readFileSync(join(root, 'weights', name, 'config.json'), 'utf8'));
    const own = ['LICENSE', 'README.md', 'index.d.ts', 'index.js', 'package.json'];
    const model = ['config.json', 'manifest.json', 'model.safetensors'];
    if (config.task === 'translation') model.push('shortlist.bin');
    if (config.model_type === 'vit') model.push('preprocessor_config.json');
    else if (config.task === 'text-generation')
      model.push('tokenizer.json', 'tokenizer_config.json');
    else model.push('tokenizer.model');
    for (const file of ['heads.json', 'methods.json'])
      if (existsSync(join(root, 'weights', name, file))) model.push(file);
    assert.deepEqual(packed[name].files, [...own, ...model].sort());
    for (const file of [...model, 'LICENSE']) {
      const installed = readFileSync(join(app, 'node_modules/@glassformer', name, file));
      assert.ok(installed.equals(readFileSync(join(root, 'weights', name, file))), file);
    }
    const { license, version, repository, exports } = readPackage(`@glassformer/${name}`);
    assert.equal(license, 'SEE LICENSE IN LICENSE');
    assert.equal(version, readPackage('glassformer').version);
    assert.equal(repository.directory, `weights/${name}`);
    // Each file can be imported by name, and import.meta.resolve finds it.
    const require = createRequire(join(app, 'x.js'));
    for (const file of model) {
      assert.equal(exports[`./${file}`], `./${file}`);
      require.resolve(`@glassformer/${name}/${file}`);
    }
  });

  test(`the card of @glassformer/${name} has no link that only works in the repository`, () => {
    const card = readFileSync(join(app, 'node_modules/@glassformer', name, 'README.md'), 'utf8');
    const links = [...card.matchAll(/\]\(([^)]+)\)/g)].map(([, target]) => target);
    assert.ok(links.length > 3);
    assert.deepEqual(
      links.filter((target) => !target.startsWith('https://')),
      [],
    );
  });

  test(`the example in the card of @glassformer/${name} runs`, () => {
    const card = readFileSync(join(app, 'node_modules/@glassformer', name, 'README.md'), 'utf8');
    writeFileSync(join(app, 'card.js'), card.match(/```js\n([^]*?)```/)[1]);
    const output = execFileSync(process.execPath, ['card.js'], { cwd: app, encoding: 'utf8' });
    const expected = {
      sentiment: /^positive$/m,
      'en-de': /Bahnhof/,
      'en-fr': /gare/,
      writer: /^( [a-z]+|,).* [a-z]+/ms,
      digits: /label: '9', score: 0\.\d+/,
      clothes: /label: 'Ankle boot',\s+score: 0\.\d+/,
    };
    assert.match(output, expected[name]);
  });
}

test('a folder is found by its name in Node', async () => {
  writeFileSync(
    join(app, 'folder.js'),
    `import { Classifier } from 'glassformer';
     const folder = new URL('.', import.meta.resolve('@glassformer/sentiment/config.json'));
     console.log((await (await Classifier.load(folder)).classify('Lovely.')).label);`,
  );
  const output = execFileSync(process.execPath, ['folder.js'], { cwd: app, encoding: 'utf8' });
  assert.equal(output, 'positive\n');
});

writeFileSync(
  join(app, 'main.js'),
  `import { Classifier } from 'glassformer';
   import files from '@glassformer/sentiment';
   export default async function classify(text) {
     const classifier = await Classifier.load(files);
     const { label } = await classifier.classify(text);
     classifier.dispose();
     return label;
   }`,
);

test('Vite builds an application with the model in it', async () => {
  await vite({
    root: app,
    base: './',
    configFile: false,
    logLevel: 'warn',
    build: {
      outDir: 'built',
      modulePreload: false,
      rollupOptions: {
        input: join(app, 'main.js'),
        preserveEntrySignatures: 'strict',
        output: { entryFileNames: 'entry.js' },
      },
    },
  });
  const assets = readdirSync(join(app, 'built/assets'));
  assert.equal(assets.filter((name) => name.endsWith('.safetensors')).length, 1, `${assets}`);
  const { default: classify } = await import(pathToFileURL(join(app, 'built/entry.js')));
  assert.equal(await classify('A gripping film.'), 'positive');
});

test("Vite's development server serves the model's files at the package's addresses", async () => {
  const server = await createServer({
    root: app,
    configFile: false,
    logLevel: 'error',
    server: { port: 0, host: '127.0.0.1' },
    optimizeDeps: { include: ['@glassformer/sentiment'] },
  });
  try {
    await server.listen();
    const origin = `http://127.0.0.1:${server.httpServer.address().port}`;
    const code = await (await fetch(`${origin}/main.js`)).text();
    const script = new URL(code.match(/"(\/[^"]*sentiment\.js[^"]*)"/)[1], origin).href;
    // The module that the page runs, with the page's address.
    const text = (await (await fetch(script)).text())
      .replaceAll('import.meta.url', JSON.stringify(script))
      .replace(/import .* from .*;/g, '');
    const module = await import(`data:text/javascript,${encodeURIComponent(text)}`);
    for (const [file, given] of Object.entries(module.default)) {
      const bytes = file.endsWith('.json') ? given : await (await fetch(given)).arrayBuffer();
      const expected = readFileSync(join(root, 'weights/sentiment', file));
      assert.ok(Buffer.from(bytes).equals(expected), file);
    }
  } finally {
    await server.close();
  }
});

test('files are bytes, Blobs or URLs in any mixture, and nothing else', async () => {
  const at = (file) => pathToFileURL(join(root, 'weights/sentiment', file));
  const classifier = await Classifier.load({
    'config.json': new Uint8Array(readFileSync(at('config.json'))),
    'model.safetensors': at('model.safetensors'),
    'tokenizer.model': at('tokenizer.model'),
  });
  assert.equal((await classifier.classify('A gripping film.')).label, 'positive');
  classifier.dispose();
  await assertError(
    Classifier.load({ 'config.json': 'config.json' }),
    'invalid_option',
    /config\.json: expected a Uint8Array, a Blob or a URL/,
  );
});
