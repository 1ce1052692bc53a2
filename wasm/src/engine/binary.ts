import { binaryFile, cure } from './assets.js';
import { GlassformerError, messageOf } from '../base/errors.js';
import { detectBinary } from './features.js';
import { fetchFile, readError } from '../base/fetch.js';
import { isServer, nodeModule } from '../base/node.js';
import { isA } from '../base/checks.js';
import { taskNamed } from './tasks.js';
import type { Purpose } from './tasks.js';
import { fileName } from './binary_name.js';
import type { Scope } from './binary_name.js';
import type { Binary } from './compute.js';

/** URLs that replace those of files, by name. */
export type Urls = Readonly<Record<string, string | undefined>>;

// Compiled modules, shared by all models: by URL or, for the package's own files, by name.
const modules = new Map<string, Promise<WebAssembly.Module>>();

/** Requirements of a binary in addition to a task's models. */
interface Needs {
  explain?: boolean | undefined;
  gradients?: boolean | undefined;
}

/**
 * Returns the binaries to try for a task or a tokenizer, in order. The one for models that read texts
 * is tried first if `urls` name it, because it is a smaller download.
 */
export function scopesOf(
  task: Purpose | undefined,
  { explain, gradients }: Needs,
  urls: Urls,
): Scope[] {
  const suffices = task && taskNamed(task)?.reads && !explain && !gradients;
  return suffices && isNamed('read', urls) ? ['read', 'all'] : ['all'];
}

/** Returns whether there are binaries with threads: those that `urls` name or, on servers, our own. */
export function hasThreads(urls: Urls): boolean {
  return isNamed('threads', urls) || (isServer() && !isNamed('all', urls));
}

/** The beginning of the message if memory that threads share cannot be had. */
export const noSharedMemory = 'threads: shared memory cannot be allocated';

/** Returns whether `urls` name a binary. */
export function isNamed(scope: Scope, urls: Urls): boolean {
  return hosted(scope, urls).some(Boolean);
}

function hosted(scope: Scope, urls: Urls): (string | undefined)[] {
  return [urls[fileName(scope, 'simd')], urls[fileName(scope, 'relaxed')]];
}

/** Compiles the requested binary, or the best one for this runtime, once for all models. */
export function compileBinary(
  wanted: Binary | undefined,
  scope: Scope,
  urls: Urls,
): Promise<WebAssembly.Module> {
  const [simd, relaxed] = hosted(scope, urls);
  let binary = detectBinary();
  if (wanted === 'relaxed' && binary === 'simd') {
    throw new GlassformerError('unsupported_runtime', 'This runtime has no relaxed SIMD');
  }
  // If only the plain binary's URL is given, only that one is hosted.
  if (wanted === 'simd' || (wanted === undefined && simd && !relaxed)) binary = 'simd';
  const url = binary === 'simd' ? simd : relaxed;
  return once(url ?? fileName(scope, binary), () =>
    url ? fromUrl(url) : fromPackage(scope, binary),
  );
}

/** Returns the module of the option `module`. */
export async function compileModule(
  module: WebAssembly.Module | ArrayBuffer | ArrayBufferView,
): Promise<WebAssembly.Module> {
  if (isA(module, 'WebAssembly.Module')) return module as WebAssembly.Module;
  return compile('module', () => WebAssembly.compile(module as BufferSource));
}

function once(key: string, work: () => Promise<WebAssembly.Module>): Promise<WebAssembly.Module> {
  let module = modules.get(key);
  if (!module) {
    module = work();
    modules.set(key, module);
    module.catch(() => modules.delete(key));
  }
  return module;
}

async function fromPackage(scope: Scope, binary: Binary): Promise<WebAssembly.Module> {
  try {
    const file = binaryFile(scope, binary);
    return await (typeof file === 'string' ? fromUrl(file) : compileModule(await file));
  } catch (error) {
    // A script that is not a module does not know its own URL, which is a TypeError.
    const name = fileName(scope, binary);
    const failure = readError(name, error);
    if (failure.code === 'unsupported_runtime') throw failure;
    throw new GlassformerError(failure.code, `${failure.message}. ${cure}`, { cause: error });
  }
}

async function fromUrl(url: string): Promise<WebAssembly.Module> {
  const fs = url.startsWith('file:') ? nodeModule('node:fs') : undefined;
  return compile(url, async () => {
    if (fs) return WebAssembly.compile(await fs.promises.readFile(new URL(url)));
    const response = await fetchFile(url);
    const streams =
      typeof WebAssembly.compileStreaming === 'function' &&
      response.headers.get('content-type') === 'application/wasm';
    return streams
      ? WebAssembly.compileStreaming(response)
      : WebAssembly.compile(await response.arrayBuffer());
  });
}

async function compile(
  what: string,
  work: () => Promise<WebAssembly.Module>,
): Promise<WebAssembly.Module> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof WebAssembly.CompileError)) throw readError(what, error);
    const forbidden = /content.?security|unsafe-eval|embedder/i.test(error.message);
    const advice = forbidden
      ? ". Hand in a compiled module as the option module, or allow it: script-src 'self' 'wasm-unsafe-eval'"
      : '';
    throw new GlassformerError(
      'unsupported_runtime',
      `${what} does not compile: ${messageOf(error)}${advice}`,
      { cause: error },
    );
  }
}
