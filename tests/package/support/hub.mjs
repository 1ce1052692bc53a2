// A server that behaves like a model hub: folders under /OWNER/NAME/resolve/REVISION/, redirects of
// large files to another host with range requests, and status 401 for private or missing models.

import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { after } from 'node:test';

const cors = { 'access-control-allow-origin': '*' };

async function listen(answer) {
  const server = createServer(answer);
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${server.address().port}`;
}

/** Sends a file, or the requested part of it. Returns the range of the bytes. */
export function sendFile(request, response, bytes, headers = {}) {
  const [, first, last] = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? '') ?? [];
  if (first === undefined) {
    response.writeHead(200, headers).end(bytes);
    return [0, bytes.length];
  }
  const from = Number(first);
  if (from >= bytes.length) {
    response.writeHead(416, headers).end();
    return [from, from];
  }
  const to = last === '' ? bytes.length : Math.min(Number(last) + 1, bytes.length);
  const range = `bytes ${from}-${to - 1}/${bytes.length}`;
  response.writeHead(206, { ...headers, 'content-range': range }).end(bytes.subarray(from, to));
  return [from, to];
}

/**
 * Starts the server. `models` maps "owner/name@revision", as written in a URL, to folders;
 * `renamed` maps old names to new ones; `status` maps file names to the status with which they are
 * refused.
 */
export async function serveHub(models, { renamed = {}, status = {} } = {}) {
  const requests = [];
  const sent = []; // parts sent by the other host: [path, first byte, end]
  const store = await listen((request, response) => {
    requests.push({ store: true, url: request.url, headers: request.headers });
    const path = decodeURIComponent(request.url.slice(1));
    sent.push([path, ...sendFile(request, response, readFileSync(path), cors)]);
  });
  const url = await listen((request, response) => {
    requests.push({ store: false, url: request.url, headers: request.headers });
    const [, name, revision, file] = /^\/(.+)\/resolve\/([^/]+)\/(.+)$/.exec(request.url) ?? [];
    if (renamed[name]) {
      const location = request.url.replace(name, renamed[name]);
      return void response.writeHead(307, { ...cors, location }).end();
    }
    const folder = models[`${name}@${revision}`];
    const known = Object.keys(models).some((model) => model.startsWith(`${name}@`));
    if (!folder) return void response.writeHead(known ? 404 : 401, cors).end('not here');
    if (status[file]) return void response.writeHead(status[file], cors).end('not for you');
    const path = join(folder, file);
    let body;
    try {
      body = readFileSync(path);
    } catch {
      return void response.writeHead(404, { ...cors, 'content-type': 'text/plain' }).end('none');
    }
    if (file.endsWith('.safetensors')) {
      const location = `${store}/${encodeURIComponent(path)}`;
      return void response.writeHead(302, { ...cors, location }).end();
    }
    response.writeHead(200, cors).end(body);
  });
  return { url, requests, sent };
}
