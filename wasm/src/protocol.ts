// What a classifier asks of its host, and the messages that carry it between page and worker.

import type { RawClassification } from './engine.js';
import type { ErrorCode } from './errors.js';
import type { Source } from './fetch.js';
import type { Binary, ModelFile, ModelInfo, Progress } from './types.js';

export interface LoadRequest {
  module: WebAssembly.Module;
  binary: Binary;
  files: Record<ModelFile, Source>;
}

export interface ClassifyRequest {
  texts: string[];
  /** The engine's options as UTF-8 JSON. */
  options: Uint8Array;
}

/** Where a model lives: in this thread (Runner) or in a worker (WorkerHost). */
export interface Host {
  load(
    request: LoadRequest,
    signal: AbortSignal,
    onProgress: (progress: Progress) => void,
  ): Promise<ModelInfo>;
  classify(request: ClassifyRequest, signal: AbortSignal): Promise<RawClassification[]>;
  dispose(): void;
}

/** The kinds of call, each with what it sends and what it gets. */
export interface Calls {
  load: { request: LoadRequest; result: ModelInfo };
  classify: { request: ClassifyRequest; result: RawClassification[] };
}

/** To the worker. Answers carry the id of the call; `abort` has none. */
export type ToWorker =
  | {
      [Kind in keyof Calls]: { id: number; kind: Kind; request: Calls[Kind]['request'] };
    }[keyof Calls]
  | { id: number; kind: 'abort' };

/** From the worker: any number of `progress`, then one `result` or `error`. */
export type FromWorker =
  | { id: number; kind: 'progress'; progress: Progress }
  | { id: number; kind: 'result'; result: Calls[keyof Calls]['result'] }
  | { id: number; kind: 'error'; code: ErrorCode; message: string };
