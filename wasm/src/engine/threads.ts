// Threads of a model in WebAssembly: workers that instantiate the same module over the same memory,
// and then wait in it for their share of the work, until they are terminated.

import { checkOption } from '../base/checks.js';
import { GlassformerError, messageOf } from '../base/errors.js';
import { isServer, nodeModule, parallelism, threadOptions, variable } from '../base/node.js';
import type { Thread, WorkerLike } from '../base/node.js';
import { threadScript } from './assets.js';
import { hasThreads, noSharedMemory } from './binary.js';
import type { Urls } from './binary.js';
import type { Backend } from './native.js';

/** The most threads that "auto" stands for. More seldom help a model of the sizes that browsers run. */
const mostAutomatic = 8;
/** Threads that have not come up after this many milliseconds are given up. */
const patience = 10_000;
/** The bytes of a thread's stack. */
const stackBytes = 256 * 1024;

/** The exports that start a thread; see threads.cpp. */
export interface ThreadExports {
  gf_alloc(size: number): number;
  gf_thread(index: number): void;
  gf_thread_lost(): void;
  _emscripten_wasm_worker_initialize(stack: number, size: number): void;
}

/** To a worker that is to be a thread: first this, then its place. */
export type ToThread =
  | { kind: 'thread'; module: WebAssembly.Module; memory: WebAssembly.Memory }
  | { kind: 'place'; index: number; stack: number };

/** The number of threads of a model, and why there is only one if more were wanted. */
export interface ThreadCount {
  threads: number;
  note?: string;
  /** The URL of their script, in Node. */
  script?: string | undefined;
}

/** Throws `invalid_option` for something else than a number of threads. */
export function checkThreads(threads: unknown, name = 'threads'): void {
  const inRange = Number.isInteger(threads) && Number(threads) >= 1 && Number(threads) <= 256;
  const valid = threads === undefined || threads === 'auto' || inRange;
  checkOption(valid, name, '"auto" or a number from 1 to 256');
}

/** Returns how many threads a model gets, as its load options say. */
export function countThreads(
  { threads: option, worker }: { threads?: number | 'auto' | undefined; worker?: unknown },
  backend: Backend,
  urls: Urls,
): ThreadCount {
  const wanted = option ?? defaultThreads();
  if (backend === 'native') return { threads: wanted === 'auto' ? parallelism() : wanted };
  const threads = wanted === 'auto' ? Math.min(parallelism(), mostAutomatic) : wanted;
  if (threads === 1) return { threads };
  const script = threadScript();
  const note = hasThreads(urls)
    ? whyNot(script, worker === false)
    : "the option urls names no binary with threads; 'glassformer/threads' has their URLs";
  return note ? { threads: 1, note } : { threads, script: urls['worker.js'] ?? script };
}

// The environment variable GLASSFORMER_THREADS, or else "auto".
function defaultThreads(): number | 'auto' {
  const value = variable('GLASSFORMER_THREADS');
  if (!value || value === 'auto') return 'auto';
  const threads = Number(value);
  checkThreads(threads, 'GLASSFORMER_THREADS');
  return threads;
}

// `here`: the model runs in this thread, not in a worker.
function whyNot(script: string | undefined, here: boolean): string | undefined {
  if (!script) return 'glassformer/inline has one thread';
  if (isServer()) return undefined;
  if (!globalThis.crossOriginIsolated) return 'the page is not cross-origin isolated';
  return here ? "a page's own thread cannot wait for others" : undefined;
}

/**
 * Returns memory for a module that shares it between threads, with as much address space as the runtime
 * grants; undefined for other modules. Throws `unsupported_runtime`.
 */
export function sharedMemory(module: WebAssembly.Module): WebAssembly.Memory | undefined {
  if (!WebAssembly.Module.imports(module).some(({ kind }) => kind === 'memory')) return undefined;
  for (let maximum = 65536; ; maximum /= 2) {
    try {
      return new WebAssembly.Memory({ initial: 64, maximum, shared: true });
    } catch (error) {
      if (maximum > 4096) continue;
      const message = `${noSharedMemory}: ${messageOf(error)}`;
      throw new GlassformerError('unsupported_runtime', message, { cause: error });
    }
  }
}

/** The functions of an engine that concern threads. */
export interface ThreadFunctions {
  gf_set_threads?(threads: number): number;
  /** Starts threads in addition to this one; only of a module with shared memory. */
  addThreads?(wanted: ThreadCount): Promise<ThreadCount>;
  /** Frees what the garbage collector does not: the add-on's model, and threads. */
  release?(): void;
}

/** Starts threads, if the engine can have any. Never rejects. */
export async function startThreads(
  { addThreads, gf_set_threads }: ThreadFunctions,
  wanted: ThreadCount,
): Promise<ThreadCount> {
  if (wanted.threads === 1) return wanted;
  if (addThreads) return addThreads(wanted);
  return gf_set_threads ? wanted : { threads: 1, note: 'the binary has one thread' };
}

/** Returns the functions that start and end the threads of an instance. */
export function threadsOf(
  module: WebAssembly.Module,
  memory: WebAssembly.Memory,
  instance: object,
): ThreadFunctions {
  const exports = instance as ThreadExports;
  const workers: WorkerLike[] = [];
  const addThreads = async ({ threads: wanted, script }: ThreadCount): Promise<ThreadCount> => {
    let note: string | undefined;
    const starting = Array.from({ length: wanted - 1 }, async () => {
      const worker = startWorker(script);
      workers.push(worker);
      await ready(worker, { kind: 'thread', module, memory });
      return worker;
    });
    let threads = 1;
    for (const started of await Promise.allSettled(starting)) {
      const block = started.status === 'fulfilled' ? exports.gf_alloc(stackBytes + 16) : 0;
      if (started.status === 'fulfilled' && block > 0) {
        const stack = Math.ceil(block / 16) * 16;
        started.value.postMessage({ kind: 'place', index: threads++, stack } satisfies ToThread);
      } else {
        note = started.status === 'rejected' ? messageOf(started.reason) : 'out of memory';
      }
    }
    return { threads, ...(note !== undefined && { note }) };
  };
  const release = (): void => {
    for (const worker of workers.splice(0)) worker.terminate();
  };
  return { addThreads, release };
}

function startWorker(script: string | undefined): WorkerLike {
  const threads = isServer() ? nodeModule('node:worker_threads') : undefined;
  if (threads) return new threads.Worker(new URL(script!), threadOptions);
  // A web worker of this package knows its own script, wherever a bundler has put it.
  return new Worker(globalThis.location.href, { type: 'module' });
}

// Resolves when the worker has instantiated the module.
function ready(worker: WorkerLike & Partial<Thread & Worker>, message: ToThread): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      worker.terminate();
      reject(new Error('a thread did not start in time'));
    }, patience);
    const settle = (then: () => void): void => {
      clearTimeout(timer);
      then();
    };
    const fail = (reason: string): void => settle(() => reject(new Error(reason)));
    if (worker.on) {
      worker.on('message', () => settle(resolve));
      worker.on('error', (error: Error) => fail(messageOf(error)));
      worker.on('exit', () => fail('the thread was ended'));
      worker.unref?.(); // meanwhile, the timer keeps the process alive
    } else {
      worker.onmessage = () => settle(resolve);
      worker.onerror = (event: ErrorEvent) => {
        event.preventDefault();
        fail(event.message || 'the script of a thread did not load');
      };
    }
    worker.postMessage(message);
  });
}

let own: ThreadExports | undefined;

/** Serves a message to this worker as a thread. The last one does not return. */
export async function beThread(message: ToThread, isReady: () => void): Promise<void> {
  if (message.kind === 'thread') {
    const env = { memory: message.memory };
    const instance = await WebAssembly.instantiate(message.module, { env });
    own = instance.exports as unknown as ThreadExports;
    isReady();
    return;
  }
  try {
    own!._emscripten_wasm_worker_initialize(message.stack, stackBytes);
    own!.gf_thread(message.index);
  } catch {
    own!.gf_thread_lost();
  }
}
