/** An attention head of a layer; both count from 0. */
export interface Head<Attention extends 'encoder' | 'decoder' | 'cross' = 'encoder'> {
  attention: Attention;
  layer: number;
  head: number;
}

/** The type of the option `trace`. The type of the result depends on it. */
export type TensorNames = readonly string[] | undefined;

/**
 * Numbers that replace a traced tensor, or a part of it, before anything is computed from it.
 * Replaced attention weights are not normalized again. Keys that a query does not see stay hidden.
 */
export interface Patch {
  /** Name of one tensor, as in `trace`, without "*". */
  name: string;
  /** Rows to replace, by position; for scores and attention weights the queries. Default: all. */
  tokens?: readonly number[] | undefined;
  /** Heads to replace, of a tensor that has heads. Default: all. */
  heads?: readonly number[] | undefined;
  /** Keys to replace, of scores and attention weights. Default: all. */
  keys?: readonly number[] | undefined;
  /**
   * One number for all of them; or a tensor, such as one from another text's trace, with as many
   * tokens, heads and keys as are selected; or its numbers alone, which for scores and attention
   * weights is only allowed if tokens or keys are selected. Numbers must be finite; scores may be
   * -Infinity. A decoder's tensor may have fewer rows than there are steps; the other rows are kept.
   */
  value: number | Float32Array | { readonly shape: readonly number[]; readonly data: Float32Array };
}

/** Options to observe and replace tensors between text and answer. */
export interface TraceOptions<Trace extends TensorNames = TensorNames> {
  /**
   * Names of tensors to return, such as "encoder.layers.0.self_attn.q" or "logits". "*" matches any
   * characters except dots: "encoder.layers.*.output". An unknown name is refused; the error lists
   * the known ones. Tracing does not change the answer.
   */
  trace?: Trace;
  /** Numbers to replace, in order: a later patch overrides an earlier one. */
  patch?: readonly Patch[] | undefined;
}

/** Options of models whose answer is a number, computed from the logits. */
export interface GradientOptions<Gradients extends TensorNames = TensorNames> {
  /**
   * Names of tensors, as in `trace`: returns the gradient of the answer with respect to each of them,
   * for a model that was loaded with `gradients: true` and `compute: 'f32'`. The answer is a number
   * computed from the logits. With two labels, it is the log-odds of the predicted one; with more, its
   * logit minus the mean of all; with one, its logit. For labels of tokens, it is the same for one
   * token. For a question, it is the sum of the logits of the answer's first and last token.
   */
  gradients?: Gradients;
}

/** Options of every model that reads a text and answers at once. */
export interface ReadOptions<
  Attention extends boolean = boolean,
  Trace extends TensorNames = TensorNames,
> extends TraceOptions<Trace> {
  /** Returns the attention weights of all heads. */
  attention?: Attention | undefined;
  /**
   * Heads whose output is set to zero before the output projection; of `decoder` and `cross`, for a
   * classifier with a decoder.
   */
  ablate?: readonly Head<'encoder' | 'decoder' | 'cross'>[] | undefined;
  /**
   * Indices into `tokens` of tokens to treat as padding: they are neither attended to nor pooled. A
   * classifier that reads its answer from the first or the last token refuses to mask that one.
   */
  maskTokens?: readonly number[] | undefined;
  /** Aborts the call; a batch stops between two texts. */
  signal?: AbortSignal | undefined;
}
