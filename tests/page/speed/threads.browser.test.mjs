// Threads of a model in a tab: where the page is isolated, several give the answer of one, bit for bit;
// elsewhere there is one, and the model says why.
import assert from 'node:assert/strict';
import { createReadStream, existsSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname, join, normalize } from 'node:path';
import { after, test } from 'node:test';
import { dist, root } from '../../package/support/helpers.mjs';
import { launch, open } from '../open.mjs';

const types = {
  '.js': 'text/javascript',
  '.wasm': 'application/wasm',
  '.json': 'application/json',
};
const isolation = {
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-embedder-policy': 'require-corp',
};

// Serves the package under /dist and a model under /model, with these headers.
function serveWith(headers) {
  const server = createServer((request, response) => {
    const path = normalize(new URL(request.url, 'http://host').pathname);
    if (path === '/') {
      const html = '<!doctype html><html lang="en"><title>threads</title><h1>Threads</h1>';
      response.writeHead(200, { 'content-type': 'text/html', ...headers }).end(html);
      return;
    }
    const file = path.startsWith('/dist/')
      ? join(dist, path.slice('/dist/'.length))
      : join(root, 'weights/sentiment', path.slice('/model/'.length));
    if (!existsSync(file)) {
      response.writeHead(404, headers).end();
      return;
    }
    const type = types[extname(file)] ?? 'application/octet-stream';
    response.writeHead(200, { 'content-type': type, ...headers });
    createReadStream(file).pipe(response);
  });
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve(server));
  });
}

const browser = await launch();
after(() => browser.close());

async function inPage(headers, work) {
  const server = await serveWith(headers);
  const { context, page } = await open(browser, `http://127.0.0.1:${server.address().port}/`);
  try {
    return await page.evaluate(work);
  } finally {
    await context.close();
    server.close();
  }
}

test('an isolated page runs a model on several threads', async () => {
  const { isolated, alone, shared, workers } = await inPage(isolation, async () => {
    const { Classifier } = await import('/dist/index.js');
    const { default: urls } = await import('/dist/threads.js');
    const text =
      'The first hour is gripping and beautifully shot, and the two leads are a joy to watch, but ' +
      'the ending drags on so long that even the most patient viewer will look for the door.';
    const answer = async (threads) => {
      const model = await Classifier.load('/model/', { threads, urls });
      const { scores, attention } = await model.classify(text, { attention: true });
      const { info } = model;
      model.dispose();
      return { info, scores, sum: attention.encoder.data.reduce((sum, weight) => sum + weight, 0) };
    };
    const alone = await answer(1);
    const shared = await answer(3);
    const workers = await answer('auto');
    return { isolated: crossOriginIsolated, alone, shared, workers };
  });
  assert.equal(isolated, true);
  assert.equal(alone.info.threads, 1);
  assert.equal(shared.info.threads, 3);
  assert.equal(shared.info.threadsNote, undefined);
  assert.deepEqual(shared.scores, alone.scores);
  assert.equal(shared.sum, alone.sum);
  assert.ok(workers.info.threads >= 1);
  assert.deepEqual(workers.scores, alone.scores);
});

test('another page has one thread, and says why', async () => {
  const info = await inPage({}, async () => {
    const { Classifier } = await import('/dist/index.js');
    const { default: urls } = await import('/dist/threads.js');
    const model = await Classifier.load('/model/', { threads: 2, urls });
    await model.classify('A gripping film.');
    const { threads, threadsNote } = model.info;
    model.dispose();
    return { threads, threadsNote };
  });
  assert.deepEqual(info, { threads: 1, threadsNote: 'the page is not cross-origin isolated' });
});

test("a page's own thread does not wait for others", async () => {
  const info = await inPage(isolation, async () => {
    const { Classifier } = await import('/dist/index.js');
    const { default: urls } = await import('/dist/threads.js');
    const model = await Classifier.load('/model/', { threads: 2, urls, worker: false });
    await model.classify('A gripping film.');
    return { threads: model.info.threads, threadsNote: model.info.threadsNote };
  });
  assert.deepEqual(info, { threads: 1, threadsNote: "a page's own thread cannot wait for others" });
});
