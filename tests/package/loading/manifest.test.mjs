// manifest.json describes a model's files. If it exists, other bytes do not load.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { manifestOf, writeManifest } from '../../../tools/manifest.mjs';
import {
  Classifier,
  Generator,
  Translator,
  assertError,
  goldenFolder,
  load,
  modelFiles,
  readGolden,
  readModel,
  root,
  serve,
} from '../support/helpers.mjs';

const name = 'pre_norm_mean';
const text = readGolden(name).texts[0];
const expected = await (await load(goldenFolder(name))).classify(text);

// A golden model with a manifest.
function copyOf(golden) {
  const folder = mkdtempSync(join(tmpdir(), 'glassformer-manifest-'));
  after(() => rmSync(folder, { recursive: true }));
  cpSync(goldenFolder(golden), folder, { recursive: true });
  writeManifest(folder);
  return folder;
}
const folder = copyOf(name);

function inHand(folder) {
  const manifest = new Uint8Array(readFileSync(join(folder, 'manifest.json')));
  return { ...readModel(name), 'manifest.json': manifest };
}

async function assertLoads(source, options) {
  assert.deepEqual(await (await load(source, options)).classify(text), expected);
}

/** Copies bytes and changes the byte at a place. */
function changed(bytes, at) {
  const copy = Uint8Array.from(bytes);
  copy.set([copy.at(at) ^ 1], at < 0 ? copy.length + at : at);
  return copy;
}

const sha256 = (bytes) => createHash('sha256').update(bytes).digest('hex');

test('a model that matches its manifest loads', async () => {
  await assertLoads(folder);
  await assertLoads(inHand(folder));
  await assertLoads((await serve(folder)).url);
});

test('a server is not asked for files that the manifest lacks', async () => {
  const folder = join(root, 'weights/writer');
  const { url, requests } = await serve(folder);
  (await Generator.load(url)).dispose();
  const { files } = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8'));
  const names = requests.map((each) => each.split('/').at(-1));
  assert.ok(names.includes('model.safetensors'));
  assert.deepEqual(
    names.filter((name) => name !== 'manifest.json' && !files[name]),
    [],
  );
});

test('one changed byte is detected in every file', async () => {
  for (const file of modelFiles) {
    const bytes = readFileSync(join(folder, file));
    // In the middle, at the end, and where the engine would fail on it.
    for (const at of [0, bytes.length >> 1, -1]) {
      const other = changed(bytes, at);
      const copy = copyOf(name);
      writeFileSync(join(copy, file), other);
      cpSync(join(folder, 'manifest.json'), join(copy, 'manifest.json'));
      const facts = [bytes, other].map((it) => `${it.length} bytes, SHA-256 ${sha256(it)}`);
      const message = new RegExp(`${file}: expected ${facts[0]}; got ${facts[1]}`);
      const server = await serve(copy);
      for (const source of [copy, { ...inHand(folder), [file]: other }, server.url]) {
        await assertError(() => Classifier.load(source), 'integrity', message);
      }
      await assert.rejects(Classifier.load(server.url), { url: `${server.url}/${file}` });
    }
  }
});

test('another size is detected in every file', async () => {
  for (const file of modelFiles) {
    const bytes = readFileSync(join(folder, file));
    for (const other of [bytes.subarray(1), Buffer.concat([bytes, Buffer.alloc(1)])]) {
      const message = new RegExp(
        `${file}: expected ${bytes.length} bytes.*; got ${other.length} bytes`,
      );
      const source = { ...inHand(folder), [file]: new Uint8Array(other) };
      await assertError(() => Classifier.load(source), 'integrity', message);
      // A server that does not send the size.
      const server = await serve(folder, {
        [`/${file}`]: (response) => {
          response.write(other.subarray(0, 1));
          response.end(other.subarray(1));
        },
      });
      await assertError(() => Classifier.load(server.url), 'integrity', message);
    }
  }
});

test('a model with two tokenizers and a shortlist', async () => {
  const golden = 'translate_tutorial_separate';
  const copy = copyOf(golden);
  const server = await serve(copy);
  (await Translator.load(server.url)).dispose();
  for (const file of ['source.model', 'target.model']) {
    writeFileSync(join(copy, file), changed(readFileSync(join(goldenFolder(golden), file)), -1));
    await assertError(() => Translator.load(server.url), 'integrity', new RegExp(file));
    cpSync(join(goldenFolder(golden), file), join(copy, file));
  }
});

test('files that are not in the manifest are not checked', async () => {
  const manifest = manifestOf(folder);
  delete manifest.files['tokenizer.model'];
  manifest.files['README.md'] = { size: 1, sha256: '0'.repeat(64) };
  const bytes = new TextEncoder().encode(JSON.stringify(manifest));
  await assertLoads({ ...inHand(folder), 'manifest.json': bytes });
});

test('files of an older model in an intermediate cache are fetched again', async () => {
  const weights = readFileSync(join(folder, 'model.safetensors'));
  const older = readFileSync(join(goldenFolder('tutorial_post_norm'), 'model.safetensors'));
  const server = await serve(folder, {
    '/model.safetensors': (response, { headers }) =>
      response.end(/no-cache/.test(headers['cache-control']) ? weights : older),
  });
  const events = [];
  await assertLoads(server.url, { onProgress: ({ overall }) => events.push(overall) });
  const total = modelFiles.reduce((sum, file) => sum + manifestOf(folder).files[file].size, 0);
  let before = 0;
  for (const overall of events) {
    assert.equal(overall.total, total);
    assert.ok(overall.loaded >= before);
    before = overall.loaded;
  }
  assert.deepEqual(events.at(-1), { loaded: total, total });
});

test('an invalid manifest', async () => {
  const { files } = manifestOf(folder);
  const { size, sha256 } = files['config.json'];
  const of = (facts) => ({ files: { ...files, 'config.json': facts } });
  for (const [content, message] of [
    ['', /manifest\.json: .*JSON/],
    ['{', /manifest\.json: .*JSON/],
    [{ files: null }, /files: expected an object/],
    [{ files: 1 }, /files: expected an object/],
    [{ files: [] }, /files: expected an object/],
    [of(null), /config\.json: expected/],
    [of({ sha256 }), /config\.json: expected/],
    [of({ size: 0.5, sha256 }), /config\.json: expected/],
    [of({ size: `${size}`, sha256 }), /config\.json: expected/],
    [of({ size }), /config\.json: expected/],
    [of({ size, sha256: sha256.toUpperCase() }), /config\.json: expected/],
    [of({ size, sha256: `${sha256}0` }), /config\.json: expected/],
  ]) {
    const json = typeof content === 'string' ? content : JSON.stringify(content);
    const source = { ...inHand(folder), 'manifest.json': new TextEncoder().encode(json) };
    await assertError(() => Classifier.load(source), 'invalid_manifest', message);
  }
});

test('a manifest of another kind, and a missing one', async () => {
  const answers = [
    (response) => response.end('{"name": "A web app", "icons": []}'),
    (response) => response.end('null'),
    (response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<p>the app</p>'),
    (response) => response.writeHead(404).end(),
    (response) => response.writeHead(503).end(),
    (response) => response.destroy(),
  ];
  for (const answer of answers) {
    await assertLoads((await serve(goldenFolder(name), { '/manifest.json': answer })).url);
  }
});

test('its URL can be replaced', async () => {
  const server = await serve(folder);
  const urls = { 'manifest.json': `${server.url}/manifest.json` };
  await assertLoads(goldenFolder(name), { urls });
  const other = goldenFolder('tutorial_post_norm');
  await assertError(() => Classifier.load(other, { urls }), 'integrity', /config\.json/);
});
