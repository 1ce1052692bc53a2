import type { WorkerLike } from '../base/node.js';
import type { Binary, Compute } from '../engine/compute.js';
import type { Backend } from '../engine/native.js';

/**
 * A model's files by their names in its folder: bytes, a Blob such as a File that a user has chosen,
 * or a URL. Bytes are never modified or detached. A Blob is read a slice at a time.
 */
export type ModelFiles = Readonly<Record<string, Uint8Array | Blob | URL>>;

/** The progress of loading a model. Its numbers never decrease. */
export interface Progress {
  /** The file that has progressed, such as "model.safetensors". */
  file: string;
  /** Bytes of the file read so far, after decompression. */
  loaded: number;
  /** The file's size; undefined until a manifest, the server or the file's end tells it. */
  total: number | undefined;
  /**
   * All files together. In the last event `loaded` equals `total`. The first event comes as soon as
   * all files and their sizes are known: after the small files and the first bytes of the weights.
   */
  overall: { loaded: number; total: number | undefined };
}

/** A TrustedScriptURL, which older type libraries do not declare. */
export interface TrustedUrl {
  toJSON(): string;
}

export interface LoadOptions {
  /** Arithmetic of the matrix products. Default: as the weights are stored. */
  compute?: Compute | undefined;
  /**
   * Called while files arrive. If it throws, loading fails with `callback_failed`, whose cause is
   * that error.
   */
  onProgress?: ((progress: Progress) => void) | undefined;
  /** Aborts the download and the loading. */
  signal?: AbortSignal | undefined;
  /**
   * Replaces the URLs of single files, by name: the model's, or the package's own, such as
   * glassformer.wasm, glassformer.relaxed.wasm and worker.js. Relative URLs are resolved like the
   * folder. The URL of worker.js may be a TrustedScriptURL.
   */
  urls?: { readonly [name: string]: string | URL | TrustedUrl | undefined } | undefined;
  /** The server of models named `hf:owner/name`. Default: https://huggingface.co. */
  hubUrl?: string | URL | undefined;
  /**
   * Stores the model's files in the browser's Cache API and reads them from there the next time,
   * even without a network. Default: false. With a manifest, files that have changed on the server
   * are downloaded again; without one, stored files stay until `clearCache`. Each file is checked
   * when it is read, and downloaded again if it is damaged. If the browser has no space or the user
   * forbids storage, nothing is stored. Without a Cache API (Node, `http:` other than localhost,
   * sandboxed frames), the error is `unsupported_runtime`.
   */
  cache?: boolean | undefined;
  /**
   * Maximum time in milliseconds to wait for the next byte of a model's file, after which the error
   * is `timeout`. Default: no limit. To limit the whole loading, pass `AbortSignal.timeout` as
   * `signal`.
   */
  timeout?: number | undefined;
  /**
   * Runs the model as machine code, by the package `@glassformer/native`, or as WebAssembly. Default:
   * "wasm" if `binary` or `module` is given, or if the environment variable GLASSFORMER_BACKEND is
   * "wasm"; else "native" if that package is installed, in Node and similar runtimes. If the package
   * is wanted but missing, if it does not run here, or if its version is not that of glassformer, the
   * error is `unsupported_runtime`.
   */
  backend?: Backend | undefined;
  /**
   * The number of threads that share the work of a call, 1 to 256; "auto": as many as the machine runs
   * at the same time, in WebAssembly at most 8. They change no bit of a result. Default: the
   * environment variable GLASSFORMER_THREADS, or else "auto". In pages, `urls` must name the binaries
   * with threads (see `glassformer/threads`). Where threads cannot share memory, as in a page that is
   * not cross-origin isolated, there is one, and `info.threadsNote` says why.
   */
  threads?: number | 'auto' | undefined;
  /** Selects a WebAssembly binary. Default: relaxed SIMD if the runtime supports it. */
  binary?: Binary | undefined;
  /**
   * The WebAssembly binary itself, compiled or as bytes, for runtimes that cannot fetch or compile
   * it.
   */
  module?: WebAssembly.Module | ArrayBuffer | ArrayBufferView | undefined;
  /**
   * Where the model runs: in a worker (`true`), in this thread (`false`), or in the worker that the
   * function returns, which must run `glassformer/worker.js`. Default: a worker in browsers, this
   * thread elsewhere.
   */
  worker?: boolean | (() => WorkerLike) | undefined;
  /**
   * Loads random weights instead of those in the folder, which gives the model before its training.
   * `true` or a seed from 0 to 2³² − 1; `true` means seed 1. Matrices are uniform in ±√(6 / (rows +
   * columns)) (Glorot and Bengio 2010), weights of norms are 1 and biases 0.
   */
  untrained?: boolean | number | undefined;
}

/** Load options of models whose answers have gradients. */
export interface GradientLoadOptions extends LoadOptions {
  /**
   * Loads the binary with everything even if `urls` name the one for models that read texts, which
   * has no gradients. They need `compute: 'f32'`. Default: false.
   */
  gradients?: boolean | undefined;
}

/** Load options of models whose answers can be explained. */
export interface ExplainableLoadOptions extends GradientLoadOptions {
  /**
   * Loads the binary with everything even if `urls` name the one for models that read texts, which
   * has no `explain`. Default: false.
   */
  explain?: boolean | undefined;
}

export interface TranslatorLoadOptions extends ExplainableLoadOptions {
  /**
   * Only considers the tokens that the folder's `shortlist.bin` suggests for the source. This is
   * faster and sometimes changes a translation. Log-probabilities are relative to those tokens.
   */
  shortlist?: boolean | undefined;
}
