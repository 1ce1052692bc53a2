// Models of a hub, `hf:owner/name`, from a local server that behaves like a hub.

import assert from 'node:assert/strict';
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { after, test } from 'node:test';
import {
  assertAnswers,
  copyOf,
  filesOf,
  folderOf,
  largeCheckpoint,
} from '../support/checkpoints.mjs';
import { Classifier, Embedder, GlassformerError, assertError, load } from '../support/helpers.mjs';
import { sendFile, serveHub } from '../support/hub.mjs';

test('a model of a hub', async () => {
  const hub = await serveHub({
    'some/model@main': folderOf('bert_sequence'),
    'some/model@refs%2Fpr%2F1': folderOf('bert_shards'),
    'old@main': folderOf('roberta_sequence'),
    'vectors/of-texts@main': folderOf('bert_embed'),
  });
  const options = { hubUrl: hub.url };
  await assertAnswers(await load('hf:some/model', options), 'bert_sequence');
  const asked = hub.requests.splice(0);
  assert.ok(!asked.some(({ url }) => url.includes('manifest.json')));
  assert.ok(asked.some(({ store }) => store));
  await assertAnswers(
    await load('hf:some/model@refs/pr/1', { ...options, worker: true }),
    'bert_shards',
  );
  await assertAnswers(await load('hf:old', { hubUrl: new URL(`${hub.url}/`) }), 'roberta_sequence');
  await assertAnswers(await load('hf:vectors/of-texts', options, Embedder), 'bert_embed');
  assert.ok(hub.requests.some(({ url }) => url.endsWith('/1_Pooling/config.json')));
});

test('a renamed model, and files with and without redirects', async () => {
  const hub = await serveHub(
    { 'new/name@main': folderOf('bert_shards') },
    { renamed: { 'old/name': 'new/name' } },
  );
  await assertAnswers(await load('hf:old/name', { hubUrl: hub.url }), 'bert_shards');
});

test('each byte of several files is sent once', async () => {
  const folder = largeCheckpoint(3);
  const hub = await serveHub({ 'a/large@main': folder });
  await assertAnswers(await load('hf:a/large', { hubUrl: hub.url }), 'bert_sequence');
  const files = filesOf('bert_shards').filter((file) => file.endsWith('.safetensors'));
  let inParts = 0;
  for (const file of files) {
    const path = join(folder, file);
    const ranges = hub.sent.filter(([of]) => of === path).map(([, ...range]) => range);
    inParts += Number(ranges.length > 1);
    let at = 0;
    for (const [from, to] of ranges) {
      assert.equal(from, at, file);
      at = to;
    }
    assert.equal(at, statSync(path).size, file);
    assert.ok(ranges.length <= 2, file);
  }
  assert.equal(inParts, 2);
});

test('a refused optional file is an error with the cure, not a missing file', async () => {
  for (const code of [401, 403]) {
    for (const file of ['modules.json', 'tokenizer_config.json', 'model.safetensors']) {
      const models = { 'a/b@main': folderOf('bert_embed') };
      const hub = await serveHub(models, { status: { [file]: code } });
      const message = new RegExp(
        `${file}: HTTP status ${code}: the model is private or gated.*; download its files with ` +
          'your access token, and load those',
      );
      await assertError(() => Embedder.load('hf:a/b', { hubUrl: hub.url }), 'http_error', message);
    }
  }
});

test('missing models, revisions and files of a hub', async () => {
  const folder = copyOf('bert_sequence');
  rmSync(join(folder, 'config.json'));
  const hub = await serveHub({ 'a/b@main': folder });
  const fails = (name, expected) =>
    assert.rejects(Classifier.load(name, { hubUrl: hub.url }), (error) => {
      assert.ok(error instanceof GlassformerError);
      for (const [key, value] of Object.entries(expected)) assert.equal(error[key], value, key);
      return true;
    });
  const url = (name) => `${hub.url}/${name}/config.json`;
  await fails('hf:a/b', { code: 'missing_file', status: 404, url: url('a/b/resolve/main') });
  await fails('hf:a/b@v2', { code: 'missing_file', status: 404, url: url('a/b/resolve/v2') });
  const message = /HTTP status 401: the model is private or gated, or there is none of that name/;
  await assertError(() => Classifier.load('hf:a/none', { hubUrl: hub.url }), 'http_error', message);
  await fails('hf:a/none', { status: 401 });
  for (const name of ['hf:', 'hf:a/b/c', 'hf:a b', 'hf:/b', 'hf:a/b@']) {
    await assertError(() => Classifier.load(name), 'invalid_option', /hf:owner\/name/);
  }
});

test('names and revisions stay within the hub’s folder', async () => {
  const hub = await serveHub({ 'a/b@main': folderOf('bert_sequence') });
  const hubUrl = `${hub.url}/mirror/deep?token=SECRET`;
  const names = ['..', '.', '../x', 'a/..', './x', 'a/b@..', 'a/b@.', 'a/b@../../c', 'a/b@x/../y'];
  names.push(
    'a/b@x//y',
    'a/b@/x',
    'a/b@x/',
    'a/b@\ud800',
    'a/b@x\ny',
    'a/b@x\0',
    'a\\b',
    'a/b@x\\y',
  );
  for (const name of names) {
    await assertError(() => load(`hf:${name}`, { hubUrl }), 'invalid_option', /hf:owner\/name/);
  }
  assert.deepEqual(hub.requests, []);
  // An escaped path is only a name.
  await assertError(() => load('hf:a/b@%2e%2e', { hubUrl: hub.url }), 'missing_file', /%252e%252e/);
});

test('only a few of many weight files are requested at once', async () => {
  const shards = filesOf('bert_shards').filter((file) => file.endsWith('.safetensors'));
  const folder = copyOf('bert_shards');
  // Files without tensors, in addition to the weights.
  const empty = Buffer.from('\x02\0\0\0\0\0\0\0{}');
  const index = JSON.parse(readFileSync(join(folder, 'model.safetensors.index.json')));
  for (let i = 0; i < 60; ++i) {
    index.weight_map[`none.${i}`] = `none-${i}.safetensors`;
    writeFileSync(join(folder, `none-${i}.safetensors`), empty);
  }
  writeFileSync(join(folder, 'model.safetensors.index.json'), JSON.stringify(index));
  const open = new Set();
  let most = 0;
  const server = createServer((request, response) => {
    const file = decodeURIComponent(request.url.split('/').at(-1));
    const weights = file.endsWith('.safetensors');
    if (weights) open.add(response);
    most = Math.max(most, open.size);
    response.on('close', () => open.delete(response));
    if (!existsSync(join(folder, file))) return void response.writeHead(404).end();
    const send = () => sendFile(request, response, readFileSync(join(folder, file)));
    // Waits until all concurrent requests have arrived.
    if (weights) setImmediate(() => setImmediate(send));
    else send();
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  after(() => {
    server.closeAllConnections();
    server.close();
  });
  const model = await load('hf:a/b', { hubUrl: `http://127.0.0.1:${server.address().port}` });
  await assertAnswers(model, 'bert_shards');
  assert.ok(shards.length > 1);
  assert.ok(most > 1 && most <= 6, `${most} at once`);
});
