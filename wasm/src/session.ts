import { compileBinary, compileModule } from './binary.js';
import { GlassformerError, abortedError, throwIfAborted } from './errors.js';
import { checkRuntime } from './features.js';
import { createHost, replaceHost } from './host.js';
import { locateModel, resolveUrls } from './locate.js';
import { checkOption, checkOptions, checkSignal, isA } from './options.js';
import type { CallEvent, Host, Kind, Request, Result, Task } from './protocol.js';
import type { ModelFiles, ModelInfo, TranslatorLoadOptions } from './types.js';

const loadOptions = ['compute', 'onProgress', 'signal', 'urls', 'binary', 'module', 'worker'];
const translatorLoadOptions = [...loadOptions, 'shortlist'];

/** A loaded model and its host, until disposal: what a Classifier and a Translator stand on. */
export class Session<Info extends ModelInfo> {
  readonly info: Info;
  readonly #host: Host;
  readonly #disposal = new AbortController();

  private constructor(host: Host, info: Info) {
    this.#host = host;
    this.info = info;
  }

  static async load<Info extends ModelInfo>(
    task: Task,
    folder: string | URL | ModelFiles,
    options: TranslatorLoadOptions,
  ): Promise<Session<Info>> {
    checkRuntime();
    checkOptions(options, task === 'translate' ? translatorLoadOptions : loadOptions, 'load');
    const { compute, onProgress, signal, shortlist = false, binary, module, worker } = options;
    checkOption([undefined, 'f32', 'int8'].includes(compute), 'compute', '"f32" or "int8"');
    checkOption([undefined, 'simd', 'relaxed'].includes(binary), 'binary', '"simd" or "relaxed"');
    checkOption(
      module === undefined || isModule(module),
      'module',
      'a WebAssembly.Module or bytes',
    );
    checkOption(!module || !binary, 'binary', 'nothing where module is given');
    const places = ['undefined', 'boolean', 'function'];
    checkOption(places.includes(typeof worker), 'worker', 'true, false or a function');
    checkOption(typeof shortlist === 'boolean', 'shortlist', 'true or false');
    checkOption(['undefined', 'function'].includes(typeof onProgress), 'onProgress', 'a function');
    checkSignal(signal);
    const urls = resolveUrls(options.urls);
    const files = locateModel(folder, urls);
    let host: Host | undefined;
    try {
      return await interruptible(signal, undefined, async (inner, fail) => {
        const compiling = module ? compileModule(module) : compileBinary(binary, urls);
        host = createHost(worker, urls['worker.js']); // a worker starts up meanwhile
        const request = { task, module: await compiling, files, compute, shortlist };
        throwIfAborted(inner);
        const load = (where: Host): Promise<ModelInfo> =>
          where.call('load', request, inner, (progress) => {
            try {
              onProgress?.(progress);
            } catch (error) {
              fail(error);
            }
          });
        const info = await load(host).catch((error: unknown) => {
          host = replaceHost(worker, error);
          return load(host);
        });
        return new Session(host, info as Info);
      });
    } catch (error) {
      host?.dispose();
      throw error;
    }
  }

  /** Rejects at once, without waiting for the host, where `signal` aborts or the session ends. */
  call<K extends Kind>(
    kind: K,
    request: Request<K>,
    signal: AbortSignal | undefined,
    onEvent: (event: CallEvent<K>) => void = () => {},
  ): Promise<Result<K>> {
    return interruptible(signal, this.#disposal.signal, (inner) =>
      this.#host.call(kind, request, inner, onEvent),
    );
  }

  dispose(): void {
    this.#disposal.abort();
    this.#host.dispose();
  }
}

function isModule(value: unknown): boolean {
  return isA(value, 'WebAssembly.Module') || isA(value, 'ArrayBuffer') || ArrayBuffer.isView(value);
}

/** Runs `work`, and rejects without waiting for it on an abort, a disposal or a call of `fail`. */
function interruptible<T>(
  signal: AbortSignal | undefined,
  disposal: AbortSignal | undefined,
  work: (inner: AbortSignal, fail: (error: unknown) => void) => Promise<T>,
): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const inner = new AbortController();
    const fail = (error: unknown): void => {
      reject(error);
      inner.abort();
    };
    const onAbort = (): void => fail(abortedError(signal!));
    const onDispose = (): void =>
      fail(new GlassformerError('disposed', 'The model was disposed of; load it again'));
    if (disposal?.aborted) return onDispose();
    if (signal?.aborted) return onAbort();
    signal?.addEventListener('abort', onAbort);
    disposal?.addEventListener('abort', onDispose);
    work(inner.signal, fail)
      .then(resolve, reject)
      .finally(() => {
        signal?.removeEventListener('abort', onAbort);
        disposal?.removeEventListener('abort', onDispose);
      });
  });
}
