// The package's own files: where they are, each as one literal expression that bundlers look for.
// `glassformer/inline` has assets.inline.ts in place of this module.

import { threadOptions } from '../base/node.js';
import type { Thread, Threads } from '../base/node.js';
import type { WorkerLike } from '../base/node.js';

/** What to do where one of the files does not arrive. */
export const cure =
  "If a bundler has not put the package's files where its script looks for them, " +
  "import from 'glassformer/inline' instead, or name their URLs in the option urls.";

/** Whether this thread takes over where a web worker cannot start. */
export const runsWithoutWorker = false;

const binaries = {
  'glassformer.wasm': () => new URL('./glassformer.wasm', import.meta.url),
  'glassformer.relaxed.wasm': () => new URL('./glassformer.relaxed.wasm', import.meta.url),
  'glassformer.read.wasm': () => new URL('./glassformer.read.wasm', import.meta.url),
  'glassformer.read.relaxed.wasm': () =>
    new URL('./glassformer.read.relaxed.wasm', import.meta.url),
  'glassformer.write.wasm': () => new URL('./glassformer.write.wasm', import.meta.url),
  'glassformer.write.relaxed.wasm': () =>
    new URL('./glassformer.write.relaxed.wasm', import.meta.url),
};
export type BinaryFile = keyof typeof binaries;

/** The URL of a binary, or its bytes. */
export function binaryFile(name: BinaryFile): string | Promise<BufferSource> {
  return installed(binaries[name]());
}

/** Starts the web worker that a model runs in. */
export function startWebWorker(): WorkerLike {
  const binary = new URL('./glassformer.wasm', import.meta.url);
  return copied.test(binary.pathname)
    ? new Worker(installed(new URL('./worker.js', binary)), { type: 'module' })
    : new Worker(new URL('./worker.js', import.meta.url), { type: 'module' });
}

/** Starts the thread of Node's that a model runs in. */
export function startThread({ Worker }: Threads): Thread {
  // Not the literal expression: bundlers would take the script for one more file to copy.
  return new Worker(new URL('./worker.js', String(import.meta.url)), threadOptions);
}

// Up to version 7, Vite's development server runs a copy of the script, in a folder without the
// other files.
const copied = /\/\.vite\/deps[^/]*\/(?=[^/]+$)/;

// The file's URL where npm has installed it.
function installed(url: URL): string {
  return url.href.replace(copied, '/glassformer/dist/');
}
