import { checkOption, checkOptions, checkSignal, checkTimeout, isA } from '../base/checks.js';
import { GlassformerError, throwIfAborted } from '../base/errors.js';
import { isAbsence } from '../base/fetch.js';
import {
  compileBinary,
  compileModule,
  isNamed,
  noSharedMemory,
  scopesOf,
} from '../engine/binary.js';
import type { EngineModule } from '../engine/engine.js';
import { checkRuntime } from '../engine/features.js';
import { findAddon } from '../engine/native.js';
import { taskNamed } from '../engine/tasks.js';
import { checkThreads, countThreads } from '../engine/threads.js';
import type { ThreadCount } from '../engine/threads.js';
import type { Purpose } from '../engine/tasks.js';
import type { Scope } from '../engine/binary_name.js';
import { createHost, replaceHost } from '../host/host.js';
import type { CallEvent, Host, Request, Result } from '../host/protocol.js';
import { checkCache } from '../loading/cache.js';
import type { FolderRequest } from '../loading/load_model.js';
import { locateModel, resolveUrls } from '../loading/locate.js';
import type { Urls } from '../loading/locate.js';
import type {
  LoadOptions,
  ModelFiles,
  Progress,
  TranslatorLoadOptions,
} from '../loading/options.js';
import type { Architecture } from './architecture.js';
import { Session, callBack, interruptible } from './session.js';

/** A model that was loaded. */
export interface OpenedModel<Info extends object> {
  session: Session;
  info: Info;
  architecture: Architecture;
}

/** Loads a model of a task, or of any task if it is undefined; or only a tokenizer. */
export async function openModel<Info extends object>(
  task: Purpose | undefined,
  folder: string | URL | ModelFiles,
  options: TranslatorLoadOptions,
): Promise<OpenedModel<Info>> {
  const { host, result } = await openFolder('load', task, folder, options);
  const { architecture, ...info } = result as unknown as Info & { architecture: Architecture };
  return { session: new Session(host), info: info as unknown as Info, architecture };
}

/** The options of everything that opens files with an engine. */
export const openOptions = [
  'onProgress',
  'signal',
  'urls',
  'hubUrl',
  'cache',
  'timeout',
  'backend',
  'binary',
  'module',
  'worker',
] as const satisfies readonly (keyof TranslatorLoadOptions)[];
const loadOptions = [...openOptions, 'compute', 'threads', 'untrained'];

export function checkLoadOptions(task: Purpose | undefined, options: TranslatorLoadOptions): void {
  const own = task ? taskNamed(task)?.load : ['explain', 'gradients', 'shortlist'];
  checkOptions(options, [...loadOptions, ...(own ?? [])], 'load');
  const { compute, onProgress, signal, shortlist, cache, timeout } = options;
  const { backend, threads, binary, explain, gradients, module, worker, untrained } = options;
  const computes = [undefined, 'f32', 'int8', 'int4'];
  checkOption(computes.includes(compute), 'compute', '"f32", "int8" or "int4"');
  checkOption([undefined, 'native', 'wasm'].includes(backend), 'backend', '"native" or "wasm"');
  checkThreads(threads);
  checkOption([undefined, 'simd', 'relaxed'].includes(binary), 'binary', '"simd" or "relaxed"');
  checkOption(module === undefined || isModule(module), 'module', 'a WebAssembly.Module or bytes');
  checkOption(!module || !binary, 'binary', 'nothing where module is given');
  const places = ['undefined', 'boolean', 'function'];
  checkOption(places.includes(typeof worker), 'worker', 'true, false or a function');
  for (const [name, flag] of Object.entries({ shortlist, explain, gradients, cache })) {
    checkOption(['undefined', 'boolean'].includes(typeof flag), name, 'true or false');
  }
  const seed = typeof untrained === 'boolean' ? undefined : untrained;
  const isSeed = seed === undefined || (Number.isInteger(seed) && seed >= 0 && seed < 2 ** 32);
  checkOption(isSeed, 'untrained', 'true, false or a seed from 0 to 4294967295');
  checkTimeout(timeout);
  checkOption(['undefined', 'function'].includes(typeof onProgress), 'onProgress', 'a function');
  checkSignal(signal);
}

// Returns the seed of random weights, or undefined for those of the folder.
function seedOf(untrained: boolean | number | undefined): number | undefined {
  return typeof untrained === 'number' ? untrained : untrained ? 1 : undefined;
}

/** Opens a folder in a new host, and loads or inspects its model there. */
export async function openFolder<K extends 'load' | 'inspect'>(
  kind: K,
  task: Purpose | undefined,
  folder: string | URL | ModelFiles,
  options: TranslatorLoadOptions,
): Promise<{ host: Host; result: NonNullable<Result<K>> }> {
  checkRuntime();
  checkLoadOptions(task, options);
  const urls = resolveUrls(options.urls);
  const request = { ...folderRequest(folder, options, urls), task };
  try {
    const scopes = scopesOf(task, options, urls);
    return await startHost(kind, request as Request<K>, scopes, options, urls);
  } catch (error) {
    throw withHubHint(error, folder);
  }
}

/** Returns the request to load a folder. The options are checked. */
export function folderRequest(
  folder: string | URL | ModelFiles,
  options: TranslatorLoadOptions,
  urls: Urls,
): Omit<FolderRequest, 'module'> {
  const { compute, shortlist = false, cache = false, timeout } = options;
  const files = locateModel(folder, urls, options.hubUrl);
  if (cache) checkCache(files);
  const seed = seedOf(options.untrained);
  return { task: undefined, files, compute, shortlist, cache, timeout, seed };
}

/**
 * Starts a host and makes the first call there, with the module that it will run. `scopes`: the
 * binaries to try, in order.
 */
export async function startHost<K extends 'load' | 'inspect' | 'learn'>(
  kind: K,
  request: Omit<Request<K>, 'module'>,
  scopes: readonly Scope[],
  options: LoadOptions,
  urls: Urls,
): Promise<{ host: Host; result: NonNullable<Result<K>> }> {
  const { onProgress, signal, backend, binary, module, worker } = options;
  let host: Host | undefined;
  try {
    return await interruptible(signal, new Set(), async (inner, fail) => {
      const addon = findAddon(backend ?? ((binary ?? module) && 'wasm'));
      let threads: ThreadCount =
        kind === 'load' // a training has one thread
          ? countThreads(options, addon ? 'native' : 'wasm', urls)
          : { threads: 1 };
      const compile = async (scope: Scope): Promise<EngineModule> => {
        if (addon) return { addon };
        if (module) return compileModule(module);
        if (threads.threads === 1) return compileBinary(binary, scope, urls);
        try {
          return await compileBinary(binary, 'threads', urls);
        } catch (error) {
          // The package's own file, which a bundle for servers may lack.
          const { code, message } = error as GlassformerError;
          if (code !== 'missing_file' || isNamed('threads', urls)) throw error;
          threads = { threads: 1, note: message };
          return compileBinary(binary, scope, urls);
        }
      };
      const compiling = compile(scopes[0]!);
      host = createHost(worker, urls['worker.js']); // a worker starts up meanwhile
      const open = async (where: Host, compiled: Promise<EngineModule>): Promise<Result<K>> => {
        const compiledModule = await compiled; // which decides about threads
        const whole = { ...request, module: compiledModule, threads } as Request<K>;
        throwIfAborted(inner);
        const onEvent = (progress: Progress): void => {
          if (!inner.aborted) callBack('onProgress', () => onProgress?.(progress), fail);
        };
        return where.call(kind, whole, inner, onEvent as (event: CallEvent<K>) => void);
      };
      let result = await open(host, compiling)
        .catch((error: unknown) => {
          host = replaceHost(worker, error);
          return open(host, compiling);
        })
        .catch((error: unknown) => {
          if (module || !(error as Error).message?.startsWith(noSharedMemory)) throw error;
          threads = { threads: 1, note: (error as Error).message };
          return open(host!, compile(scopes[0]!));
        });
      // The model belongs to another class, which this class's binary lacks.
      for (const other of module ? [] : scopes.slice(1)) {
        result ??= await open(host, compile(other));
      }
      if (!result) {
        const expected = 'glassformer.wasm, which has every kind of model';
        throw new GlassformerError('invalid_option', `module: expected ${expected}`);
      }
      return { host, result };
    });
  } catch (error) {
    host?.dispose();
    throw error;
  }
}

// "owner/name" is also a relative address. If nothing is there, the model of a hub may be meant.
function withHubHint(error: unknown, folder: unknown): unknown {
  if (error instanceof GlassformerError && isAbsence(error)) {
    const named = typeof folder === 'string' && /^\w[\w.-]*\/\w[\w.-]*$/.test(folder);
    if (named) error.message += `; a model of a hub is named "hf:${folder}"`;
  }
  return error;
}

function isModule(value: unknown): boolean {
  return isA(value, 'WebAssembly.Module') || isA(value, 'ArrayBuffer') || ArrayBuffer.isView(value);
}
