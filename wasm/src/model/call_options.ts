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

/** The part of a tensor that a patch changes. */
interface PatchedPart {
  /** Name of one tensor, as in `trace`, without "*". */
  name: string;
  /** Rows to change, by position; for scores and attention weights the queries. Default: all. */
  tokens?: readonly number[] | undefined;
  /** Heads to change, of a tensor that has heads. Default: all. */
  heads?: readonly number[] | undefined;
}

/**
 * Numbers that replace a traced tensor, or a part of it. Replaced attention weights are not normalized
 * again. Keys that a query does not see stay hidden.
 */
export interface ReplacingPatch extends PatchedPart {
  /** Keys to replace, of scores and attention weights. Default: all. */
  keys?: readonly number[] | undefined;
  /**
   * One number for all of them; or a tensor, such as one from another text's trace, with as many
   * tokens, heads and keys as are selected; or its numbers alone, which for scores and attention
   * weights is only allowed if tokens or keys are selected. Numbers must be finite; scores may be
   * -Infinity. A decoder's tensor may have fewer rows than there are steps; the other rows are kept.
   */
  value: number | Numbers;
}

/** The numbers of a tensor. */
export type Numbers =
  Float32Array | { readonly shape: readonly number[]; readonly data: Float32Array };

/** A direction that is added to rows of a tensor, or removed from them. */
interface Direction extends PatchedPart {
  /** The factor of what is added, or the share of what is removed. Default: 1. */
  scale?: number | undefined;
  /**
   * Only rows from this position on: from the length of a text on, those of the tokens that are
   * written. Default: 0.
   */
  from?: number | undefined;
}

/** Adds `scale` times a vector to each row (steering: Turner et al. 2023). */
export interface AddingPatch extends Direction {
  /** As many numbers as a row has in the selected heads. */
  add: Numbers;
}

/**
 * Removes what each row has in the direction of a vector v: x − scale · (x · v) v / ‖v‖² (Arditi et
 * al. 2024).
 */
export interface RemovingPatch extends Direction {
  /** As many numbers as a row has in the selected heads. */
  remove: Numbers;
}

/** A change of a tensor before anything is computed from it. */
export type Patch = ReplacingPatch | AddingPatch | RemovingPatch;

/** Options to observe and replace tensors between text and answer. */
export interface TraceOptions {
  /**
   * Names of tensors to return, such as "encoder.layers.0.self_attn.q" or "logits". "*" matches any
   * characters except dots: "encoder.layers.*.output". An unknown name is refused; the error lists
   * the known ones. Tracing does not change the answer.
   */
  trace?: readonly string[] | undefined;
  /** Changes of tensors, in order: a later patch sees what an earlier one has changed. */
  patch?: readonly Patch[] | undefined;
}
