import type { AttentionMap } from './attention.js';
import type { GlassformerError } from './errors.js';

/**
 * The files of a model one by one, by their names in its folder: their bytes, which are read, never
 * modified or detached, or their URLs. A Blob, such as a File that somebody has chosen, is read a
 * slice at a time.
 */
export type ModelFiles = Readonly<Record<string, Uint8Array | Blob | URL>>;

/** The attentions of a translator. A decoder with a recurrent unit in its place has none of its own. */
export interface TranslationAttention {
  encoder: AttentionMap;
  decoder?: AttentionMap;
  cross: AttentionMap;
}

/** How far a model's files have come. What it counts only grows. */
export interface Progress {
  /** The file that has come on, such as "model.safetensors". */
  file: string;
  /** Bytes of it read so far, after any decompression. */
  loaded: number;
  /** Its size. Undefined as long as nothing tells: a manifest, the server, the file's end. */
  total: number | undefined;
  /**
   * All files together; at the last event `loaded` is `total`. The first event comes as soon as it
   * is known which files are read, and how large they are: after the small ones, and the first bytes
   * of the weights.
   */
  overall: { loaded: number; total: number | undefined };
}

/**
 * Products of floats, or of 8-bit weights with activations that are rounded to 7 bits: two to four
 * times as fast, a quarter of the memory, and answers that differ in the third digit.
 */
export type Compute = 'f32' | 'int8';

export interface LoadOptions {
  /** Arithmetic of the matrix products; where not given, as the weights are stored. */
  compute?: Compute | undefined;
  /** Called while files arrive. What it throws fails the loading: the cause of `callback_failed`. */
  onProgress?: ((progress: Progress) => void) | undefined;
  /** Aborts the download and the loading. */
  signal?: AbortSignal | undefined;
  /**
   * Replaces the URL of single files, by name: those of the model, and the package's own
   * binaries, such as glassformer.wasm and glassformer.relaxed.wasm, and worker.js. Relative ones
   * resolve as the folder does. That of worker.js may be a TrustedScriptURL.
   */
  urls?: { readonly [name: string]: string | URL | TrustedUrl | undefined } | undefined;
  /** The server of models that are named `hf:owner/name`; by default https://huggingface.co. */
  hubUrl?: string | URL | undefined;
  /**
   * Keeps the model's files in the browser's Cache API, and reads them from there the next time,
   * also without a network; false by default. With a manifest, files that have changed on the server
   * are fetched anew; without one, what was kept stays until `clearCache`. Each file is checked when
   * it is read, and fetched again where it is damaged. Where the browser has no room, or its user
   * forbids it, nothing is kept; where there is no Cache API (Node, `http:` other than localhost,
   * sandboxed frames), the error is `unsupported_runtime`.
   */
  cache?: boolean | undefined;
  /**
   * Most milliseconds to wait for the next byte of a file of the model, after which the error is
   * `timeout`; without a limit by default. For a limit to the whole loading, pass
   * `AbortSignal.timeout` as `signal`.
   */
  timeout?: number | undefined;
  /** Forces one of the two WebAssembly binaries; by default relaxed SIMD where it is supported. */
  binary?: Binary | undefined;
  /**
   * The WebAssembly binary itself, compiled or as bytes, for runtimes that can neither fetch nor
   * compile it.
   */
  module?: WebAssembly.Module | BufferSource | undefined;
  /**
   * Where the model runs: in a thread of its own (`true`), in this one (`false`), or in the worker
   * that the function returns, which runs `glassformer/worker.js`. By default in a worker in
   * browsers, in this thread elsewhere.
   */
  worker?: boolean | (() => WorkerLike) | undefined;
}

/** What the package needs of a worker: a web worker, or a `Worker` of `node:worker_threads`. */
export interface WorkerLike {
  postMessage(message: unknown): void;
  terminate(): unknown;
}

/** A TrustedScriptURL, which older type libraries do not know. */
export interface TrustedUrl {
  toJSON(): string;
}

/** Of models whose answers can be explained. */
export interface ExplainableLoadOptions extends LoadOptions {
  /** Whether `explain` will be called: loads the larger binary that can do so; false by default. */
  explain?: boolean | undefined;
}

export interface TranslatorLoadOptions extends ExplainableLoadOptions {
  /**
   * Makes translations of those tokens alone that the folder's `shortlist.bin` offers for their
   * source: faster, and now and then another translation. Log-probabilities are among those tokens.
   */
  shortlist?: boolean | undefined;
}

/** The WebAssembly binary in use: plain SIMD128, or relaxed SIMD. */
export type Binary = 'simd' | 'relaxed';

/** What a loaded model is. */
export interface ModelInfo {
  task: string;
  /** The encoder's; of a model without one, the decoder's. */
  layers: number;
  heads: number;
  dModel: number;
  /** The same stack's. */
  vocabSize: number;
  parameters: number;
  /** Names of the tensors in the model's files that its task does without, such as another head's. */
  ignoredTensors: string[];
  /** Most tokens that it reads at once. */
  maxSourceLength: number;
  /** Of a model with an encoder and a decoder. */
  decoderLayers?: number;
  /** The same: most tokens that what it writes can have. */
  maxTargetLength?: number;
  compute: Compute;
  binary: Binary;
}

/** What a classifier of texts, or of tokens, is. */
export interface ClassifierInfo extends ModelInfo {
  /** In the order of the model's outputs. */
  labels: string[];
}

export interface TranslatorInfo extends ModelInfo {
  /** Such as "en". */
  sourceLanguage: string;
  targetLanguage: string;
  decoderLayers: number;
  targetVocabSize: number;
  /** Most tokens that a sentence's translation can have. */
  maxTargetLength: number;
}

/** One attention head of one layer; both count from 0. */
export interface Head<Attention extends 'encoder' | 'decoder' | 'cross' = 'encoder'> {
  attention: Attention;
  layer: number;
  head: number;
}

/** The type of option `trace`, of which a result's depends; undefined: it is not set. */
export type TensorNames = readonly string[] | undefined;

/** A tensor between text and answer. */
export interface TracedTensor {
  /**
   * [tokens, width]; of what has heads [tokens, heads, width of a head], of scores and weights
   * [heads, queries, keys]; of one vector [width].
   */
  shape: number[];
  /** Row-major. */
  data: Float32Array;
}

/**
 * Numbers that take the place of a tensor's, or of some of them, before anything is made of it. Those
 * that come after are made of them; attention weights are not normalized again, and keys that a
 * query does not see stay unseen.
 */
export interface Patch {
  /** One tensor's, as in `trace`, without "*". */
  name: string;
  /** Its rows, by their positions; of scores and weights the queries. All by default. */
  tokens?: readonly number[] | undefined;
  /** Of a tensor that has heads; all by default. */
  heads?: readonly number[] | undefined;
  /** Of scores and weights; all by default. */
  keys?: readonly number[] | undefined;
  /**
   * One number for all; or a tensor, such as one of another text's trace, with as many tokens, heads
   * and keys as are chosen; or its numbers in a row, which for scores and weights is enough only
   * where tokens or keys are chosen. Finite, or of scores -Infinity. A decoder's may have fewer rows
   * than there are steps: the others stay as they are.
   */
  value: number | Float32Array | { readonly shape: readonly number[]; readonly data: Float32Array };
}

/** What can be looked at, and replaced, between text and answer. */
export interface TraceOptions<Trace extends TensorNames = TensorNames> {
  /**
   * Return the tensors of these names, such as "encoder.layers.0.self_attn.q" or "logits". "*" stands
   * for any characters but a dot: "encoder.layers.*.output". A name that the model lacks is refused
   * with those that it has. Looking changes no number of the answer.
   */
  trace?: Trace;
  /** Numbers to replace, one after the other: of two for the same number the later one holds. */
  patch?: readonly Patch[] | undefined;
}

/** What can be asked of every model that reads a text and answers at once. */
export interface ReadOptions<
  Attention extends boolean = boolean,
  Trace extends TensorNames = TensorNames,
> extends TraceOptions<Trace> {
  /** Return every head's attention weights. */
  attention?: Attention | undefined;
  /** Heads whose output is set to zero before the output projection. */
  ablate?: readonly Head[] | undefined;
  /**
   * Indices into `tokens` of those to be treated as padding: not attended to and not pooled. A
   * classifier that answers from the first token refuses to have that one masked.
   */
  maskTokens?: readonly number[] | undefined;
  /** Aborts the call; a batch stops between two texts. */
  signal?: AbortSignal | undefined;
}

export interface ClassifyOptions<
  Attention extends boolean = boolean,
  Contributions extends boolean = boolean,
  Trace extends TensorNames = TensorNames,
> extends ReadOptions<Attention, Trace> {
  /** Return what each token contributes to each label's logit. */
  contributions?: Contributions | undefined;
  /**
   * How a text with more tokens than `info.maxSourceLength` is read: `first` (the default) cuts it;
   * `mean` and `max` read all of it in windows, and a label's score is the mean of its scores in the
   * windows, or the highest of them, which need not sum to 1. Attention, contributions, traces,
   * patches and `maskTokens` are of a text in one window.
   */
  window?: 'first' | 'mean' | 'max' | undefined;
  /**
   * With `mean` and `max`: how many tokens of a window are read again in the next one; 128 by
   * default, or half of a window if that is less.
   */
  stride?: number | undefined;
}

/** Two texts that a model reads together, such as a premise and what may follow from it. */
export interface TextPair {
  text: string;
  pair: string;
}

export interface Token {
  id: number;
  /**
   * What a person reads: the token's text, with a space in front where it starts a word, as in
   * " gripping". Special tokens read as their names, such as "</s>"; a byte that is not a whole
   * character reads as "<0xE6>".
   */
  text: string;
  /** Offsets in UTF-16 code units of the text; special tokens have `start === end`. */
  start: number;
  end: number;
  /** Of two texts, the one that the token is of and its offsets are in: 0 or 1. */
  sequence?: 0 | 1;
}

/** `Fields`: there for sure where `Option`, the type of the option that asks for them, says so. */
type Asked<Option, Fields> = [Option] extends [true | object] ? Fields : Partial<Fields>;

/** What an encoder read, and where it looked. */
export type WithAttention<Attention> = {
  /** What the model read: one entry per row of the attention. */
  tokens: Token[];
} & Asked<
  Attention,
  {
    /** With option `attention`. */
    attention: { encoder: AttentionMap };
  }
>;

/** What was seen between text and answer. */
export type WithTrace<Trace> = Asked<
  Trace,
  {
    /** With option `trace`: the tensors by their names, in the order in which they were made. */
    trace: Record<string, TracedTensor>;
  }
>;

/** A result of a text that the model may not have read to its end. */
export interface Clipped {
  /**
   * Whether the text was longer than the model reads, and a part was left out: its end, or its
   * middle, as the model's configuration says. What was read is in `tokens`.
   */
  clipped: boolean;
}

/** What became of one text of several; there is either a result or an error. */
export type Outcome<Result> =
  | { index: number; result: Result; error?: undefined }
  | { index: number; result?: undefined; error: GlassformerError };

/** Any number of texts, such as an array, a generator, or the lines of a file. */
export type Texts = Iterable<string> | AsyncIterable<string>;

/** A type argument tells whether its option was set. */
export type Classification<
  Attention extends boolean = boolean,
  Contributions extends boolean = boolean,
  Trace extends TensorNames = TensorNames,
> = Clipped &
  WithAttention<Attention> &
  WithTrace<Trace> & {
    /** The label with the highest score. */
    label: string;
    score: number;
    /**
     * Score of each label: probabilities that sum to 1 or, of a model that gives a text several labels
     * or has only one, each a probability by itself; of one that estimates a quantity, the logit.
     */
    scores: Record<string, number>;
    /**
     * Each label's logit, of which the score is made; of several windows, their mean or the highest
     * of them.
     */
    logits: Record<string, number>;
    /** In how many windows the text was read. */
    windows: number;
  } & Asked<
    Contributions,
    {
      /**
       * With option `contributions`: for each label one number per token, in logit units. Together
       * with the classifier's bias they sum to the label's logit.
       */
      contributions: Record<string, Float32Array>;
    }
  >;

/**
 * What can be asked of a stream. A decoder's traces have a row for each token of the translation; its
 * patches are for every hypothesis.
 */
export interface StreamOptions<
  Attention extends boolean = boolean,
  Alignment extends boolean | AlignmentOptions = boolean | AlignmentOptions,
  Trace extends TensorNames = TensorNames,
> extends TraceOptions<Trace> {
  /** Return every head's attention weights, and the alignment. */
  attention?: Attention | undefined;
  /** Return which words were made from which, also without `attention`. */
  alignment?: Alignment | undefined;
  /** Most tokens of a sentence's translation; by default three times the source's and 16. */
  maxLength?: number | undefined;
  /** Heads whose output is set to zero before the output projection. */
  ablate?: readonly Head<'encoder' | 'decoder' | 'cross'>[] | undefined;
  /** Aborts the call within one token. */
  signal?: AbortSignal | undefined;
}

export interface TranslateOptions<
  Attention extends boolean = boolean,
  Alignment extends boolean | AlignmentOptions = boolean | AlignmentOptions,
  Hypotheses extends boolean = boolean,
  Trace extends TensorNames = TensorNames,
> extends StreamOptions<Attention, Alignment, Trace> {
  /**
   * Hypotheses that the search follows at once, 1 (greedy) to 64; by default as the model's files
   * say, or 4.
   */
  beams?: number | undefined;
  /**
   * A hypothesis' score is its log-probability / tokens ^ lengthPenalty; by default as the model's
   * files say, or 1.
   */
  lengthPenalty?: number | undefined;
  /**
   * Searches as the library transformers does, and ends as its `early_stopping` says. By default as
   * the model's files say; where they say nothing, a search ends when the best hypothesis is ahead
   * of all that still grow.
   */
  earlyStopping?: EarlyStopping | undefined;
  /**
   * For each sentence, in their order, the ids of tokens that its translation begins with: the
   * search goes on from there. With the end token last, they are the whole translation. `logprob` is
   * the model's own, of what it would have written otherwise, too.
   */
  prefixes?: readonly (readonly number[])[] | undefined;
  /**
   * For each sentence, in their order, the positions of source tokens (in its `sourceTokens`) that
   * are treated as padding: no other token sees them.
   */
  maskTokens?: readonly (readonly number[])[] | undefined;
  /** Return the other complete translations, and the tree of all that the search considered. */
  hypotheses?: Hypotheses | undefined;
}

/**
 * When a search ends, once as many hypotheses have ended as it has beams: `true`: at once; `false`:
 * when nothing that still grows has a better score, at its present length or, with 'never', at the
 * longest.
 */
export type EarlyStopping = boolean | 'never';

/** Which cross-attention is read as an alignment. */
export interface AlignmentOptions {
  /** The decoder's layer; by default the last. */
  layer?: number | undefined;
  /** The heads to average; by default all. */
  heads?: readonly number[] | undefined;
}

/** A token of a translation; offsets in the whole translation's `text`. */
export interface OutputToken extends Token {
  /** Natural logarithm of its probability after the tokens before it. */
  logprob: number;
}

/** A sentence's translation that the search completed. */
export interface Hypothesis {
  text: string;
  /** Log-probability, normalized by length. */
  score: number;
  /**
   * The end token included. Offsets as in the whole translation, in which this sentence begins at
   * `targetStart`, whichever hypothesis is in it.
   */
  tokens: OutputToken[];
}

/** A word of the translation and a word of the input that it was made from. */
export interface AlignmentLink {
  /** In the whole translation's `text`. */
  target: { start: number; end: number };
  /** In the input. */
  source: { start: number; end: number };
  /** The share of the target word's attention that the source word has. */
  weight: number;
}

/** A token that the search considered, after the one at index `parent` of the tree. */
export interface Candidate {
  parent: number;
  id: number;
  /** As a token's. */
  text: string;
  logprob: number;
  /** Sum of `logprob` up to here. */
  total: number;
  /** Whether the search went on from it, or it completed a hypothesis. */
  kept: boolean;
}

/** Offsets on the source's side are in the input, on the target's in the whole translation. */
export type SentenceTranslation<
  Attention extends boolean = boolean,
  Alignment extends boolean | AlignmentOptions = boolean | AlignmentOptions,
  Hypotheses extends boolean = boolean,
  Trace extends TensorNames = TensorNames,
> = Hypothesis & {
  /** Where the sentence lies in the input. */
  start: number;
  end: number;
  /** Where its translation lies in the whole text. */
  targetStart: number;
  targetEnd: number;
  /** Whether it had to be cut at the model's limit, and its end was left out. */
  clipped: boolean;
  /** What the encoder read; offsets in the input. */
  sourceTokens: Token[];
} & WithTrace<Trace> &
  Asked<
    Attention,
    {
      /**
       * With option `attention`. Row i of `decoder` and `cross` is the step that emitted
       * `tokens[i]`; column j of `decoder` is token j - 1, column 0 the start token. What a step
       * had not seen is 0.
       */
      attention: TranslationAttention;
    }
  > &
  Asked<
    Attention extends true ? true : Alignment,
    {
      /** With option `attention` or `alignment`. */
      alignment: AlignmentLink[];
    }
  > &
  Asked<
    Hypotheses,
    {
      /** With option `hypotheses`: best first. */
      hypotheses: Hypothesis[];
      /** With option `hypotheses`: parents before children; the first is the start token. */
      tree: Candidate[];
    }
  >;

/** A type argument tells what its option was set to. */
export interface Translation<
  Attention extends boolean = boolean,
  Alignment extends boolean | AlignmentOptions = boolean | AlignmentOptions,
  Hypotheses extends boolean = boolean,
  Trace extends TensorNames = TensorNames,
> {
  text: string;
  /** Mean of the sentences' scores, weighted by their tokens. */
  score: number;
  sentences: SentenceTranslation<Attention, Alignment, Hypotheses, Trace>[];
}

/** The sentence that a stream is at. */
export interface StreamedSentence {
  index: number;
  /** Where it lies in the input. */
  start: number;
  end: number;
  /** Where its translation begins in the whole text. */
  targetStart: number;
  /** What the encoder read; offsets in the input. */
  sourceTokens: Token[];
}

/** One token of a stream. A sentence's end token has no step: it adds nothing to the text. */
export type TokenStep<Attention extends boolean = boolean> = {
  done: false;
  token: OutputToken;
  /** The whole translation so far: whole characters, each step's a prefix of the next one's. */
  text: string;
  /** The same object in each of its steps. */
  sentence: StreamedSentence;
} & Asked<
  Attention,
  {
    /**
     * With option `attention`: the encoder's, the same in each of the sentence's steps, and the
     * only row, that of `token`, of the others.
     */
    attention: TranslationAttention;
  }
>;

/** The last step of a stream. */
export interface LastStep<
  Attention extends boolean = boolean,
  Alignment extends boolean | AlignmentOptions = boolean | AlignmentOptions,
  Trace extends TensorNames = TensorNames,
> {
  done: true;
  /** The whole translation. */
  text: string;
  /** What `translate` gives with `beams: 1`. */
  result: Translation<Attention, Alignment, false, Trace>;
}

/** What a stream gives: a step for each token, and one more with the whole result. */
export type TranslationStep<
  Attention extends boolean = boolean,
  Alignment extends boolean | AlignmentOptions = boolean | AlignmentOptions,
  Trace extends TensorNames = TensorNames,
> = TokenStep<Attention> | LastStep<Attention, Alignment, Trace>;
