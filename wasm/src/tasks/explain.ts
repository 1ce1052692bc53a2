import type { Token, TracedTensor } from '../model/results.js';
import type {
  ActivationPatching,
  AttributionGraph,
  Circuit,
  EdgeCircuit,
  EdgeEffects,
  ExplainedSentence,
  Faithfulness,
  GradientScores,
  Guess,
  IntegratedGradients,
  LayerReading,
  Lens,
  LogitAttribution,
  NamedTokens,
  NextActivationPatching,
  NextLens,
  NextLogitAttribution,
  PropagatedRelevance,
  Relevance,
  Rollout,
  ScoreAttribution,
  TextFeatures,
  ValueNorms,
  ValueZeroing,
} from './explained_types.js';

export type * from './explained_types.js';

/** The fields of every explanation of one text. */
interface ExplainedText<Method> {
  method: Method;
  /**
   * The tokens that the model read. A classifier with a decoder reads a text twice: first those that
   * its decoder reads, beginning with its start token, then those of its encoder.
   */
  tokens: Token[];
  /** Whether a part of the text was left out because of the model's limit. */
  clipped: boolean;
}

/** The fields of every explanation of a classifier's answer. */
interface ExplainedLabel<Method> extends ExplainedText<Method> {
  /** The label of the explained number. */
  label: string;
}

/** Why a head looks there. */
interface ExplainedScore extends ScoreAttribution {
  method: 'score';
  attention: string;
  head: number;
  query: number;
  key: number;
  /** With `effects`: the explained number, if the model gives such an answer. */
  value?: number;
}

/** The features that are active, one entry for each dictionary. */
interface ExplainedFeatures {
  method: 'features';
  dictionaries: TextFeatures[];
}

/** The texts of the rows that ask, and of those that are looked at. */
interface ScoredRows {
  queryTokens: string[];
  keyTokens: string[];
}

/** Two texts that a circuit is found for, too; of a model that writes, with the ids of its tokens. */
export interface CircuitPair {
  text: string;
  pair: string;
  token?: number;
  against?: number;
}

/** The result of a classifier's method "circuit" for two texts. */
export type CircuitOfPair = ExplainedLabel<'circuit'> & EdgeCircuit;

/**
 * The result of each method. The explained number is computed from logits: with two labels the
 * log-odds, with more the label's logit minus the mean of all, with one its logit. T tokens, L
 * layers, H heads, C labels.
 */
export interface Explanations {
  rollout: ExplainedLabel<'rollout'> & Rollout;
  value_norms: ExplainedLabel<'value_norms'> & ValueNorms;
  value_zeroing: ExplainedLabel<'value_zeroing'> & ValueZeroing;
  lens: ExplainedLabel<'lens'> & Lens;
  direct_logit_attribution: ExplainedLabel<'direct_logit_attribution'> & LogitAttribution;
  /** The label is that of `value`. */
  score: ExplainedText<'score'> & ExplainedScore & ScoredRows & { label?: string };
  features: ExplainedText<'features'> & ExplainedFeatures;
  activation_patching: ExplainedLabel<'activation_patching'> & ActivationPatching;
  faithfulness: ExplainedLabel<'faithfulness'> & Faithfulness;
  edges: ExplainedLabel<'edges'> & EdgeEffects;
  /** Of one text; see CircuitOfPair for two. */
  circuit: ExplainedLabel<'circuit'> & Circuit;
  gradient_times_input: ExplainedLabel<'gradient_times_input'> & GradientScores;
  integrated_gradients: ExplainedLabel<'integrated_gradients'> & IntegratedGradients;
  relevance: ExplainedLabel<'relevance'> & Relevance;
  attn_lrp: ExplainedLabel<'attn_lrp'> & PropagatedRelevance;
  cp_lrp: ExplainedLabel<'cp_lrp'> & PropagatedRelevance;
}

interface ExplainedTranslation<Method, Part> {
  method: Method;
  sentences: (ExplainedSentence & Part)[];
}

/** The two tokens of the explained number. */
type ComparedTokens = Pick<NextLogitAttribution, 'token' | 'against'>;

/** Why one token of one sentence leads another. */
interface ExplainedToken<Method> extends ExplainedSentence, ComparedTokens {
  method: Method;
  sentence: number;
  position: number;
}

/** By the names of tensors. */
interface Gradients {
  gradients: Record<string, TracedTensor>;
}

/**
 * The result of each method for a translation of T output tokens from S source tokens. Those of one
 * token of one sentence have a row for each of the `position` + 1 tokens that the decoder had read,
 * beginning with the start token, then for the source's.
 */
export interface TranslationExplanations {
  /** [T, T + S] Row i: the share of each target and source token in output token i. */
  rollout: ExplainedTranslation<'rollout', { rollout: TracedTensor }>;
  /** For each layer and output token the most probable next tokens. */
  lens: ExplainedTranslation<'lens', NextLens>;
  /** One translation per layer. */
  decoder_lens: ExplainedTranslation<'decoder_lens', { layers: LayerReading[] }>;
  /**
   * There are also columns such as "layers.0.encoder_attn.head.3", which read source tokens; a
   * recurrent unit is "layers.0.self_attn".
   */
  direct_logit_attribution: ExplainedToken<'direct_logit_attribution'> & LogitAttribution;
  /** The rows of a decoder are its start token and the tokens up to the query's, or to `position`. */
  score: Omit<ExplainedSentence, 'layers'> &
    ExplainedScore &
    ScoredRows &
    Partial<ComparedTokens> & { sentence: number };
  /** The rows of a decoder are its start token and the tokens before `position`, by default all. */
  features: Omit<ExplainedSentence, 'layers'> & ExplainedFeatures & { sentence: number };
  attribution_graph: ExplainedToken<'attribution_graph'> & AttributionGraph;
  activation_patching: ExplainedText<'activation_patching'> &
    NextActivationPatching & { prefix: number[] };
  faithfulness: ExplainedToken<'faithfulness'> & Faithfulness;
  /** By default of the first token in which both translations differ. */
  circuit: ExplainedToken<'circuit'> & EdgeCircuit;
  /** `layers` [L, 1, T, T + S] and `rollout` [T, T + S] are the decoder's. */
  value_zeroing: Omit<ExplainedToken<'value_zeroing'>, 'layers'> & ValueZeroing;
  gradients: ExplainedToken<'gradients'> & Gradients;
  gradient_times_input: ExplainedToken<'gradient_times_input'> & GradientScores;
  integrated_gradients: ExplainedToken<'integrated_gradients'> & IntegratedGradients;
  relevance: ExplainedToken<'relevance'> & Relevance;
  attn_lrp: ExplainedToken<'attn_lrp'> & PropagatedRelevance;
  cp_lrp: ExplainedToken<'cp_lrp'> & PropagatedRelevance;
}

/** Why a model writes one token and not another. */
interface ExplainedNext<Method> extends ExplainedText<Method> {
  token: Guess;
  against: Guess;
  /** The answer of a model with an encoder, and the position of the explained token in it. */
  answer?: NamedTokens;
  position?: number;
}

/**
 * The result of each method for a text of T tokens. With an encoder, the rows of the methods that use
 * gradients are the tokens that the decoder had read, beginning with the start token, then those of
 * `tokens`.
 */
export interface GenerationExplanations {
  rollout: ExplainedText<'rollout'> & Rollout;
  value_norms: ExplainedText<'value_norms'> & ValueNorms;
  lens: ExplainedText<'lens'> & NextLens;
  /** Only the last row is written; its heads' contributions are listed by the token they read. */
  direct_logit_attribution: ExplainedText<'direct_logit_attribution'> & NextLogitAttribution;
  score: ExplainedText<'score'> & ExplainedScore & ScoredRows & Partial<ComparedTokens>;
  features: ExplainedText<'features'> & ExplainedFeatures;
  attribution_graph: ExplainedNext<'attribution_graph'> & AttributionGraph;
  activation_patching: ExplainedText<'activation_patching'> & NextActivationPatching;
  faithfulness: ExplainedNext<'faithfulness'> & Faithfulness;
  circuit: ExplainedNext<'circuit'> & EdgeCircuit;
  value_zeroing: ExplainedNext<'value_zeroing'> & ValueZeroing;
  gradients: ExplainedNext<'gradients'> & Gradients;
  gradient_times_input: ExplainedNext<'gradient_times_input'> & GradientScores;
  integrated_gradients: ExplainedNext<'integrated_gradients'> & IntegratedGradients;
  relevance: ExplainedNext<'relevance'> & Relevance;
  attn_lrp: ExplainedNext<'attn_lrp'> & PropagatedRelevance;
  cp_lrp: ExplainedNext<'cp_lrp'> & PropagatedRelevance;
}

/** The result of each method for an encoder that has no such answer: vectors, masks, entities. */
export interface StatesExplanations {
  score: ExplainedText<'score'> & ExplainedScore & ScoredRows;
  features: ExplainedText<'features'> & ExplainedFeatures;
}
