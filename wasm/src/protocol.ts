// What a model's handle asks of its host, and the messages that carry it between page and worker.

import type { TextInput } from './inputs.js';
import type { Answer, EngineOptions, RawResult } from './engine.js';
import type { ErrorCode, ErrorDetails } from './errors.js';
import type { Source } from './chunks.js';
import type { Task } from './tasks.js';
import type { Compute, ModelInfo, Progress } from './types.js';

/** Where a model's files come from. */
export interface Sources {
  /** By name: those in hand, and those whose URLs were given one by one. */
  files: Record<string, Source>;
  /** URL of the folder that has all others, if there is one. */
  folder?: string;
  /** Whether that is a repository of a model hub. */
  hub?: boolean;
}

export interface LoadRequest {
  /** That which is expected; any, if it is left out. */
  task: Task | undefined;
  module: WebAssembly.Module;
  files: Sources;
  compute: Compute | undefined;
  shortlist: boolean;
  cache: boolean;
  timeout: number | undefined;
}

export interface TextRequest {
  texts: TextInput[];
  options: EngineOptions;
  /** Whether the call goes on after a text's error; else that is the last answer. */
  each: boolean;
}

/** The kinds of call: what each sends, what it hears of meanwhile, and what it gets. */
export interface Calls {
  /** Nothing comes of a model of a kind that the module may lack. */
  load: { request: LoadRequest; event: Progress; result: ModelInfo | undefined };
  vocabulary: { request: undefined; event: never; result: string[] };
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
