// Written by tools/schema.mjs from the results in src/tasks/explain. Do not edit.

import type { LabelScore, Token, TracedTensor } from '../model/results.js';

/** A token that may come next. */
export interface Guess {
  id: number;
  text: string;
  /** The natural logarithm of the model's probability. */
  logprob: number;
}

/** Attention through all layers. */
export interface Rollout {
  /** [T] The share of each token in the state that the answer is computed from. */
  scores: number[];
  /** [T, T] Row i: the share of each input token in token i's last state. */
  rollout: TracedTensor;
}

/** Attention times the size of the vectors that it moves. */
export interface ValueNorms {
  /** [T] How much the answer receives from each token. */
  scores: number[];
  /** [L, H, T, T] ‖αf(x)‖ for each head. */
  heads: TracedTensor;
  /** [L, 1, T, T] The same for all heads together. */
  layers: TracedTensor;
}

/** What the values of tokens count for others. */
export interface ValueZeroing {
  /** [T] How much the answer receives from each token. */
  scores: number[];
  /** [L, 1, T, T] Row i: how much each token's value counts for token i's output of a layer. */
  layers: TracedTensor;
  /** [T, T] The product of the layers. */
  rollout: TracedTensor;
}

/** The answer that a classifier would give. */
export interface LensLayer {
  /** The label with the highest score. */
  label: string;
  scores: LabelScore[];
}

/** What each layer would answer. */
export interface Lens {
  /** The head's output before each layer, and after the last one. */
  layers: LensLayer[];
  /** [L + 1, C] For the text. */
  logits: TracedTensor;
  /** [L + 1, T, C] For each token by itself. */
  tokenLogits: TracedTensor;
}

/** The explained number as an exact sum. */
export interface LogitAttribution {
  /** The explained number. */
  value: number;
  /** Names such as "layers.0.self_attn.head.3". */
  columns: string[];
  /**
   * With `effects`. One per column: how much the number falls without it. They do not sum to
   * `value`.
   */
  effects?: number[];
  /** [T, columns] By the row that is written. Sums to `value`. */
  written: TracedTensor;
  /** [T, columns] By the token that is read. Sums to `value`. */
  read: TracedTensor;
  /** With `loadings`. The columns that are heads. */
  heads?: string[];
  /**
   * With `loadings`. [heads, columns] What the head asks with: how much the number changes,
   * through where this head looks, with a part of its queries.
   */
  asks?: TracedTensor;
  /**
   * With `loadings`. [heads, columns] The same with a part of its keys. 0 for a head that reads
   * an encoder.
   */
  answers?: TracedTensor;
  /**
   * With `loadings`. [heads, columns] The head's part of `value`, by what it carries on. 0 for a
   * head that reads an encoder.
   */
  content?: TracedTensor;
}

/** The lead of a token over another as an exact sum. */
export interface NextLogitAttribution extends LogitAttribution {
  /** The explained token. */
  token: Guess;
  /** The one that it is compared with. */
  against: Guess;
}

/** A column of a table of activation patching. */
export interface PatchingCell {
  /** The tokens of the first text. */
  tokens: number[];
  /** Whether the second text has nothing for them. */
  unpaired: boolean;
}

/** The table of activation patching. */
export interface ActivationPatching {
  /** The tokens of the second text. */
  donorTokens: Token[];
  /** For each token of the first text, the paired token of the second. */
  donorOf: (number | null)[];
  /** The position of each token; both tokens of a pair have the same. */
  baseColumns: number[];
  /** The same for the second text. */
  donorColumns: number[];
  /** The columns of the grid: tokens or, in long texts, words or sentences. */
  cells: PatchingCell[];
  /** The number of the first text, with aligned positions. */
  base: number;
  /** The number of the second. */
  donor: number;
  /** The number of the first with its own positions. */
  plainBase: number;
  /** The number of the second with its own. */
  plainDonor: number;
  /**
   * The number of cells that are measured, row by row; the others are estimates or not a number.
   * Absent if all are measured.
   */
  done?: number;
  /** [rows, cells] The change of the number. The residual stream has L + 1 rows, others have L. */
  delta: TracedTensor;
  /** The same as a share of donor - base; absent if the two differ by less than ½. */
  share?: TracedTensor;
}

/**
 * The table of two texts that a model continues or translates, whose number is the lead of
 * `token` over `against`. The tokens and rows are those of the decoder that continues the
 * texts, or of the encoder that reads them.
 */
export interface NextActivationPatching extends ActivationPatching {
  /**
   * By default the first token in which the outputs of the second and the first text differ.
   * Absent if none do; then nothing is measured.
   */
  token?: Guess;
  /** That of the first text. */
  against?: Guess;
  /** Of a translation: the tokens that both translations begin with, before `token`. */
  prefix?: number[];
}

/** The test of an order of words. */
export interface OrderTest {
  /** Mean of insertion minus mean of deletion. A better order has a higher score. */
  score: number;
  /** The number without the first words. */
  deletion: number[];
  /** The number with only these. */
  insertion: number[];
  comprehensiveness: number[];
  sufficiency: number[];
}

/** The scores of random orders. */
export interface RandomOrders {
  mean: number;
  deviation: number;
  scores: number[];
}

/** How the number changes without words. */
export interface Faithfulness {
  /** The tested score of each token. */
  scores: number[];
  /** The tokens of each word. */
  words: number[][];
  /** The explained number. */
  value: number;
  /** The number of words removed or inserted at each point of the curves. */
  counts: number[];
  /** The tested order. */
  order: OrderTest;
  /** An upper bound, because it uses the same operation as the test. */
  leaveOneOut: OrderTest;
  /** How much the number falls without each word. */
  losses: number[];
  /** Random orders, for comparison. */
  random: RandomOrders;
}

/** An attention edge: in this layer and head, the weight of a key for a query. */
export interface AttentionEdge {
  layer: number;
  head: number;
  query: number;
  key: number;
}

/** The number without edges. */
export interface EdgeEffects {
  /** The explained number. */
  value: number;
  /** The number without all edges. */
  without: number;
  /** The number without each single one. */
  alone: number[];
}

/** A head of a circuit. */
export interface CircuitHead {
  layer: number;
  head: number;
}

/** A small set of heads and edges that keeps the answer. */
export interface Circuit {
  /** The explained number. */
  value: number;
  /** The number with only the circuit. */
  kept: number;
  /** The number with no heads. */
  nothing: number;
  /** `kept` / `value`. */
  faithfulness: number;
  heads: CircuitHead[];
  edges: AttentionEdge[];
}

/** An edge of a model's graph, and its score. */
export interface CircuitEdge {
  /** The part that adds to the stream. */
  from: string;
  /** The place that reads it. */
  to: string;
  /**
   * What the number changes, to first order, if the edge carries what is carried outside the
   * circuit.
   */
  score: number;
}

/** The explained number of two texts, and what a circuit keeps of it. */
export interface CircuitNumbers {
  /** The explained number of the first text. */
  value: number;
  /** The number of the second text. */
  corrupt: number;
  /** The number with no edges. */
  nothing: number;
  /** The number with only the circuit. */
  kept: number;
}

/** Circuits of one size. */
export interface CircuitPoint {
  /** How many edges are kept. */
  edges: number;
  /** How many of those with the largest scores are on a way from the embeddings to the logits. */
  joined: number;
  /** Of those with the largest scores. */
  faithfulness: number;
  /** The mean of random circuits of this size. */
  random: number;
  /** Their standard deviation. */
  deviation: number;
}

/** The edges that carry the difference between two texts. */
export interface EdgeCircuit {
  /** The tokens of the second text. */
  donorTokens: Token[];
  /** The explained number of the first text. */
  value: number;
  /** The number of the second text. */
  corrupt: number;
  /** The number with no edges. */
  nothing: number;
  /** The number with only the circuit. */
  kept: number;
  /** (`kept` - `nothing`) / (`value` - `nothing`). */
  faithfulness: number;
  /** The parts that add to a stream, such as "decoder.layers.0.self_attn.head.3". */
  nodes: string[];
  /**
   * The places that read a stream, such as "decoder.layers.1.self_attn.head.0.q",
   * "decoder.layers.1.fc1" or "logits".
   */
  inputs: string[];
  /** [nodes, inputs] The score of each edge; 0 where there is none. */
  scores: TracedTensor;
  /** The same numbers of each pair of texts; those above are their means. */
  pairs: CircuitNumbers[];
  /**
   * Those of the circuit that are on a way from the embeddings to the logits, the largest score
   * first.
   */
  edges: CircuitEdge[];
  /** Circuits of growing size, beside random ones. */
  curve: CircuitPoint[];
  /** The area below the curve over the share of edges. */
  area: number;
  /** The same of random circuits. */
  randomArea: number;
}

/** A feature that is active. */
export interface ActiveFeature {
  /** Its number in the dictionary. */
  feature: number;
  activation: number;
}

/** The features of one dictionary in a text. */
export interface TextFeatures {
  /** The tensor that the dictionary writes. */
  name: string;
  /** "transcoder" or "sae". */
  kind: string;
  /** The text of each row's token; of a picture, none. */
  rowTokens: string[];
  /** The active features of each row, the strongest first. */
  rows: ActiveFeature[][];
  /** Of each row, the share of the squared length that the features leave. */
  error: number[];
}

/** A node of an attribution graph. */
export interface GraphNode {
  /**
   * "embedding", "feature", "error" (what features leave of a feed-forward block's output) or
   * "answer".
   */
  kind: string;
  /** The tensor that it writes to, or "logits". */
  name: string;
  /** The row of the tensor: a token. */
  row: number;
  /** The number of the feature. */
  feature?: number;
  /** Of a feature; of the answer, the explained number. */
  activation?: number;
  /** On the answer: the share of all ways to it. */
  influence: number;
}

/** An edge of an attribution graph. */
export interface GraphEdge {
  /** The number of a node. */
  from: number;
  to: number;
  /** How much the one adds to what excites the other. */
  weight: number;
  /** The share of the answer's causes on this edge. */
  influence: number;
}

/** A test of an edge on the model. */
export interface GraphCheck {
  /** The node whose feature is set to zero. */
  from: number;
  to: number;
  /** The change by all ways of the graph. */
  predicted: number;
  /** The change in the model. */
  measured: number;
}

/** Why a token comes next, by features. */
export interface AttributionGraph {
  /** Embeddings first, the answer last. */
  nodes: GraphNode[];
  /** The most influential first. */
  edges: GraphEdge[];
  /** Tests of edges on the model. */
  checks: GraphCheck[];
  /** Of predicted and measured changes. */
  correlation: number;
  /** How many features are active in the text. */
  active: number;
  /** How many of them were explained by others. */
  explained: number;
  /** The influence of embeddings as a share of that of embeddings and errors. */
  replacement: number;
  /** The share of what nodes read that is not errors, by influence. */
  completeness: number;
}

/** A part of a score of an attention. */
export interface ScorePart {
  /**
   * As in direct_logit_attribution, such as "layers.0.self_attn.head.3"; or "distance": what is
   * added for the distance of query and key.
   */
  name: string;
  /** Its part of `score`. */
  sum: number;
  /** Its part of `lead`. */
  contrast?: number;
  /** Of a head: `sum` by the tokens that it read. */
  reads?: number[];
  /** The same for `contrast`. */
  contrastReads?: number[];
  /** The weight without this part. */
  weight?: number;
  /** How much `value` falls without this part, in this head alone. */
  effect?: number;
}

/** A score of an attention as exact sums. */
export interface ScoreAttribution {
  /** The score before the softmax. */
  score: number;
  /** The weight that it gives. */
  weight: number;
  /**
   * The score minus the mean of the scores of all keys, by their weights; or minus that of
   * `rival`.
   */
  lead?: number;
  /** What the query's row asks with. The sums add up to `score`. */
  queries: ScorePart[];
  /** What the key's row answers with. The sums add up to `score`. */
  keys: ScorePart[];
  /** [queries, keys] The parts of both at once. */
  cells?: TracedTensor;
  /** The same for `lead`. */
  contrastCells?: TracedTensor;
}

/** The product of each token's embedding and its gradient. */
export interface GradientScores {
  /** One for each row that the model reads, in units of the explained number. */
  scores: number[];
}

/** The result of integrated gradients. */
export interface IntegratedGradients {
  /**
   * One for each row that the model reads; 0 for special tokens. Together with `gap` they sum to
   * `value` - `baseline`.
   */
  scores: number[];
  /** The explained number. */
  value: number;
  /** The same with the embeddings at their beginning, such as zeros. */
  baseline: number;
  /** `value` - `baseline` - the sum of `scores`: the error of the finite number of steps. */
  gap: number;
  /** The number of steps. */
  steps: number;
}

/** Attention weights times their gradients. */
export interface Relevance {
  /** The relevance of each row that the model reads for the answer; never negative. */
  scores: number[];
  /**
   * [T, T] Row i: the relevance of each token for token i's last state; of a translation [T, T +
   * S], for the decoder's.
   */
  relevance: TracedTensor;
}

/** What rules for each kind of layer pass back to each token. */
export interface PropagatedRelevance {
  /**
   * The relevance of each row that the model reads for the answer, in units of the explained
   * number.
   */
  scores: number[];
  /**
   * The explained number. What `scores` lack of it is that of biases and positions and, with
   * attn_lrp, of the softmax.
   */
  value: number;
}

/** The next tokens that each layer would choose. */
export interface NextLens {
  /**
   * Before each layer and after the last, for each token the most probable next ones, the best
   * first.
   */
  layers: Guess[][][];
}

/** A token of a translation or answer. */
export interface NamedToken {
  id: number;
  text: string;
}

/** An answer, of which a token is explained. */
export interface NamedTokens {
  text: string;
  tokens: NamedToken[];
}

/** The translation that was read from one layer. */
export interface LayerReading {
  text: string;
  /** As the score of a translation. */
  score: number;
}

/** A sentence and its translation. */
export interface ExplainedSentence {
  /** Where it is in the input. */
  start: number;
  end: number;
  /** The translation. */
  text: string;
  tokens: NamedToken[];
  sourceTokens: Token[];
}
