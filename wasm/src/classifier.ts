/// <reference lib="esnext.disposable" preserve="true" />

import { compileBinary, locateBinary } from './binary.js';
import type { RawAttention, RawClassification } from './engine.js';
import { GlassformerError, abortedError, throwIfAborted } from './errors.js';
import { createHost } from './host.js';
import { locateModel, resolveUrls } from './locate.js';
import { checkOption, checkOptions, checkSignal } from './options.js';
import type { Host } from './protocol.js';
import type {
  AttentionMap,
  Classification,
  ClassifyOptions,
  LoadOptions,
  ModelFiles,
  ModelInfo,
} from './types.js';

const loadOptions = ['compute', 'onProgress', 'signal', 'urls', 'binary'];
const classifyOptions = ['attention', 'contributions', 'ablate', 'maskTokens', 'signal'];

/**
 * A text classifier. It holds a WebAssembly instance, in a worker where the runtime has workers,
 * until it is disposed of. Calls wait for one another. Every error is a GlassformerError, and the
 * call after it works.
 */
export class Classifier {
  /** What the model is. */
  readonly info: ModelInfo;
  readonly #host: Host;
  readonly #disposal = new AbortController();

  private constructor(host: Host, info: ModelInfo) {
    this.#host = host;
    this.info = info;
  }

  /**
   * Loads the model in a folder: a URL with or without trailing slash, in Node also a path, or the
   * bytes of its files.
   */
  static async load(
    folder: string | URL | ModelFiles,
    options: LoadOptions = {},
  ): Promise<Classifier> {
    checkOptions(options, loadOptions, 'load');
    const { compute, onProgress, signal } = options;
    checkOption([undefined, 'f32', 'int8'].includes(compute), 'compute', '"f32" or "int8"');
    checkOption(
      [undefined, 'simd', 'relaxed'].includes(options.binary),
      'binary',
      '"simd" or "relaxed"',
    );
    checkOption(['undefined', 'function'].includes(typeof onProgress), 'onProgress', 'a function');
    checkSignal(signal);
    if (compute === 'int8') {
      throw new GlassformerError('unsupported', 'compute "int8" is not supported yet; use "f32"');
    }
    const urls = resolveUrls(options.urls);
    const files = locateModel(folder, urls);
    const { binary, url } = locateBinary(options.binary, urls);
    let host: Host | undefined;
    try {
      return await interruptible(signal, undefined, async (inner, fail) => {
        const module = await compileBinary(url);
        throwIfAborted(inner);
        host = createHost(urls['worker.js']);
        const info = await host.load({ module, binary, files }, inner, (progress) => {
          try {
            onProgress?.(progress);
          } catch (error) {
            fail(error);
          }
        });
        return new Classifier(host, info);
      });
    } catch (error) {
      host?.dispose();
      throw error;
    }
  }

  /** Classifies one text. */
  async classify(text: string, options: ClassifyOptions = {}): Promise<Classification> {
    checkOption(typeof text === 'string', 'text', 'a string');
    return (await this.#classify([text], options))[0]!;
  }

  /**
   * Classifies several texts, with one result each, in order. Where a text is refused, so is the
   * whole batch; the message tells which.
   */
  async classifyBatch(
    texts: readonly string[],
    options: ClassifyOptions = {},
  ): Promise<Classification[]> {
    checkOption(Array.isArray(texts), 'texts', 'an array of strings');
    for (const [index, text] of texts.entries()) {
      checkOption(typeof text === 'string', `texts[${index}]`, 'a string');
    }
    return this.#classify([...texts], options);
  }

  /** Ends the worker and frees the model. Calls that are under way reject with `disposed`. */
  dispose(): void {
    this.#disposal.abort();
    this.#host.dispose();
  }

  async #classify(texts: string[], options: ClassifyOptions): Promise<Classification[]> {
    checkOptions(options, classifyOptions, 'classify');
    const { signal, ...engineOptions } = options;
    checkSignal(signal);
    let json;
    try {
      json = JSON.stringify(engineOptions);
    } catch (error) {
      throw new GlassformerError('invalid_option', 'The options are no plain data', {
        cause: error,
      });
    }
    const request = { texts, options: new TextEncoder().encode(json) };
    const results = await interruptible(signal, this.#disposal.signal, (inner) =>
      this.#host.classify(request, inner),
    );
    return results.map(toClassification);
  }
}

// Symbol.dispose, for `using`, is newer than the runtimes that the package supports.
export interface Classifier {
  [Symbol.dispose](): void;
}
if (Symbol.dispose) Classifier.prototype[Symbol.dispose] = Classifier.prototype.dispose;

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

function toClassification({ attention, ...rest }: RawClassification): Classification {
  return attention ? { ...rest, attention: { encoder: toAttentionMap(attention.encoder) } } : rest;
}

function toAttentionMap({ layers, heads, queries, keys, data }: RawAttention): AttentionMap {
  return {
    layers,
    heads,
    queries,
    keys,
    data,
    at(layer, head) {
      const size = queries * keys;
      const index = (value: number, count: number, name: string): number => {
        const valid = Number.isInteger(value) && value >= 0 && value < count;
        checkOption(valid, name, `an integer from 0 to ${count - 1}, got ${value}`);
        return value;
      };
      const begin = (index(layer, layers, 'layer') * heads + index(head, heads, 'head')) * size;
      return data.subarray(begin, begin + size);
    },
  };
}
