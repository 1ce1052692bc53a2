import type { GlassformerError } from '../base/errors.js';
import type { AttentionMap } from './attention.js';

/** A tensor between text and answer. */
export interface TracedTensor {
  /**
   * [tokens, width]; with heads [tokens, heads, width per head]; for scores and attention weights
   * [heads, queries, keys]; for a vector [width].
   */
  shape: number[];
  /** The numbers, row-major. */
  data: Float32Array;
}

/** A label of a model, or one that a picture was compared with, and its score. */
export interface LabelScore {
  /** Its number: its index in `info.labels`, or in the given labels. Two labels may have one name. */
  id: number;
  label: string;
  score: number;
  /** From which the score is computed. */
  logit: number;
}

export interface Token {
  id: number;
  /**
   * The token as people read it, with a space in front if it starts a word, as in " gripping".
   * Special tokens are shown by name, such as "</s>"; a byte that is not a whole character is shown
   * as "<0xE6>".
   */
  text: string;
  /** Offsets in UTF-16 code units of the text; special tokens have `start === end`. */
  start: number;
  end: number;
  /** For a pair of texts: the one that the token and its offsets belong to, 0 or 1. */
  sequence?: 0 | 1;
}

/** `Fields`, which are only certain to exist if the options of the call set one of `Names`. */
export type Asked<Options, Names extends string, Fields> = [Options] extends [
  { [Name in Names]: Record<Name, true | object> }[Names],
]
  ? Fields
  : Partial<Fields>;

/** The tokens that an encoder read, and its attention weights. */
export type WithAttention<Options> = {
  /** The input tokens, one per row of the attention weights. */
  tokens: Token[];
} & Asked<
  Options,
  'attention',
  {
    /** With option `attention`. */
    attention: { encoder: AttentionMap };
  }
>;

/** The traced tensors of a result. */
export type WithTrace<Options> = Asked<
  Options,
  'trace',
  {
    /** With option `trace`: the tensors by name, in the order in which they were computed. */
    trace: Record<string, TracedTensor>;
  }
>;

/** The gradients in a result. */
export type WithGradients<Options> = Asked<
  Options,
  'gradients',
  {
    /**
     * With option `gradients`: by the names of tensors, in the order in which those were computed,
     * each with the shape of its tensor.
     */
    gradients: Record<string, TracedTensor>;
  }
>;

/** A result of a text that may be longer than the model's limit. */
export interface Clipped {
  /**
   * Whether a part of the text was left out because it is longer than the model's limit: its end or
   * its middle, as the model's configuration says. `tokens` holds the part that was read.
   */
  clipped: boolean;
}

/** The result or the error of one of several texts. */
export type Outcome<Result> =
  | { index: number; result: Result; error?: undefined }
  | { index: number; result?: undefined; error: GlassformerError };
