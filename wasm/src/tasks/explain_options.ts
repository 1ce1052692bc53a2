// Written by tools/schema.mjs from src/tasks/explain. Do not edit.

import type { Patch } from '../model/call_options.js';
import type {
  AttentionEdge,
  CircuitPair,
  Explanations,
  TranslationExplanations,
  GenerationExplanations,
} from './explain.js';

/** Every option of every method. */
export interface ExplainOption {
  /** The label to explain: its name, or its number. Default: the model's answer. */
  label?: string | undefined;
  /** Also measure how much the number falls without each column or, of a score, each part. */
  effects?: boolean | undefined;
  /**
   * Also tell, for each head, which parts make it look where it looks, and which it carries on.
   * Needs compute f32.
   */
  loadings?: boolean | undefined;
  /**
   * The name of an attention, such as encoder.layers.1.self_attn or
   * decoder.layers.0.encoder_attn.
   */
  attention: string;
  /** The row that asks, counted from 0. */
  query: number;
  /** The row that is looked at, counted from 0. */
  key: number;
  /**
   * Also split how far the score is above the mean of the scores of all keys, by their weights:
   * softmax sees only differences.
   */
  contrast?: boolean | undefined;
  /** Compare with the score of this key instead. Implies `contrast`. */
  rival?: number | undefined;
  /** Also the parts of query and key at once: a table of all their products. */
  cells?: boolean | undefined;
  /** Also split the parts of heads by the tokens they read. */
  reads?: boolean | undefined;
  /** With `effects`: take a part out of all rows, not only that of the query or key. */
  everywhere?: boolean | undefined;
  /**
   * Which vectors are taken from the second text. The residual stream is that between layers.
   * Default: "residual".
   */
  site?: 'residual' | 'attention' | 'feed_forward' | 'head' | 'query' | 'key' | 'value' | undefined;
  /** Which head, counted from 0. For activation_patching: if `site` is head. */
  head?: number | undefined;
  /** The method whose scores are tested. Default: "rollout". */
  of?:
    | 'rollout'
    | 'value_norms'
    | 'value_zeroing'
    | 'direct_logit_attribution'
    | 'gradient_times_input'
    | 'integrated_gradients'
    | 'relevance'
    | 'attn_lrp'
    | 'cp_lrp'
    | undefined;
  /** Scores to test instead of a method's, one for each token. */
  scores?: Float32Array | undefined;
  /** How many random orders to compare with. Between 0 and 1000. Default: 20. */
  orders?: number | undefined;
  /** The seed of the random orders or circuits. Default: 1. */
  seed?: number | undefined;
  /** The edges to cut: the weights of a key for a query. */
  edges: readonly AttentionEdge[];
  /**
   * Where edges are cut: scores before the softmax, so that the other edges get their share; or
   * weights, after it. Default: "scores".
   */
  cut?: 'scores' | 'weights' | undefined;
  /**
   * How near to the full number the circuit stays: between this share of it and 2 minus this
   * share. Default: 0.8.
   */
  least?: number | undefined;
  /**
   * Further pairs of texts, each with its own token and against. The circuit is one for all of
   * them: scores and numbers are means. Default: none.
   */
  morePairs?: readonly CircuitPair[] | undefined;
  /**
   * The number that the circuit should keep: the difference of the two tokens' logits, the
   * log-probability of the token, or minus the divergence from the first text's probabilities.
   * Default: "logit_difference".
   */
  metric?: 'logit_difference' | 'log_probability' | 'divergence' | undefined;
  /**
   * What is carried outside the circuit: what the second text has there, its mean over its
   * tokens, or zeros. Default: "corrupt".
   */
  ablation?: 'corrupt' | 'mean' | 'zero' | undefined;
  /**
   * The points between both texts at which gradients are computed; 0: those of the first text.
   * Between 0 and 1000. Default: 5.
   */
  steps?: number | undefined;
  /**
   * How many edges the circuit has, those with the largest scores. At least 1. Default: the
   * fewest of 1, 2, 5, 10, 20, 50 and 100 % that stay within `least`.
   */
  edgeCount?: number | undefined;
  /**
   * Edges of the whole graph to cut, each as "FROM>TO". Then nothing is searched, and the kept
   * number is that without them. Default: none.
   */
  cutEdges?: readonly string[] | undefined;
  /** How many random circuits of each size to compare with. Between 0 and 1000. Default: 5. */
  randomCircuits?: number | undefined;
  /**
   * How many features are explained by others at most, those with the most influence on the
   * answer. The rest counts as errors. Between 1 and 65536. Default: 256.
   */
  featureCount?: number | undefined;
  /**
   * The share of the influence that features and errors of the graph keep. Between 0 and 1.
   * Default: 0.8.
   */
  nodeShare?: number | undefined;
  /** The share of the influence that edges keep. Between 0 and 1. Default: 0.95. */
  edgeShare?: number | undefined;
  /**
   * How many edges from features are tested: the feature is set to zero in the model. Between 0
   * and 1000. Default: 10.
   */
  checkedEdges?: number | undefined;
  /** How many next tokens of each layer, the most probable ones. Between 1 and 100. Default: 5. */
  words?: number | undefined;
  /**
   * The number of hypotheses of the beam search, for a model with an encoder. Between 1 and 64.
   * Default: 1.
   */
  beams?: number | undefined;
  /** Which sentence of the translation, counted from 0. Default: 0. */
  sentence?: number | undefined;
  /**
   * Which token of the translation or answer, counted from 0. Default: 0, or the token after
   * `prefix`.
   */
  position?: number | undefined;
  /**
   * Ids of tokens that the translation or answer begins with. Default: none; with two texts,
   * those that both translations begin with.
   */
  prefix?: readonly number[] | undefined;
  /**
   * The id of the token to explain. Default: the token that the translation or answer has there,
   * or the most probable; with two texts, that of the second's.
   */
  token?: number | undefined;
  /**
   * The id of the token to compare it with: the explained number is the difference of their
   * logits. Default: the most probable other one; with two texts, that of the first's.
   */
  against?: number | undefined;
  /**
   * The id of the token whose embedding all others begin with. A model with RMS norms needs it:
   * they remove the length of an embedding, so on the way from zeros almost all changes near
   * zero, and the gap is large. Default: zeros.
   */
  baselineToken?: number | undefined;
  /** Names of tensors; "*" stands for any characters except dots. */
  names: readonly string[];
  /**
   * As in other calls, but not of scores and weights. The gradients are those of the patched
   * run.
   */
  patch?: readonly Patch[] | undefined;
  /**
   * The language of the text, such as en or eng_Latn, for a model of many languages. Default: as
   * the model's files say.
   */
  from?: string | undefined;
  /** The language of the translation. Default: as the model's files say. */
  to?: string | undefined;
}

type Method<Name, Option extends keyof ExplainOption = never> = Pick<ExplainOption, Option> & {
  method: Name;
  /** Aborts the call between two steps. */
  signal?: AbortSignal | undefined;
};

interface Progress<Table> {
  /**
   * Called with the table before it is complete. First, all changes are estimates: gradients
   * times differences of vectors (Nanda 2023, attribution patching).
   */
  onProgress?: ((table: Table & { done: number }) => void) | undefined;
}

/** The options of each method of `explain` of Classifier. */
export interface ExplainOptions {
  /**
   * Attention through all layers, half of each being the token's own state (Abnar and Zuidema
   * 2020, attention rollout).
   */
  rollout: Method<'rollout'>;
  /** Attention times the size of the vectors that it moves (Kobayashi et al. 2020). */
  value_norms: Method<'value_norms'>;
  /**
   * How much each token's output of a layer turns away if another token's value vector is zero,
   * multiplied through the layers (Mohebbi et al. 2023). Needs compute f32.
   */
  value_zeroing: Method<'value_zeroing'>;
  /** What each layer would answer, if no layer followed (nostalgebraist 2020, logit lens). */
  lens: Method<'lens'>;
  /**
   * The explained number as an exact sum of what embeddings, heads and feed-forward networks
   * add, with the scales of norms frozen (Elhage et al. 2021).
   */
  direct_logit_attribution: Method<'direct_logit_attribution', 'label' | 'effects' | 'loadings'>;
  /**
   * Why a head looks there: the score of a query and a key as an exact sum over what their rows
   * are made of, embeddings, earlier heads and feed-forward networks, with the scales of norms
   * frozen (Elhage et al. 2021). Needs compute f32 and softmax attention.
   */
  score: Method<
    'score',
    | 'label'
    | 'effects'
    | 'attention'
    | 'query'
    | 'key'
    | 'contrast'
    | 'rival'
    | 'cells'
    | 'reads'
    | 'everywhere'
    | 'head'
  >;
  /**
   * How the answer to a text changes if a vector is replaced by that of a second text, for every
   * layer and token (Meng et al. 2022). The answer of a model that writes is the first token in
   * which its outputs for both texts differ.
   */
  activation_patching: Method<'activation_patching', 'label' | 'site' | 'head'> &
    Progress<Explanations['activation_patching']>;
  /**
   * How the number changes as words, or tokens before a next token, are deleted and inserted in
   * the order of their scores, beside random orders (Petsiuk et al. 2018).
   */
  faithfulness: Method<'faithfulness', 'label' | 'of' | 'scores' | 'orders' | 'seed'>;
  /** The number without some attention edges. Needs compute f32. */
  edges: Method<'edges', 'label' | 'edges' | 'cut'>;
  /**
   * A small set of heads and edges that keeps the answer (Conmy et al. 2023); of two texts of
   * equally many tokens, the edges of the model's graph that carry the difference between their
   * answers (Hanna et al. 2024, EAP-IG). Needs compute f32.
   */
  circuit: Method<
    'circuit',
    | 'label'
    | 'seed'
    | 'least'
    | 'morePairs'
    | 'metric'
    | 'ablation'
    | 'steps'
    | 'edgeCount'
    | 'cutEdges'
    | 'randomCircuits'
  >;
  /**
   * The features of the model's dictionaries that are active for each token (Cunningham et al.
   * 2023; Dunefsky et al. 2024). Needs dictionaries and compute f32.
   */
  features: Method<'features'>;
  /**
   * The product of each token's embedding and the gradient of the explained number with respect
   * to it (Shrikumar et al. 2017). Needs a model that was loaded with `gradients: true` and
   * `compute: 'f32'`.
   */
  gradient_times_input: Method<'gradient_times_input', 'label'>;
  /**
   * The product of each token's embedding and the mean gradient along the straight line from a
   * baseline, by default zeros, to the embeddings (Sundararajan et al. 2017). The line has 64
   * points; if the gap is larger than 2 %, it is computed again with twice as many, up to 256.
   * Needs a model that was loaded with `gradients: true` and `compute: 'f32'`.
   */
  integrated_gradients: Method<'integrated_gradients', 'label'>;
  /**
   * Attention weights times their gradients, positive parts only, multiplied through the layers
   * (Chefer et al. 2021). Not for linear attention. Needs a model that was loaded with
   * `gradients: true` and `compute: 'f32'`.
   */
  relevance: Method<'relevance', 'label'>;
  /**
   * How much of the explained number is passed back to each token's embedding, by a rule for
   * each kind of layer (Achtibat et al. 2024, AttnLRP). Not for linear attention. Needs a model
   * that was loaded with `gradients: true` and `compute: 'f32'`.
   */
  attn_lrp: Method<'attn_lrp', 'label'>;
  /**
   * How much of the explained number is passed back to each token's embedding, by a rule for
   * each kind of layer, with attention weights and gates as constants (Ali et al. 2022, CP-LRP).
   * Not for linear attention. Needs a model that was loaded with `gradients: true` and `compute:
   * 'f32'`.
   */
  cp_lrp: Method<'cp_lrp', 'label'>;
}

export type ExplainMethod = keyof ExplainOptions;

/** The options of each method of `explain` of Translator. */
export interface ExplainTranslationOptions {
  /**
   * Attention through all layers, half of each being the token's own state (Abnar and Zuidema
   * 2020, attention rollout).
   */
  rollout: Method<'rollout', 'beams' | 'from' | 'to'>;
  /**
   * How much each token's output of a layer turns away if another token's value vector is zero,
   * multiplied through the layers (Mohebbi et al. 2023). Needs compute f32.
   */
  value_zeroing: Method<
    'value_zeroing',
    'beams' | 'sentence' | 'position' | 'prefix' | 'token' | 'against' | 'from' | 'to'
  >;
  /** What each layer would answer, if no layer followed (nostalgebraist 2020, logit lens). */
  lens: Method<'lens', 'words' | 'beams' | 'from' | 'to'>;
  /** The translation as decoded from each layer of the encoder (Langedijk et al. 2023). */
  decoder_lens: Method<'decoder_lens', 'beams' | 'from' | 'to'>;
  /**
   * The explained number as an exact sum of what embeddings, heads and feed-forward networks
   * add, with the scales of norms frozen (Elhage et al. 2021).
   */
  direct_logit_attribution: Method<
    'direct_logit_attribution',
    | 'effects'
    | 'loadings'
    | 'beams'
    | 'sentence'
    | 'position'
    | 'prefix'
    | 'token'
    | 'against'
    | 'from'
    | 'to'
  >;
  /**
   * Why a head looks there: the score of a query and a key as an exact sum over what their rows
   * are made of, embeddings, earlier heads and feed-forward networks, with the scales of norms
   * frozen (Elhage et al. 2021). Needs compute f32 and softmax attention.
   */
  score: Method<
    'score',
    | 'effects'
    | 'attention'
    | 'query'
    | 'key'
    | 'contrast'
    | 'rival'
    | 'cells'
    | 'reads'
    | 'everywhere'
    | 'head'
    | 'beams'
    | 'sentence'
    | 'position'
    | 'prefix'
    | 'token'
    | 'against'
    | 'from'
    | 'to'
  >;
  /**
   * How the answer to a text changes if a vector is replaced by that of a second text, for every
   * layer and token (Meng et al. 2022). The answer of a model that writes is the first token in
   * which its outputs for both texts differ.
   */
  activation_patching: Method<
    'activation_patching',
    'beams' | 'sentence' | 'prefix' | 'token' | 'against' | 'from' | 'to'
  > &
    Progress<TranslationExplanations['activation_patching']>;
  /**
   * How the number changes as words, or tokens before a next token, are deleted and inserted in
   * the order of their scores, beside random orders (Petsiuk et al. 2018).
   */
  faithfulness: Method<
    'faithfulness',
    | 'of'
    | 'scores'
    | 'orders'
    | 'seed'
    | 'beams'
    | 'sentence'
    | 'position'
    | 'prefix'
    | 'token'
    | 'against'
    | 'from'
    | 'to'
  >;
  /**
   * A small set of heads and edges that keeps the answer (Conmy et al. 2023); of two texts of
   * equally many tokens, the edges of the model's graph that carry the difference between their
   * answers (Hanna et al. 2024, EAP-IG). Needs compute f32.
   */
  circuit: Method<
    'circuit',
    | 'seed'
    | 'least'
    | 'morePairs'
    | 'metric'
    | 'ablation'
    | 'steps'
    | 'edgeCount'
    | 'cutEdges'
    | 'randomCircuits'
    | 'beams'
    | 'sentence'
    | 'position'
    | 'prefix'
    | 'token'
    | 'against'
    | 'from'
    | 'to'
  >;
  /**
   * The features of the model's dictionaries that are active for each token (Cunningham et al.
   * 2023; Dunefsky et al. 2024). Needs dictionaries and compute f32.
   */
  features: Method<'features', 'beams' | 'sentence' | 'position' | 'prefix' | 'from' | 'to'>;
  /**
   * Why a token comes next, as a graph: what excites features of feed-forward blocks and the
   * answer, with attention weights and the scales of norms as constants (Ameisen et al. 2025).
   * Needs dictionaries of transcoders and compute f32. Needs a model that was loaded with
   * `gradients: true` and `compute: 'f32'`.
   */
  attribution_graph: Method<
    'attribution_graph',
    | 'featureCount'
    | 'nodeShare'
    | 'edgeShare'
    | 'checkedEdges'
    | 'beams'
    | 'sentence'
    | 'position'
    | 'prefix'
    | 'token'
    | 'against'
    | 'from'
    | 'to'
  >;
  /**
   * The product of each token's embedding and the gradient of the explained number with respect
   * to it (Shrikumar et al. 2017). Needs a model that was loaded with `gradients: true` and
   * `compute: 'f32'`.
   */
  gradient_times_input: Method<
    'gradient_times_input',
    'beams' | 'sentence' | 'position' | 'prefix' | 'token' | 'against' | 'from' | 'to'
  >;
  /**
   * The product of each token's embedding and the mean gradient along the straight line from a
   * baseline, by default zeros, to the embeddings (Sundararajan et al. 2017). The line has 64
   * points; if the gap is larger than 2 %, it is computed again with twice as many, up to 256.
   * Needs a model that was loaded with `gradients: true` and `compute: 'f32'`.
   */
  integrated_gradients: Method<
    'integrated_gradients',
    | 'beams'
    | 'sentence'
    | 'position'
    | 'prefix'
    | 'token'
    | 'against'
    | 'baselineToken'
    | 'from'
    | 'to'
  >;
  /**
   * Attention weights times their gradients, positive parts only, multiplied through the layers
   * (Chefer et al. 2021). Not for linear attention. Needs a model that was loaded with
   * `gradients: true` and `compute: 'f32'`.
   */
  relevance: Method<
    'relevance',
    'beams' | 'sentence' | 'position' | 'prefix' | 'token' | 'against' | 'from' | 'to'
  >;
  /**
   * How much of the explained number is passed back to each token's embedding, by a rule for
   * each kind of layer (Achtibat et al. 2024, AttnLRP). Not for linear attention. Needs a model
   * that was loaded with `gradients: true` and `compute: 'f32'`.
   */
  attn_lrp: Method<
    'attn_lrp',
    'beams' | 'sentence' | 'position' | 'prefix' | 'token' | 'against' | 'from' | 'to'
  >;
  /**
   * How much of the explained number is passed back to each token's embedding, by a rule for
   * each kind of layer, with attention weights and gates as constants (Ali et al. 2022, CP-LRP).
   * Not for linear attention. Needs a model that was loaded with `gradients: true` and `compute:
   * 'f32'`.
   */
  cp_lrp: Method<
    'cp_lrp',
    'beams' | 'sentence' | 'position' | 'prefix' | 'token' | 'against' | 'from' | 'to'
  >;
  /**
   * The gradients of the explained number with respect to tensors. Needs a model that was loaded
   * with `gradients: true` and `compute: 'f32'`.
   */
  gradients: Method<
    'gradients',
    | 'beams'
    | 'sentence'
    | 'position'
    | 'prefix'
    | 'token'
    | 'against'
    | 'names'
    | 'patch'
    | 'from'
    | 'to'
  >;
}

export type ExplainTranslationMethod = keyof ExplainTranslationOptions;

/** The options of each method of `explain` of Generator. */
export interface ExplainGenerationOptions {
  /**
   * Attention through all layers, half of each being the token's own state (Abnar and Zuidema
   * 2020, attention rollout).
   */
  rollout: Method<'rollout'>;
  /** Attention times the size of the vectors that it moves (Kobayashi et al. 2020). */
  value_norms: Method<'value_norms'>;
  /**
   * How much each token's output of a layer turns away if another token's value vector is zero,
   * multiplied through the layers (Mohebbi et al. 2023). Needs compute f32.
   */
  value_zeroing: Method<'value_zeroing', 'beams' | 'position' | 'prefix' | 'token' | 'against'>;
  /** What each layer would answer, if no layer followed (nostalgebraist 2020, logit lens). */
  lens: Method<'lens', 'words'>;
  /**
   * The explained number as an exact sum of what embeddings, heads and feed-forward networks
   * add, with the scales of norms frozen (Elhage et al. 2021).
   */
  direct_logit_attribution: Method<
    'direct_logit_attribution',
    'effects' | 'loadings' | 'token' | 'against'
  >;
  /**
   * Why a head looks there: the score of a query and a key as an exact sum over what their rows
   * are made of, embeddings, earlier heads and feed-forward networks, with the scales of norms
   * frozen (Elhage et al. 2021). Needs compute f32 and softmax attention.
   */
  score: Method<
    'score',
    | 'effects'
    | 'attention'
    | 'query'
    | 'key'
    | 'contrast'
    | 'rival'
    | 'cells'
    | 'reads'
    | 'everywhere'
    | 'head'
    | 'beams'
    | 'position'
    | 'prefix'
    | 'token'
    | 'against'
  >;
  /**
   * How the answer to a text changes if a vector is replaced by that of a second text, for every
   * layer and token (Meng et al. 2022). The answer of a model that writes is the first token in
   * which its outputs for both texts differ.
   */
  activation_patching: Method<'activation_patching', 'token' | 'against'> &
    Progress<GenerationExplanations['activation_patching']>;
  /**
   * How the number changes as words, or tokens before a next token, are deleted and inserted in
   * the order of their scores, beside random orders (Petsiuk et al. 2018).
   */
  faithfulness: Method<
    'faithfulness',
    'of' | 'scores' | 'orders' | 'seed' | 'beams' | 'position' | 'prefix' | 'token' | 'against'
  >;
  /**
   * A small set of heads and edges that keeps the answer (Conmy et al. 2023); of two texts of
   * equally many tokens, the edges of the model's graph that carry the difference between their
   * answers (Hanna et al. 2024, EAP-IG). Needs compute f32.
   */
  circuit: Method<
    'circuit',
    | 'seed'
    | 'least'
    | 'morePairs'
    | 'metric'
    | 'ablation'
    | 'steps'
    | 'edgeCount'
    | 'cutEdges'
    | 'randomCircuits'
    | 'beams'
    | 'position'
    | 'prefix'
    | 'token'
    | 'against'
  >;
  /**
   * The features of the model's dictionaries that are active for each token (Cunningham et al.
   * 2023; Dunefsky et al. 2024). Needs dictionaries and compute f32.
   */
  features: Method<'features', 'beams' | 'position' | 'prefix'>;
  /**
   * Why a token comes next, as a graph: what excites features of feed-forward blocks and the
   * answer, with attention weights and the scales of norms as constants (Ameisen et al. 2025).
   * Needs dictionaries of transcoders and compute f32. Needs a model that was loaded with
   * `gradients: true` and `compute: 'f32'`.
   */
  attribution_graph: Method<
    'attribution_graph',
    | 'featureCount'
    | 'nodeShare'
    | 'edgeShare'
    | 'checkedEdges'
    | 'beams'
    | 'position'
    | 'prefix'
    | 'token'
    | 'against'
  >;
  /**
   * The product of each token's embedding and the gradient of the explained number with respect
   * to it (Shrikumar et al. 2017). Needs a model that was loaded with `gradients: true` and
   * `compute: 'f32'`.
   */
  gradient_times_input: Method<
    'gradient_times_input',
    'beams' | 'position' | 'prefix' | 'token' | 'against'
  >;
  /**
   * The product of each token's embedding and the mean gradient along the straight line from a
   * baseline, by default zeros, to the embeddings (Sundararajan et al. 2017). The line has 64
   * points; if the gap is larger than 2 %, it is computed again with twice as many, up to 256.
   * Needs a model that was loaded with `gradients: true` and `compute: 'f32'`.
   */
  integrated_gradients: Method<
    'integrated_gradients',
    'beams' | 'position' | 'prefix' | 'token' | 'against' | 'baselineToken'
  >;
  /**
   * Attention weights times their gradients, positive parts only, multiplied through the layers
   * (Chefer et al. 2021). Not for linear attention. Needs a model that was loaded with
   * `gradients: true` and `compute: 'f32'`.
   */
  relevance: Method<'relevance', 'beams' | 'position' | 'prefix' | 'token' | 'against'>;
  /**
   * How much of the explained number is passed back to each token's embedding, by a rule for
   * each kind of layer (Achtibat et al. 2024, AttnLRP). Not for linear attention. Needs a model
   * that was loaded with `gradients: true` and `compute: 'f32'`.
   */
  attn_lrp: Method<'attn_lrp', 'beams' | 'position' | 'prefix' | 'token' | 'against'>;
  /**
   * How much of the explained number is passed back to each token's embedding, by a rule for
   * each kind of layer, with attention weights and gates as constants (Ali et al. 2022, CP-LRP).
   * Not for linear attention. Needs a model that was loaded with `gradients: true` and `compute:
   * 'f32'`.
   */
  cp_lrp: Method<'cp_lrp', 'beams' | 'position' | 'prefix' | 'token' | 'against'>;
  /**
   * The gradients of the explained number with respect to tensors. Needs a model that was loaded
   * with `gradients: true` and `compute: 'f32'`.
   */
  gradients: Method<
    'gradients',
    'beams' | 'position' | 'prefix' | 'token' | 'against' | 'names' | 'patch'
  >;
}

export type ExplainGenerationMethod = keyof ExplainGenerationOptions;

/** The options of each method of `explain` of Embedder, MaskFiller, TokenClassifier, QuestionAnswerer. */
export interface ExplainStatesOptions {
  /**
   * Why a head looks there: the score of a query and a key as an exact sum over what their rows
   * are made of, embeddings, earlier heads and feed-forward networks, with the scales of norms
   * frozen (Elhage et al. 2021). Needs compute f32 and softmax attention.
   */
  score: Method<
    'score',
    | 'effects'
    | 'attention'
    | 'query'
    | 'key'
    | 'contrast'
    | 'rival'
    | 'cells'
    | 'reads'
    | 'everywhere'
    | 'head'
  >;
  /**
   * The features of the model's dictionaries that are active for each token (Cunningham et al.
   * 2023; Dunefsky et al. 2024). Needs dictionaries and compute f32.
   */
  features: Method<'features'>;
}

export type ExplainStatesMethod = keyof ExplainStatesOptions;

/** The options of all methods of Classifier. */
export const explainOptions = [
  'method',
  'label',
  'effects',
  'loadings',
  'attention',
  'query',
  'key',
  'contrast',
  'rival',
  'cells',
  'reads',
  'everywhere',
  'head',
  'site',
  'onProgress',
  'of',
  'scores',
  'orders',
  'seed',
  'edges',
  'cut',
  'least',
  'morePairs',
  'metric',
  'ablation',
  'steps',
  'edgeCount',
  'cutEdges',
  'randomCircuits',
  'signal',
] as const;

/** The options of all methods of ImageClassifier, ZeroShotImageClassifier. */
export const explainPictureOptions = [
  'method',
  'interpolate',
  'size',
  'labels',
  'hypothesisTemplate',
  'label',
  'effects',
  'loadings',
  'attention',
  'query',
  'key',
  'contrast',
  'rival',
  'cells',
  'reads',
  'everywhere',
  'head',
  'of',
  'scores',
  'orders',
  'seed',
  'edges',
  'cut',
  'least',
  'signal',
] as const;

/** The options of all methods of Translator. */
export const explainTranslationOptions = [
  'method',
  'beams',
  'from',
  'to',
  'sentence',
  'position',
  'prefix',
  'token',
  'against',
  'words',
  'effects',
  'loadings',
  'attention',
  'query',
  'key',
  'contrast',
  'rival',
  'cells',
  'reads',
  'everywhere',
  'head',
  'onProgress',
  'of',
  'scores',
  'orders',
  'seed',
  'least',
  'morePairs',
  'metric',
  'ablation',
  'steps',
  'edgeCount',
  'cutEdges',
  'randomCircuits',
  'featureCount',
  'nodeShare',
  'edgeShare',
  'checkedEdges',
  'baselineToken',
  'names',
  'patch',
  'signal',
] as const;

/** The options of all methods of Generator. */
export const explainGenerationOptions = [
  'method',
  'beams',
  'position',
  'prefix',
  'token',
  'against',
  'words',
  'effects',
  'loadings',
  'attention',
  'query',
  'key',
  'contrast',
  'rival',
  'cells',
  'reads',
  'everywhere',
  'head',
  'onProgress',
  'of',
  'scores',
  'orders',
  'seed',
  'least',
  'morePairs',
  'metric',
  'ablation',
  'steps',
  'edgeCount',
  'cutEdges',
  'randomCircuits',
  'featureCount',
  'nodeShare',
  'edgeShare',
  'checkedEdges',
  'baselineToken',
  'names',
  'patch',
  'signal',
] as const;

/** The options of all methods of Embedder, MaskFiller, TokenClassifier, QuestionAnswerer. */
export const explainStatesOptions = [
  'method',
  'effects',
  'attention',
  'query',
  'key',
  'contrast',
  'rival',
  'cells',
  'reads',
  'everywhere',
  'head',
  'signal',
] as const;
