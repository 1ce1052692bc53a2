import { binaryFile, cure } from './assets.js';
import type { BinaryFile } from './assets.js';
import { GlassformerError, messageOf } from '../base/errors.js';
import { detectBinary } from './features.js';
import { fetchFile, readError } from '../base/fetch.js';
import { nodeModule } from '../base/node.js';
import { isA } from '../base/checks.js';
import { taskNamed } from './tasks.js';
import type { Purpose } from './tasks.js';
import type { Binary } from './compute.js';

/** URLs that replace those of files, by name. */
export type Urls = Readonly<Record<string, string | undefined>>;

// Compiled modules, shared by all models: by URL or, for the package's own files, by name.
const modules = new Map<string, Promise<WebAssembly.Module>>();

/**
 * The contents of a binary: models that read texts, models that write, models that read pictures and
 * training with pictures, all models and explanations, these with threads, these and gradients, or
 * training with texts.
 */
export type Scope = 'read' | 'write' | 'pictures' | 'all' | 'threads' | 'gradients' | 'learn';

/** Requirements of a binary in addition to a task's models. */
interface Needs {
  explain?: boolean | undefined;
  gradients?: boolean | undefined;
}

/**
 * Returns the smallest scope for a task or a tokenizer; all, if the task is not known yet, or if `urls` have the
 * whole binary only, so that the smaller ones are not hosted.
 */
export function scopeOf(
  task: Purpose | undefined,
  { explain, gradients }: Needs,
  urls: Urls,
): Scope {
  if (gradients) return 'gradients';
  if (explain || !task) return 'all';
  const scope = taskNamed(task)?.binary ?? 'write'; // it has every tokenizer
  return !hosted(scope, urls).some(Boolean) && hosted('all', urls).some(Boolean) ? 'all' : scope;
}

/** Returns the scope of a binary with threads that has what this one has, or the same scope. */
export function withThreads(scope: Scope): Scope {
  return scope === 'gradients' || scope === 'learn' ? scope : 'threads';
}

/** Returns whether there are binaries with threads: `urls` may name others only. */
export function hasThreads(scope: Scope, urls: Urls): boolean {
  const named = (each: Scope): boolean => hosted(each, urls).some(Boolean);
  return named('threads') || !(named(scope) || named('all'));
}

function hosted(scope: Scope, urls: Urls): (string | undefined)[] {
  return [urls[fileName(scope, 'simd')], urls[fileName(scope, 'relaxed')]];
}

/** Returns the name of the package's file. */
export function fileName(scope: Scope, binary: Binary): BinaryFile {
  const dotted = `${scope === 'all' ? '' : `.${scope}`}${binary === 'simd' ? '' : '.relaxed'}`;
  return `glassformer${dotted}.wasm` as BinaryFile;
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
  const name = fileName(scope, binary);
  return once(url ?? name, () => (url ? fromUrl(url) : fromPackage(name)));
}

/** Returns the module of the option `module`. */
export async function compileModule(
  module: WebAssembly.Module | BufferSource,
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

async function fromPackage(name: BinaryFile): Promise<WebAssembly.Module> {
  try {
    const file = binaryFile(name);
    return await (typeof file === 'string' ? fromUrl(file) : compileModule(await file));
  } catch (error) {
    // A script that is not a module does not know its own URL, which is a TypeError.
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
