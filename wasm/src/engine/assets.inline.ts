// The package's own files, embedded in the script. `glassformer/inline` contains this module instead
// of assets.ts, for environments in which a script cannot find files in its folder.

import { GlassformerError } from '../base/errors.js';
import { threadOptions, workingFolder } from '../base/node.js';
import type { Thread, Threads } from '../base/node.js';
import type { WorkerLike } from '../base/node.js';
import type { Scope } from './binary_name.js';
import type { Binary } from './compute.js';

/**
 * The files, inserted by tools/package.mjs: the worker's script, and the binaries with everything as
 * base64 of zlib data.
 */
declare const files: { worker: string; simd: string; relaxed: string };

export const cure = '';

/** Returns undefined: no binary has threads. */
export function threadScript(): string | undefined {
  return undefined;
}

/** If a policy forbids workers from blobs, models run in the page's own thread. */
export const runsWithoutWorker = true;

/** Returns the program's folder, because a script that is not a module does not know its own URL. */
export function home(): string {
  return `${workingFolder()}/`;
}

export function binaryFile(_: Scope, binary: Binary): Promise<BufferSource> {
  return inflate(files[binary]);
}

let workerUrl: string | undefined;

export function startWebWorker(): WorkerLike {
  workerUrl ??= URL.createObjectURL(new Blob([files.worker], { type: 'text/javascript' }));
  return new Worker(workerUrl);
}

export function startThread({ Worker }: Threads): Thread {
  return new Worker(files.worker, { ...threadOptions, eval: true });
}

async function inflate(base64: string): Promise<BufferSource> {
  if (typeof DecompressionStream !== 'function') {
    throw new GlassformerError(
      'unsupported_runtime',
      "'glassformer/inline' needs DecompressionStream; import from 'glassformer' here",
    );
  }
  const compressed = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  const stream = new Blob([compressed]).stream().pipeThrough(new DecompressionStream('deflate'));
  return new Response(stream).arrayBuffer();
}
