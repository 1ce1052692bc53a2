/** An attention head of a layer; both count from 0. */
export interface Head<Attention extends 'encoder' | 'decoder' | 'cross' = 'encoder'> {
  attention: Attention;
  layer: number;
  head: number;
}

/**
 * The options `All` of a method. From those that a call sets, the compiler infers `Options`, which
 * decides what the result holds. It infers from both branches; the type is always `All`.
 */
export type Given<All, Options> = [Options] extends [never] ? Options : All;

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
export interface TraceOptions {
  /**
   * Names of tensors to return, such as "encoder.layers.0.self_attn.q" or "logits". "*" matches any
   * characters except dots: "encoder.layers.*.output". An unknown name is refused; the error lists
   * the known ones. Tracing does not change the answer.
   */
  trace?: readonly string[] | undefined;
  /** Numbers to replace, in order: a later patch overrides an earlier one. */
  patch?: readonly Patch[] | undefined;
}
