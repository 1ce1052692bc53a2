/** The three files of a model folder that the engine reads. */
export type ModelFile = 'config.json' | 'model.safetensors' | 'tokenizer.model';

/** A model whose files are already in memory. They are read, never modified or detached. */
export type ModelFiles = Readonly<Record<ModelFile, Uint8Array>>;

/** Every file that the package may fetch, by the name it has in `LoadOptions.urls`. */
export type Asset = ModelFile | 'glassformer.wasm' | 'glassformer.relaxed.wasm' | 'worker.js';

/** How far one file of the model has come. */
export interface Progress {
  file: ModelFile;
  /** Bytes read so far, after any decompression. */
  loaded: number;
  /** Bytes in all; undefined where the server does not say, or sends the file compressed. */
  total: number | undefined;
}

export interface LoadOptions {
  /** Arithmetic of the matrix products. Only 'f32' so far: 'int8' is refused as `unsupported`. */
  compute?: 'f32' | 'int8' | undefined;
  /** Called while files arrive. What it throws fails the loading. */
  onProgress?: ((progress: Progress) => void) | undefined;
  /** Aborts the download and the loading. */
  signal?: AbortSignal | undefined;
  /** Replaces the URL of single files; relative ones resolve as the folder does. */
  urls?: { readonly [name in Asset]?: string | URL | undefined } | undefined;
  /** Forces one of the two WebAssembly binaries; by default relaxed SIMD where it is supported. */
  binary?: Binary | undefined;
}

/** The WebAssembly binary in use: plain SIMD128, or relaxed SIMD. */
export type Binary = 'simd' | 'relaxed';

/** What a loaded model is. */
export interface ModelInfo {
  task: string;
  /** In the order of the model's outputs. */
  labels: string[];
  layers: number;
  heads: number;
  dModel: number;
  vocabSize: number;
  parameters: number;
  /** Longest input in tokens; longer texts are clipped. */
  maxSourceLength: number;
  compute: 'f32' | 'int8';
  binary: Binary;
}

/** One attention head of one layer; both count from 0. */
export interface Head {
  attention: 'encoder';
  layer: number;
  head: number;
}

export interface ClassifyOptions {
  /** Return every head's attention weights. */
  attention?: boolean | undefined;
  /** Return what each token contributes to each label's logit. */
  contributions?: boolean | undefined;
  /** Heads whose output is set to zero before the output projection. */
  ablate?: readonly Head[] | undefined;
  /** Indices into `tokens` of those to be treated as padding: not attended to and not pooled. */
  maskTokens?: readonly number[] | undefined;
  /** Aborts the call; a batch stops between two texts. */
  signal?: AbortSignal | undefined;
}

export interface Token {
  id: number;
  /** The vocabulary's piece, for example "▁gripping". */
  text: string;
  /** Offsets in UTF-16 code units of the input; special tokens have `start === end`. */
  start: number;
  end: number;
}

/** Attention weights after softmax. Each row, a query's, sums to 1. */
export interface AttentionMap {
  layers: number;
  heads: number;
  queries: number;
  keys: number;
  /** [layers, heads, queries, keys], row-major. */
  data: Float32Array;
  /** One head's [queries, keys], row-major: a view of `data`. */
  at(layer: number, head: number): Float32Array;
}

export interface Classification {
  /** The most probable label. */
  label: string;
  /** Its probability. */
  score: number;
  /** Probability of each label; they sum to 1. */
  scores: Record<string, number>;
  /** Each label's logit, before softmax. */
  logits: Record<string, number>;
  /** What the model read: one entry per row of the attention. */
  tokens: Token[];
  /** Whether the text was longer than the model reads, and its end was left out. */
  clipped: boolean;
  /** With option `attention`. */
  attention?: { encoder: AttentionMap };
  /**
   * With option `contributions`: for each label one number per token, in logit units. Together
   * with the classifier's bias they sum to the label's logit.
   */
  contributions?: Record<string, Float32Array>;
}
