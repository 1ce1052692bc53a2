// The places of the package's own files. Each is a literal expression, because bundlers look for
// those. `glassformer/inline` contains assets.inline.ts instead of this module.

import { threadOptions } from '../base/node.js';
import type { Thread, Threads } from '../base/node.js';
import type { WorkerLike } from '../base/node.js';
import type { Scope } from './tasks.js';
import type { Binary } from './compute.js';

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

// Of each scope, the binary with plain and that with relaxed SIMD.
const binaries: Record<Scope, readonly (() => URL)[]> = {
  all: [
    () => new URL('./glassformer.wasm', import.meta.url),
    () => new URL('./glassformer.relaxed.wasm', import.meta.url),
  ],
  threads: [
    () => new URL('./glassformer.threads.wasm', import.meta.url),
    () => new URL('./glassformer.threads.relaxed.wasm', import.meta.url),
  ],
  read: [
    () => new URL('./glassformer.read.wasm', import.meta.url),
    () => new URL('./glassformer.read.relaxed.wasm', import.meta.url),
  ],
  generate: [
    () => new URL('./glassformer.generate.wasm', import.meta.url),
    () => new URL('./glassformer.generate.relaxed.wasm', import.meta.url),
  ],
  translate: [
    () => new URL('./glassformer.translate.wasm', import.meta.url),
    () => new URL('./glassformer.translate.relaxed.wasm', import.meta.url),
  ],
  pictures: [
    () => new URL('./glassformer.pictures.wasm', import.meta.url),
    () => new URL('./glassformer.pictures.relaxed.wasm', import.meta.url),
  ],
  gradients: [
    () => new URL('./glassformer.gradients.wasm', import.meta.url),
    () => new URL('./glassformer.gradients.relaxed.wasm', import.meta.url),
  ],
  learn: [
    () => new URL('./glassformer.learn.wasm', import.meta.url),
    () => new URL('./glassformer.learn.relaxed.wasm', import.meta.url),
  ],
  finetune: [
    () => new URL('./glassformer.finetune.wasm', import.meta.url),
    () => new URL('./glassformer.finetune.relaxed.wasm', import.meta.url),
  ],
};

/** Returns the place from which Node searches for other packages. */
export function home(): string {
  return import.meta.url;
}

/** Returns the URL of a binary, or its bytes. */
export function binaryFile(scope: Scope, binary: Binary): string | Promise<BufferSource> {
  return installed(binaries[scope][binary === 'simd' ? 0 : 1]!());
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
