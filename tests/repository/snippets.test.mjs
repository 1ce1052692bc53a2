// Runs the snippets of the documentation that need an environment: a hub, a file chosen by a user,
// another server, a service worker, an edge runtime. Each runs unchanged.
import assert from 'node:assert/strict';
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { after, test } from 'node:test';
import { build as esbuild } from 'esbuild';
import { root, run } from '../../tools/build.mjs';
import { launch } from '../page/open.mjs';
import { firefoxModel } from '../package/support/firefox_model.mjs';
import { serve } from '../package/support/helpers.mjs';
import { folderWithPackages, of } from './snippets.mjs';

const folder = folderWithPackages('docs-surroundings');
const wanting = of('js', 'check');
const taken = new Set();

// Returns the only snippet that contains `text`.
function snippet(text) {
  const found = wanting.filter(({ code }) => code.includes(text));
  assert.equal(found.length, 1, text);
  taken.add(found[0]);
  return found[0].code;
}

// The site of the documentation: the package's files in one folder, a model in another.
symlinkSync(join(root, 'dist'), join(folder, 'assets'));
symlinkSync(join(root, 'weights'), join(folder, 'models'));
const { url: origin } = await serve(folder, {
  '/': (response) =>
    response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html>'),
});
const browser = await launch();
after(() => browser.close());

// Runs a script in a page. Requests to `elsewhere` are answered from `files`, by the name at the
// end of the address. Resolves to the printed lines, once there are `enough`.
async function inPage(code, { elsewhere, files = {}, before = '', act, enough = 1 }) {
  const context = await browser.newContext();
  try {
    const page = await context.newPage();
    const lines = [];
    const printed = new Promise((resolve, reject) => {
      page.on('pageerror', reject);
      page.on('console', async (message) => {
        const values = await Promise.all(message.args().map((value) => value.jsonValue()));
        if (message.type() === 'log' && lines.push(values) >= enough) resolve(lines);
      });
    });
    if (elsewhere) {
      await page.route(`${elsewhere}/**`, (route) => {
        const file = files[basename(new URL(route.request().url()).pathname)];
        const headers = { 'access-control-allow-origin': '*' };
        if (!file) return route.fulfill({ status: 404, headers });
        const ranged = route.request().headers().range;
        const [, from, to] = /bytes=(\d+)-(\d*)/.exec(ranged ?? '') ?? [];
        const body = from ? file.subarray(Number(from), to ? Number(to) + 1 : undefined) : file;
        const range = from && `bytes ${from}-${Number(from) + body.length - 1}/${file.length}`;
        return route.fulfill({
          status: from ? 206 : 200,
          headers: range ? { ...headers, 'content-range': range } : headers,
          body,
        });
      });
    }
    await page.goto(`${origin}/`);
    const content = before + code.replaceAll("'glassformer'", "'/assets/index.js'");
    await page.evaluate((text) => {
      const script = document.createElement('script');
      script.type = 'module';
      script.textContent = text;
      document.body.append(script);
    }, content);
    await act?.(page);
    return await printed;
  } finally {
    await context.close();
  }
}

test('a model of a hub', async () => {
  const names = ['config.json', 'model.safetensors', 'tokenizer.json', 'tokenizer_config.json'];
  const files = Object.fromEntries(
    names.map((name) => [
      name,
      readFileSync(join(root, 'tests/fixtures/checkpoints/bert_sequence', name)),
    ]),
  );
  const expected = JSON.parse(
    readFileSync(join(root, 'tests/fixtures/checkpoints/bert_sequence/config.json'), 'utf8'),
  );
  const lines = await inPage(snippet("load('hf:"), {
    elsewhere: 'https://huggingface.co',
    files,
    before: 'const log = console.log; console.log = (...v) => v[0]?.label && log(v[0].label);\n',
  });
  assert.ok(Object.values(expected.id2label).includes(lines[0][0]), lines[0][0]);
});

test('a model that the user chooses', async () => {
  const code = snippet('webkitRelativePath');
  const lines = await inPage(code, {
    before: 'document.body.innerHTML = \'<input type="file" webkitdirectory>\';\n',
    act: async (page) => {
      await page.locator('input').setInputFiles(join(root, 'weights/sentiment'));
    },
  });
  assert.equal(lines[0][0].task, 'text-classification');
});

test('a translator of Firefox from another server', async () => {
  const files = Object.entries(firefoxModel()).map(([name, bytes]) => [name, Buffer.from(bytes)]);
  const lines = await inPage(snippet('new URL(name, base)'), {
    elsewhere: 'https://example.org',
    files: Object.fromEntries(files),
    before: 'const log = console.log; console.log = (text, map) => log(typeof text, map.length);\n',
  });
  assert.equal(lines[0][0], 'string');
  assert.ok(lines[0][1] > 0);
});

test('a service worker that keeps the package', async () => {
  writeFileSync(join(folder, 'service.js'), snippet("addEventListener('install'"));
  const context = await browser.newContext();
  try {
    const page = await context.newPage();
    await page.goto(`${origin}/`);
    await page.evaluate(async () => {
      await navigator.serviceWorker.register('/service.js');
      await navigator.serviceWorker.ready;
    });
    await page.reload();
    await context.setOffline(true);
    await page.reload();
    const exported = await page.evaluate(async () =>
      Object.keys(await import('/assets/index.js')).includes('load'),
    );
    assert.ok(exported);
  } finally {
    await context.close();
  }
});

test('from CommonJS', async () => {
  const code = snippet("await import('glassformer')");
  const file = join(folder, 'common.cjs');
  writeFileSync(
    file,
    `${code}classify('A gripping film.').then(({ label }) => console.log(label));\n`,
  );
  assert.equal(await run(process.execPath, [file]), 'positive\n');
});

test('a runtime in which binaries are modules', async () => {
  const code = snippet("from 'glassformer/glassformer.wasm'");
  const entry = join(folder, 'edge.mjs');
  writeFileSync(entry, code);
  const outfile = join(folder, 'edge.bundle.mjs');
  // Does the same as wrangler, with a bundler that runs here.
  const binaries = {
    name: 'binaries',
    setup({ onLoad }) {
      onLoad({ filter: /\.wasm$/ }, ({ path }) => ({
        contents: `import { readFileSync } from 'node:fs';
          export default new WebAssembly.Module(readFileSync(${JSON.stringify(path)}));`,
      }));
    },
  };
  await esbuild({
    entryPoints: [entry],
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    plugins: [binaries],
    logLevel: 'error',
  });
  const ask = join(folder, 'ask.mjs');
  writeFileSync(
    ask,
    `import worker from './edge.bundle.mjs';
const response = await worker.fetch(new Request('${origin}/'));
console.log(await response.text());
`,
  );
  assert.equal(await run(process.execPath, [ask]), 'positive\n');
});

test('every such snippet was run', () => {
  assert.equal(taken.size, wanting.length);
});
