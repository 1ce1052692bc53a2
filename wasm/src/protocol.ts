// What a model's handle asks of its host, and the messages that carry it between page and worker.

import type { Answer, RawResult, Task } from './engine.js';
import type { ErrorCode, ErrorDetails } from './errors.js';
import type { Source } from './fetch.js';
import type { Compute, ModelFile, ModelInfo, Progress } from './types.js';

/** A file that a model's folder may have. */
export type FolderFile = ModelFile | 'manifest.json';

/** A model's files; those that are not in hand are left out. */
export type Sources = Partial<Record<FolderFile, Source>>;

export interface LoadRequest {
  task: Task;
  module: WebAssembly.Module;
  files: Sources;
  compute: Compute | undefined;
  shortlist: boolean;
  cache: boolean;
  timeout: number | undefined;
}

export interface TextRequest {
  texts: string[];
  /** The engine's options as UTF-8 JSON. */
  options: Uint8Array;
  /** Whether the call goes on after a text's error; else that is the last answer. */
  each: boolean;
}

/** The kinds of call: what each sends, what it hears of meanwhile, and what it gets. */
export interface Calls {
  load: { request: LoadRequest; event: Progress; result: ModelInfo };
  run: { request: TextRequest; event: RawResult; result: Answer[] };
}

export type Kind = keyof Calls;
export type Request<K extends Kind> = Calls[K]['request'];
export type CallEvent<K extends Kind> = Calls[K]['event'];
export type Result<K extends Kind> = Calls[K]['result'];

/** Where a model lives: in this thread (Runner) or in a worker (WorkerHost). */
export interface Host {
  call<K extends Kind>(
    kind: K,
    request: Request<K>,
    signal: AbortSignal,
    onEvent: (event: CallEvent<K>) => void,
  ): Promise<Result<K>>;
  dispose(): void;
}

/** To the worker. Answers carry the id of the call; `abort` has none. */
export type ToWorker =
  | { [K in Kind]: { id: number; kind: K; request: Request<K> } }[Kind]
  | { id: number; kind: 'abort' };

/** From the worker: any number of `event`, then one `result` or `error`. */
export type FromWorker =
  | { id: number; kind: 'event'; event: CallEvent<Kind> }
  | { id: number; kind: 'result'; result: Result<Kind> }
  | { id: number; kind: 'error'; code: ErrorCode; message: string; details: ErrorDetails };
