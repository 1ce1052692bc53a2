// The places of the package's own files. Each is a literal expression, because bundlers look for
// those. `glassformer/inline` contains assets.inline.ts instead of this module.

import { threadOptions } from '../base/node.js';
import type { Thread, Threads } from '../base/node.js';
import type { WorkerLike } from '../base/node.js';

/** The advice in errors if one of the files does not arrive. */
export const cure =
  "If a bundler has moved the package's files, " +
  "import from 'glassformer/inline' instead, or name their URLs in the option urls.";

/** Whether models run in this thread if a web worker cannot start. */
export const runsWithoutWorker = false;

/** Returns the URL of the script of Node's threads; undefined if no binary has threads. */
export function threadScript(): string | undefined {
  // This is not a literal expression, so that bundlers do not copy the script as another file. A
  // script that is not a module does not know its own URL.
  try {
    return new URL('./worker.js', String(import.meta.url)).href;
  } catch {
    return './worker.js';
  }
}

const binaries = {
  'glassformer.threads.wasm': () => new URL('./glassformer.threads.wasm', import.meta.url),
  'glassformer.threads.relaxed.wasm': () =>
    new URL('./glassformer.threads.relaxed.wasm', import.meta.url),
  'glassformer.wasm': () => new URL('./glassformer.wasm', import.meta.url),
  'glassformer.relaxed.wasm': () => new URL('./glassformer.relaxed.wasm', import.meta.url),
  'glassformer.read.wasm': () => new URL('./glassformer.read.wasm', import.meta.url),
  'glassformer.read.relaxed.wasm': () =>
    new URL('./glassformer.read.relaxed.wasm', import.meta.url),
  'glassformer.write.wasm': () => new URL('./glassformer.write.wasm', import.meta.url),
  'glassformer.write.relaxed.wasm': () =>
    new URL('./glassformer.write.relaxed.wasm', import.meta.url),
  'glassformer.pictures.wasm': () => new URL('./glassformer.pictures.wasm', import.meta.url),
  'glassformer.pictures.relaxed.wasm': () =>
    new URL('./glassformer.pictures.relaxed.wasm', import.meta.url),
  'glassformer.gradients.wasm': () => new URL('./glassformer.gradients.wasm', import.meta.url),
  'glassformer.gradients.relaxed.wasm': () =>
    new URL('./glassformer.gradients.relaxed.wasm', import.meta.url),
  'glassformer.learn.wasm': () => new URL('./glassformer.learn.wasm', import.meta.url),
  'glassformer.learn.relaxed.wasm': () =>
    new URL('./glassformer.learn.relaxed.wasm', import.meta.url),
};
export type BinaryFile = keyof typeof binaries;

/** Returns the place from which Node searches for other packages. */
export function home(): string {
  return import.meta.url;
}

/** Returns the URL of a binary, or its bytes. */
export function binaryFile(name: BinaryFile): string | Promise<BufferSource> {
  return installed(binaries[name]());
}

/** Starts a web worker for a model. */
export function startWebWorker(): WorkerLike {
  const binary = new URL('./glassformer.wasm', import.meta.url);
  return copied.test(binary.pathname)
    ? new Worker(installed(new URL('./worker.js', binary)), { type: 'module' })
    : new Worker(new URL('./worker.js', import.meta.url), { type: 'module' });
}

/** Starts a thread of Node for a model. */
export function startThread({ Worker }: Threads): Thread {
  // This is not a literal expression, so that bundlers do not copy the script as another file.
  return new Worker(new URL('./worker.js', String(import.meta.url)), threadOptions);
}

// Up to version 7, Vite's development server runs a copy of the script in a folder without the other
// files.
const copied = /\/\.vite\/deps[^/]*\/(?=[^/]+$)/;

// Returns the URL of the file as npm installed it.
function installed(url: URL): string {
  return url.href.replace(copied, '/glassformer/dist/');
}
