// Serves the built page like a static host, compressed, over a line of a given speed.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname, join, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import { root } from '../page/open.mjs';

const types = {
  '.css': 'text/css',
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.mjs': 'text/javascript',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain',
  '.wasm': 'application/wasm',
};
const compressed = ['.css', '.html', '.js', '.json', '.mjs', '.wasm'];

/** A line without a limit. */
const atOnce = {
  connect: () => undefined,
  send: (response, bytes) => response.end(bytes),
};

/**
 * A line that all responses share, one piece of each in turn. `bits`: bits per second. `delay`:
 * milliseconds to the other end and back; a new connection needs them once more.
 */
export function slowLine(bits, delay) {
  const piece = 1400; // bytes per packet
  const waiting = [];
  let busy = false;
  const next = () => {
    const job = waiting.shift();
    if (!job) return void (busy = false);
    busy = true;
    const end = Math.min(job.at + piece, job.bytes.length);
    due = Math.max(due, performance.now()) + ((end - job.at) * 8000) / bits;
    // Timers are coarse: the line may be one or two pieces early or late, but the average is right.
    setTimeout(() => {
      if (!job.response.destroyed) {
        job.response.write(job.bytes.subarray(job.at, end));
        job.at = end;
        if (end < job.bytes.length) waiting.push(job);
        else job.response.end();
      }
      next();
    }, due - performance.now());
  };
  let due = 0;
  const fresh = new WeakSet();
  return {
    connect: (socket) => fresh.add(socket),
    send(response, bytes) {
      const trips = fresh.delete(response.socket) ? 2 : 1;
      setTimeout(() => {
        waiting.push({ response, bytes, at: 0 });
        if (!busy) next();
      }, delay * trips);
    },
  };
}

/** The folders that the page's server has, by the first part of the path. */
const page = { '': 'web/dist', package: 'dist' };

/**
 * Serves folders of the repository from memory: by default the page, and the package. `onfile`
 * receives the size of each file.
 */
export function servePage({ line = atOnce, onfile = () => undefined, folders = page } = {}) {
  const files = new Map();
  const server = createServer(({ url }, response) => {
    const name = new URL(url, 'http://localhost').pathname.replace(/\/$/, '/index.html');
    const extension = extname(name);
    try {
      if (!files.has(name)) {
        const [, first, rest] = /^\/([^/]*)\/?(.*)/.exec(name);
        const file = first in folders ? join(folders[first], rest) : join(folders[''], name);
        const bytes = readFileSync(resolve(root, file));
        files.set(name, compressed.includes(extension) ? gzipSync(bytes) : bytes);
      }
      response.writeHead(200, {
        'Content-Type': types[extension] ?? 'application/octet-stream',
        ...(compressed.includes(extension) && { 'Content-Encoding': 'gzip' }),
        'Content-Length': files.get(name).length,
      });
      onfile(name, files.get(name).length);
      line.send(response, files.get(name));
    } catch {
      response.writeHead(404).end();
    }
  });
  server.on('connection', line.connect);
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)));
}
