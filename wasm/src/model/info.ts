import type { Binary, Compute } from '../engine/compute.js';
import type { Backend } from '../engine/native.js';

/** Facts about a loaded model. */
export interface ModelInfo {
  task: string;
  /** Layers of the encoder or, in a decoder-only model, of the decoder. */
  layers: number;
  heads: number;
  dModel: number;
  /** Vocabulary size of the same stack; 0 for a model that reads pictures. */
  vocabSize: number;
  parameters: number;
  /** Tensors in the model's files that its task does not use, such as those of another head. */
  ignoredTensors: string[];
  /** Maximum number of input tokens; for pictures, the number of rows of the model's own size. */
  maxSourceLength: number;
  /** Layers of the decoder, if the model has an encoder, too. */
  decoderLayers?: number;
  /** Maximum number of output tokens, if the model has an encoder and a decoder. */
  maxTargetLength?: number;
  compute: Compute;
  /** The number of threads that share the work of a call. */
  threads: number;
  /** Why there are fewer threads than requested. */
  threadsNote?: string;
  backend: Backend;
  /** The WebAssembly binary; undefined with the backend "native". */
  binary: Binary | undefined;
}

/** Facts about a classifier of texts or tokens. */
export interface ClassifierInfo extends ModelInfo {
  /** The labels, in the order of the model's outputs. */
  labels: string[];
}

export interface TranslatorInfo extends ModelInfo {
  /** A language code such as "en"; "und" if the model's files name none. */
  sourceLanguage: string;
  targetLanguage: string;
  /** The codes for the options `from` and `to` of a model of many languages; empty for one pair. */
  languages: string[];
  decoderLayers: number;
  targetVocabSize: number;
  /** Maximum number of tokens in a sentence's translation. */
  maxTargetLength: number;
}
