import { compileBinary, compileModule, scopeOf } from './binary.js';
import { checkCache } from './cache.js';
import type { TextInput } from './inputs.js';
import { outcomesOf } from './each.js';
import type { Inputs } from './each.js';
import { resultsOf } from './engine.js';
import type { EngineOptions, RawResult } from './engine.js';
import { GlassformerError, abortedError, messageOf, throwIfAborted } from './errors.js';
import { checkRuntime } from './features.js';
import { isAbsence } from './fetch.js';
import { createHost, replaceHost } from './host.js';
import { locateModel, resolveUrls } from './locate.js';
import { checkOption, checkOptions, checkSignal, checkTimeout, isA } from './options.js';
import type { Host } from './protocol.js';
import { onAbort } from './signals.js';
import type { Task } from './tasks.js';
import { assemble, assembleExplanation } from './tensors.js';
import type {
  ClassifierInfo,
  ModelFiles,
  ModelInfo,
  Outcome,
  TranslatorLoadOptions,
} from './types.js';

const loadOptions = [
  'compute',
  'onProgress',
  'signal',
  'urls',
  'hubUrl',
  'cache',
  'timeout',
  'binary',
  'module',
  'worker',
];
const explaining = [...loadOptions, 'explain'];
const known = new Map<Task | undefined, string[]>([
  ['text-classification', explaining],
  ['text-generation', explaining],
  ['translation', [...explaining, 'shortlist']],
  [undefined, [...explaining, 'shortlist']],
]);

// "owner/name" is also a relative address: if nothing is there, a hub may have been meant.
function withHubHint(error: unknown, folder: unknown): unknown {
  if (error instanceof GlassformerError && isAbsence(error)) {
    const named = typeof folder === 'string' && /^\w[\w.-]*\/\w[\w.-]*$/.test(folder);
    if (named) error.message += `; a model of a hub is named "hf:${folder}"`;
  }
  return error;
}

/** A loaded model and its host, until disposal: what every class of models stands on. */
export class ModelHandle<Info extends ModelInfo> {
  readonly info: Info;
  readonly #host: Host;
  readonly #running = new Set<Fail>();
  #disposed = false;

  private constructor(host: Host, info: Info) {
    this.#host = host;
    this.info = info;
    abandoned?.register(this, host);
  }

  static async load<Info extends ModelInfo>(
    task: Task | undefined,
    folder: string | URL | ModelFiles,
    options: TranslatorLoadOptions,
  ): Promise<ModelHandle<Info>> {
    checkRuntime();
    checkOptions(options, known.get(task) ?? loadOptions, 'load');
    const { compute, onProgress, signal, shortlist = false, cache = false, timeout } = options;
    const { binary, explain = false, module, worker } = options;
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
    checkOption(typeof explain === 'boolean', 'explain', 'true or false');
    checkOption(typeof cache === 'boolean', 'cache', 'true or false');
    checkTimeout(timeout);
    checkOption(['undefined', 'function'].includes(typeof onProgress), 'onProgress', 'a function');
    checkSignal(signal);
    const urls = resolveUrls(options.urls);
    const files = locateModel(folder, urls, options.hubUrl);
    if (cache) checkCache(files);
    let host: Host | undefined;
    try {
      return await interruptible(signal, new Set(), async (inner, fail) => {
        const compiling = module
          ? compileModule(module)
          : compileBinary(binary, scopeOf(task, explain), urls);
        host = createHost(worker, urls['worker.js']); // a worker starts up meanwhile
        const request = { task, files, compute, shortlist, cache, timeout };
        const load = async (
          where: Host,
          compiled: Promise<WebAssembly.Module>,
        ): Promise<ModelInfo | undefined> => {
          const whole = { ...request, module: await compiled };
          throwIfAborted(inner);
          return where.call('load', whole, inner, (progress) => {
            if (inner.aborted) return;
            try {
              onProgress?.(progress);
            } catch (error) {
              const message = `onProgress threw an error: ${messageOf(error)}`;
              fail(new GlassformerError('callback_failed', message, { cause: error }));
            }
          });
        };
        let info = await load(host, compiling).catch((error: unknown) => {
          host = replaceHost(worker, error);
          return load(host, compiling);
        });
        // A model of another class, which the binary for this one does not know.
        if (!info && !module) info = await load(host, compileBinary(binary, 'all', urls));
        checkOption(
          info !== undefined,
          'module',
          'glassformer.wasm, which has every kind of model',
        );
        return new ModelHandle(host, info as Info);
      });
    } catch (error) {
      host?.dispose();
      throw withHubHint(error, folder);
    }
  }

  /** Runs `work`, and rejects at once, without waiting for it, on an abort or a disposal. */
  run<T>(signal: AbortSignal | undefined, work: (inner: AbortSignal) => Promise<T>): Promise<T> {
    if (this.#disposed) return Promise.reject(disposedError());
    return interruptible(signal, this.#running, work);
  }

  /**
   * The results of some texts, or the error of one of them. `onProgress` hears of what each step has
   * to show, where the options ask for that.
   */
  async results<Result>(
    texts: TextInput[],
    options: EngineOptions,
    signal: AbortSignal | undefined,
    onProgress: (progress: RawResult) => void = () => {},
  ): Promise<Result[]> {
    const answers = await this.run(signal, (inner) =>
      this.#host.call('run', { texts, options, each: false }, inner, onProgress),
    );
    return resultsOf(answers, texts.length).map((raw) => this.#assemble<Result>(raw, options));
  }

  /** What becomes of each of any number of texts. */
  async *outcomes<Result>(
    texts: Inputs,
    options: EngineOptions,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<Outcome<Result>, void, void> {
    const outcomes = outcomesOf(this, texts, signal, (some, inner) =>
      this.run(inner, (own) =>
        this.#host.call('run', { texts: some, options, each: true }, own, () => {}),
      ),
    );
    for await (const { index, result, error } of outcomes) {
      yield error ? { index, error } : { index, result: this.#assemble<Result>(result, options) };
    }
  }

  /** What each token reads as, by its id. */
  vocabulary(): Promise<string[]> {
    return this.run(undefined, (inner) =>
      this.#host.call('vocabulary', undefined, inner, () => {}),
    );
  }

  #assemble<Result>(raw: RawResult, options: EngineOptions): Result {
    if (options.explains) return assembleExplanation<Result>(raw);
    return assemble<Result>(raw, options.traced, (this.info as Partial<ClassifierInfo>).labels);
  }

  dispose(): void {
    this.#disposed = true;
    for (const fail of this.#running) fail(disposedError());
    this.#host.dispose();
  }
}

function isModule(value: unknown): boolean {
  return isA(value, 'WebAssembly.Module') || isA(value, 'ArrayBuffer') || ArrayBuffer.isView(value);
}

// Ends the hosts of models that nobody holds any more and nobody has disposed of. A call under way
// holds its model.
const abandoned =
  typeof FinalizationRegistry === 'function'
    ? new FinalizationRegistry<Host>((host) => host.dispose())
    : undefined;

function disposedError(): GlassformerError {
  return new GlassformerError('disposed', 'The model was disposed of; load it again');
}

type Fail = (error: unknown) => void;

/**
 * Runs `work`, and rejects without waiting for it where `signal` aborts or somebody calls its
 * `fail`, which is among `running` meanwhile.
 */
function interruptible<T>(
  signal: AbortSignal | undefined,
  running: Set<Fail>,
  work: (inner: AbortSignal, fail: Fail) => Promise<T>,
): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    if (signal?.aborted) throw abortedError(signal);
    const inner = new AbortController();
    const end = (): void => {
      forget();
      running.delete(fail);
    };
    const fail = (error: unknown): void => {
      end();
      reject(error);
      inner.abort();
    };
    const forget = onAbort(signal, () => fail(abortedError(signal!)));
    running.add(fail);
    work(inner.signal, fail).then(resolve, reject).finally(end);
  });
}
