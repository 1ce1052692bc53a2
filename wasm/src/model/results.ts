import type { GlassformerError } from '../base/errors.js';
import type { AttentionMap } from './attention.js';

export type * from './result_types.js';

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

/** `Fields`, which are only certain to exist if the options of the call set one of `Names`. */
export type Asked<Options, Names extends string, Fields> = [Options] extends [
  { [Name in Names]: Record<Name, true | object> }[Names],
]
  ? Fields
  : Partial<Fields>;

/** The attention weights of an encoder. */
export type WithAttention<Options> = Asked<
  Options,
  'attention',
  {
    /** With option `attention`: between the tokens, or between the rows that `grid` describes. */
    attention: { encoder: AttentionMap };
  }
>;

/** What each row of the attention weights adds to the logits of a classifier. */
export type WithContributions<Options> = Asked<
  Options,
  'contributions',
  {
    /**
     * With option `contributions`: for each label, in the order of `info.labels`, one number per row
     * of the attention weights, in logit units. Together with the classifier's bias they sum to the
     * label's logit.
     */
    contributions: Float32Array[];
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

/** The result or the error of one of several texts. */
export type Outcome<Result> =
  | { index: number; result: Result; error?: undefined }
  | { index: number; result?: undefined; error: GlassformerError };
