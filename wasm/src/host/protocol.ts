// The calls of a session to its host, and the messages that carry them between page and worker.

import type { ErrorCode, ErrorDetails } from '../base/errors.js';
import type {
  Answer,
  BegunTraining,
  EngineModule,
  EngineOptions,
  LearnedStep,
  RawResult,
} from '../engine/engine.js';
import type { Input } from '../engine/input.js';
import type { WeightInfo } from '../engine/weights.js';
import type { FolderRequest, InspectedFolder, ModelDescription } from '../loading/load_model.js';
import type { Sources } from '../loading/locate.js';
import type { Progress } from '../loading/options.js';

export interface RunRequest {
  inputs: Input[];
  options: EngineOptions;
  /** Whether the call continues after an input's error. If not, that error is the last answer. */
  each: boolean;
}

/** The beginning of a training: of a folder's model or, without one, of a new model. */
export interface LearnRequest {
  module: EngineModule;
  folder: Omit<FolderRequest, 'module'> | undefined;
  /** Fields of config.json, as JSON; empty if there is a folder. */
  config: string;
  /** The examples; see encodeExamples. */
  data: Uint8Array;
  /** Whether they are pictures. */
  pictures: boolean;
  /** The training's options, as JSON. */
  options: string;
}

/** A measured time in addition to a result. */
export interface Timed {
  milliseconds: number;
}

/** The kinds of call: request, intermediate events, and result. */
export interface Calls {
  /** The result is undefined if the module may lack this kind of model. */
  load: { request: FolderRequest; event: Progress; result: ModelDescription | undefined };
  inspect: { request: FolderRequest; event: Progress; result: InspectedFolder | undefined };
  run: { request: RunRequest; event: RawResult; result: Answer[] };
  vocabulary: { request: undefined; event: never; result: string[] };
  /** The request is JSON; see ChatTemplate::text in the core. */
  chat: { request: string; event: never; result: string };
  weights: { request: undefined; event: never; result: WeightInfo[] };
  weightRow: {
    request: { name: string; index: number };
    event: never;
    result: Float32Array<ArrayBuffer>;
  };
  /** The places of a folder of dictionaries. */
  dictionaries: { request: Sources; event: never; result: undefined };
  learn: {
    request: LearnRequest;
    event: Progress;
    result: Omit<BegunTraining, 'model'> & { model: ModelDescription };
  };
  /** The request is the progress. */
  learnStep: { request: number; event: never; result: LearnedStep & Timed };
  /** The request has examples; undefined: those that are held out. */
  learnEvaluate: {
    request: Uint8Array | undefined;
    event: never;
    result: { loss: number; accuracy: number } & Timed;
  };
  learnSave: { request: undefined; event: never; result: Record<string, Uint8Array<ArrayBuffer>> };
}

export type Kind = keyof Calls;
export type Request<K extends Kind> = Calls[K]['request'];
export type CallEvent<K extends Kind> = Calls[K]['event'];
export type Result<K extends Kind> = Calls[K]['result'];

/** The place where a model lives: this thread (Runner) or a worker (WorkerHost). */
export interface Host {
  call<K extends Kind>(
    kind: K,
    request: Request<K>,
    signal: AbortSignal,
    onEvent: (event: CallEvent<K>) => void,
  ): Promise<Result<K>>;
  dispose(): void;
}

/** A message to the worker. Answers carry the id of their call; `abort` has no answer. */
export type ToWorker =
  | { [K in Kind]: { id: number; kind: K; request: Request<K> } }[Kind]
  | { id: number; kind: 'abort' };

/** A message from the worker: any number of events, then one result or error. */
export type FromWorker =
  | { id: number; kind: 'event'; event: CallEvent<Kind> }
  | { id: number; kind: 'result'; result: Result<Kind> }
  | { id: number; kind: 'error'; code: ErrorCode; message: string; details: ErrorDetails };
