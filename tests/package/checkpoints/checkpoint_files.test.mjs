// The sources of a checkpoint's files, and refused ones: files in memory, folders over HTTP, other
// formats.

import assert from 'node:assert/strict';
import { cpSync, readFileSync, readdirSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import {
  assertAnswers,
  copyOf,
  filesOf,
  folderOf,
  largeCheckpoint,
  largeTensor,
} from '../support/checkpoints.mjs';
import {
  Classifier,
  Translator,
  assertError,
  assertFreed,
  load,
  memoriesOf,
  openAny,
  root,
  serve,
  waiting,
} from '../support/helpers.mjs';
import { sendFile, serveHub } from '../support/hub.mjs';

/** A Blob that records the size of its largest slice. */
class WatchedBlob extends Blob {
  largest = 0;
  slice(start, end) {
    this.largest = Math.max(this.largest, end - start);
    return super.slice(start, end);
  }
  arrayBuffer() {
    throw new Error('read whole');
  }
}

test('bytes, Blobs and URLs, in this thread and in a worker', async () => {
  for (const name of ['bert_sequence', 'bert_shards', 'roberta_sequence']) {
    const bytesOf = (file) => readFileSync(join(folderOf(name), file));
    const from = (make) => Object.fromEntries(filesOf(name).map((file) => [file, make(file)]));
    const blobs = from((file) => new Blob([bytesOf(file)]));
    await assertAnswers(await load(from((file) => new Uint8Array(bytesOf(file)))), name);
    await assertAnswers(await load(blobs), name);
    await assertAnswers(await load(blobs, { worker: true }), name);
    await assertAnswers(await load(from((file) => new File([bytesOf(file)], 'a.bin'))), name);
    const watched = from((file) => new WatchedBlob([bytesOf(file)]));
    await assertAnswers(await load(watched), name);
    assert.ok(Object.values(watched).some(({ largest }) => largest > 0));
    assert.ok(Object.values(watched).every(({ largest }) => largest <= 2 ** 18));
  }
});

test('over HTTP, each file of a checkpoint is requested once', async () => {
  for (const name of ['bert_sequence', 'bert_shards']) {
    const server = await serve(folderOf(name));
    await assertAnswers(await load(server.url), name);
    for (const path of server.requests) {
      const times = server.requests.filter((other) => other === path).length;
      // This server has no range requests: the part after a header may take a second request.
      assert.ok(times <= (/model-0000[23]/.test(path) ? 2 : 1), path);
    }
    assert.ok(server.requests.includes('/tokenizer.json'));
    assert.ok(!server.requests.includes('/vocab.txt'));
  }
});

test('two tokenizers with large files are read once', waiting, async () => {
  for (const name of ['marian', 'marian_two_tables']) {
    const folder = copyOf(name);
    const spaces = ' '.repeat(1 << 20); // JSON allows them at its end
    for (const file of filesOf(name).filter((file) => file.endsWith('vocab.json')))
      writeFileSync(join(folder, file), readFileSync(join(folder, file), 'utf8') + spaces);
    const server = await serve(folder);
    await assertAnswers(await load(server.url, {}, Translator), name);
    for (const file of ['source.spm', 'target.spm', 'vocab.json'])
      assert.equal(server.requests.filter((path) => path === `/${file}`).length, 1, file);
  }
});

/** Serves a folder; `send(request, response, bytes)` sends the weights. */
async function serveWeights(folder, send) {
  const names = readdirSync(folder).filter((name) => name.endsWith('.safetensors'));
  const answer = (response, request) =>
    send(request, response, readFileSync(join(folder, request.url.split('?')[0])));
  return serve(folder, Object.fromEntries(names.map((name) => [`/${name}`, answer])));
}

test('servers with range requests, without them, and servers that close the connection', async () => {
  const folder = largeCheckpoint(3);
  const whole = (request, response, bytes) => response.writeHead(200).end(bytes);
  const hangUp = (request, response, bytes) =>
    request.headers.range ? response.destroy() : whole(request, response, bytes);
  // A server that sends less than requested, and one without sizes.
  const short = (request, response, bytes) =>
    sendFile(request, response, bytes.subarray(0, bytes.length - 1));
  const silent = (request, response, bytes) => {
    const writeHead = response.writeHead.bind(response);
    response.writeHead = (status) => writeHead(status);
    sendFile(request, response, bytes);
  };
  for (const send of [sendFile, whole, hangUp, silent]) {
    await assertAnswers(await load((await serveWeights(folder, send)).url), 'bert_sequence');
  }
  const { url } = await serveWeights(folder, short);
  await assertError(() => Classifier.load(url), 'invalid_safetensors');
  const elsewhere = (request, response, bytes) => {
    const range = `bytes 1-2/${bytes.length}`;
    if (!request.headers.range) whole(request, response, bytes);
    else response.writeHead(206, { 'content-range': range }).end(bytes.subarray(1, 3));
  };
  const wrong = await serveWeights(folder, elsewhere);
  const message = /expected a part from byte 0 on, got "bytes 1-2/;
  await assertError(() => Classifier.load(wrong.url), 'http_error', message);
  const asked = new Set(); // a second request gets another file
  const changing = (request, response, bytes) => {
    const again = Number(asked.has(request.url));
    asked.add(request.url);
    sendFile(request, response, Buffer.concat([bytes, new Uint8Array(again)]));
  };
  const changed = await serveWeights(folder, changing);
  await assertError(() => Classifier.load(changed.url), 'integrity', /had \d+ bytes, now it has/);
});

test('no complete tensor is in memory in addition to the model, whatever its source', async () => {
  for (const count of [1, 3]) {
    const folder = largeCheckpoint(count);
    const bytes = Object.fromEntries(
      readdirSync(folder).map((file) => [file, new Uint8Array(readFileSync(join(folder, file)))]),
    );
    const blobs = Object.entries(bytes).map(([file, data]) => [file, new Blob([data])]);
    const sources = [folder, bytes, Object.fromEntries(blobs)];
    for (const send of [sendFile, (_, response, data) => response.writeHead(200).end(data)]) {
      sources.push((await serveWeights(folder, send)).url);
    }
    for (const source of sources) {
      for (const compute of ['f32', 'int8']) {
        let classifier;
        const [memory] = await memoriesOf(async () => {
          classifier = await load(source, { compute });
        });
        const weights = classifier.info.parameters * (compute === 'int8' ? 1 : 4);
        assert.ok(weights >= largeTensor / (compute === 'int8' ? 4 : 1));
        // The binary's first 16 MB, and the scales.
        const { byteLength } = memory.deref().buffer;
        assert.ok(byteLength < weights * 1.2 + 17e6, `${compute}: ${byteLength} bytes`);
        if (compute === 'f32') await assertAnswers(classifier, 'bert_sequence');
        classifier.dispose();
      }
    }
  }
});

test('an aborted load frees everything', waiting, async () => {
  const folder = largeCheckpoint(3);
  const open = new Set(); // responses
  const send = (request, response, bytes) => {
    open.add(response);
    response.on('close', () => open.delete(response));
    sendFile(request, response, bytes);
  };
  const { url } = await serveWeights(folder, send);
  const blobs = readdirSync(folder).map((file) => [
    file,
    new Blob([readFileSync(join(folder, file))]),
  ]);
  const filesOpen = () =>
    readdirSync('/proc/self/fd').filter((fd) => {
      try {
        return readlinkSync(`/proc/self/fd/${fd}`).startsWith(folder);
      } catch {
        return false; // the request of this check
      }
    });
  for (const source of [folder, url, Object.fromEntries(blobs)]) {
    const memories = await memoriesOf(async () => {
      // Before the first file, at the start of the weights, in the middle, and at the end.
      for (const stop of [-1, 0, 0.5, 1]) {
        const controller = new AbortController();
        const { signal } = controller;
        const onProgress = ({ overall: { loaded, total } }) => {
          assert.ok(!signal.aborted);
          if (loaded / total >= stop) controller.abort();
        };
        const loading = Classifier.load(source, { signal, onProgress });
        if (stop < 0) controller.abort();
        await assertError(() => loading, 'aborted');
      }
    });
    await assertFreed(memories);
    while (open.size > 0 || filesOpen().length > 0) await new Promise(setImmediate);
  }
});

test('progress of shards: true totals from the first event on', async () => {
  const name = 'bert_shards';
  const events = [];
  await load(folderOf(name), { onProgress: (progress) => events.push(progress) });
  const last = events.at(-1).overall;
  assert.equal(last.loaded, last.total);
  for (const { overall } of events) assert.equal(overall.total, last.total);
  const read = new Set(events.map(({ file }) => file));
  for (const file of filesOf(name)) assert.ok(read.has(file), file);
});

test('a folder in another format is refused with the cure', async () => {
  for (const file of ['pytorch_model.bin', 'model.gguf', 'onnx/model.onnx']) {
    const folder = copyOf('bert_sequence');
    rmSync(join(folder, 'model.safetensors'));
    cpSync(join(folder, 'config.json'), join(folder, file));
    const server = await serve(folder);
    const hub = await serveHub({ 'a/b@main': folder });
    const weights = `${file}: expected weights as model\\.safetensors`;
    const cure = new RegExp(
      weights + (file.endsWith('.bin') ? '; save the model again' : '.*; load the model that it'),
    );
    for (const source of [folder, server.url]) {
      await assertError(() => Classifier.load(source), 'unsupported', cure);
    }
    await assertError(() => Classifier.load('hf:a/b', { hubUrl: hub.url }), 'unsupported', cure);
  }
});

test('the files of a large tokenizer without tokenizer.json are read once', waiting, async () => {
  const size = 2 ** 17;
  for (const [name, filesOf] of [
    ['bert_sequence', (vocab) => ({ 'vocab.txt': vocab.join('\n').padEnd(size) })],
    [
      'roberta_sequence',
      (vocab, merges) => ({
        'tokenizer_config.json': JSON.stringify({ add_prefix_space: true }),
        'vocab.json': JSON.stringify(
          Object.fromEntries(vocab.map((token, id) => [token, id])),
        ).padEnd(size),
        'merges.txt': merges
          .map((merge) => [merge].flat().join(' '))
          .join('\n')
          .padEnd(size, '\n'),
      }),
    ],
  ]) {
    const folder = copyOf(name);
    const json = join(folder, 'tokenizer.json');
    const { model, added_tokens: added } = JSON.parse(readFileSync(json, 'utf8'));
    const vocab = [];
    for (const [token, id] of Object.entries(model.vocab)) vocab[id] = token;
    for (const { content, id } of added) vocab[id] = content;
    rmSync(json);
    const files = filesOf(vocab, model.merges);
    for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, file), text);
    const server = await serve(folder);
    await assertAnswers(await load(server.url), name);
    for (const file of Object.keys(files)) {
      assert.equal(server.requests.filter((path) => path === `/${file}`).length, 1, file);
    }
  }
});

const refusals = JSON.parse(
  readFileSync(join(root, 'tests/fixtures/checkpoints/refusals.json'), 'utf8'),
);
assert.ok(refusals.length > 25);

// Applies a JSON merge patch (RFC 7396), like the native test.
function merged(value, patch) {
  if (patch === null || typeof patch !== 'object' || Array.isArray(patch)) return patch;
  const result = { ...value };
  for (const [key, change] of Object.entries(patch)) {
    if (change === null) delete result[key];
    else result[key] = merged(result[key], change);
  }
  return result;
}

for (const { name, base = 'bert_sequence', config = {}, files = {}, ...entry } of refusals) {
  const { absent = [], code, words } = entry;
  test(`refused by name: ${name}`, async () => {
    const bytesOf = (file) => readFileSync(join(folderOf(base), file));
    const all = Object.fromEntries(filesOf(base).map((file) => [file, bytesOf(file)]));
    const changed = merged(JSON.parse(all['config.json']), config);
    const encode = (text) => new TextEncoder().encode(text);
    const given = { ...all, 'config.json': encode(JSON.stringify(changed)) };
    for (const file of absent) delete given[file];
    for (const [file, text] of Object.entries(files)) given[file] = encode(text);
    await assert.rejects(openAny(given), (error) => {
      assert.equal(error.code, code, error.message);
      for (const word of words) assert.ok(error.message.includes(word), error.message);
      return true;
    });
  });
}

test('a truncated shard, and a missing one', async () => {
  const folder = copyOf('bert_shards');
  const shard = join(folder, 'model-00002-of-00003.safetensors');
  const bytes = readFileSync(shard);
  writeFileSync(shard, bytes.subarray(0, -1));
  await assertError(() => Classifier.load(folder), 'invalid_safetensors', /model-00002-of-00003/);
  rmSync(shard);
  await assertError(() => Classifier.load(folder), 'missing_file', /model-00002-of-00003/);
});

test('a server error is not a missing file', async () => {
  for (const file of ['tokenizer_config.json', 'modules.json', 'tokenizer.json']) {
    const server = await serve(folderOf('bert_sequence'), {
      [`/${file}`]: (response) => response.writeHead(500).end(),
    });
    await assertError(() => Classifier.load(server.url), 'http_error', /HTTP status 500/);
  }
});
