// The places of the package's own files. Each is a literal expression, because bundlers look for
// those. `glassformer/inline` contains assets.inline.ts instead of this module.

import { threadOptions } from '../base/node.js';
import type { Thread, Threads } from '../base/node.js';
import type { WorkerLike } from '../base/node.js';
import { fileName } from './binary_name.js';
import { copied, installed } from './installed.js';
import type { Scope } from './binary_name.js';
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

// The binaries with everything, with plain and with relaxed SIMD. The others are in read.ts and
// threads.ts, which a program imports if it wants them.
const binaries: Record<Binary, () => URL> = {
  simd: () => new URL('./glassformer.wasm', import.meta.url),
  relaxed: () => new URL('./glassformer.relaxed.wasm', import.meta.url),
};

/** Returns the place from which Node searches for other packages. */
export function home(): string {
  return import.meta.url;
}

/** Returns the URL of a binary, or its bytes. Only servers find others than those with everything. */
export function binaryFile(
  scope: Scope,
  binary: Binary,
): string | Promise<Uint8Array<ArrayBuffer>> {
  if (scope === 'all') return installed(binaries[binary]());
  // This is not a literal expression, so that bundlers do not copy the file.
  return new URL(fileName(scope, binary), String(import.meta.url)).href;
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
