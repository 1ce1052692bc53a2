import type { LabelScore, Token, TracedTensor } from '../model/results.js';
/** An attention edge: in this layer and head, the weight of a key for a query. */
export interface AttentionEdge {
  layer: number;
  head: number;
  query: number;
  key: number;
}

/** The fields of every explanation of a classifier's answer. */
interface Explained<Method> {
  method: Method;
  /** The label of the explained number. */
  label: string;
  /**
   * The tokens that the model read. A classifier with a decoder reads a text twice: first those that
   * its decoder reads, beginning with its start token, then those of its encoder.
   */
  tokens: Token[];
  /** Whether a part of the text was left out because of the model's limit. */
  clipped: boolean;
}

/** The result of integrated gradients. */
interface IntegratedParts {
  /** [T] 0 for special tokens. Together with `gap` they sum to `value` - `baseline`. */
  scores: number[];
  /** The explained number, and the same with the embeddings at their beginning, such as zeros. */
  value: number;
  baseline: number;
  /** `value` - `baseline` - the sum of `scores`: the error of the finite number of steps. */
  gap: number;
  /** The number of steps. */
  steps: number;
}

/** The table of activation patching. */
interface PatchingTable {
  donorTokens: Token[];
  /** For each token of the first text, the paired token of the second. */
  donorOf: (number | null)[];
  /** The position of each token; both tokens of a pair have the same. */
  baseColumns: number[];
  donorColumns: number[];
  /** The columns of the grid: tokens or, in long texts, words or sentences. */
  cells: { tokens: number[]; unpaired: boolean }[];
  /** The numbers of both texts, with aligned and with their own positions. */
  base: number;
  donor: number;
  plainBase: number;
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
 * The table of two texts that a model continues or translates, whose number is the lead of `token`
 * over `against`. `tokens`, `donorTokens` and the rows are those of the decoder that continues the
 * texts, or of the encoder that reads them.
 */
interface PatchedNextToken extends PatchingTable {
  method: 'activation_patching';
  tokens: Token[];
  clipped: boolean;
  /**
   * Default: the first tokens in which the outputs of the second and the first text differ. Absent
   * if none do; then nothing is measured.
   */
  token?: Guess;
  against?: Guess;
}

/** The test of an order of words. */
export interface OrderTest {
  /** Mean of insertion minus mean of deletion. A better order has a higher score. */
  score: number;
  /** The number without the first words, and with only these. */
  deletion: number[];
  insertion: number[];
  comprehensiveness: number[];
  sufficiency: number[];
}

/**
 * The result of each method. The explained number is computed from logits: with two labels the
 * log-odds, with more the label's logit minus the mean of all, with one its logit. T tokens, L
 * layers, H heads, C labels.
 */
export interface Explanations {
  rollout: Explained<'rollout'> & {
    scores: number[];
    /** [T, T] Row i: the share of each input token in token i's last state. */
    rollout: TracedTensor;
  };
  value_norms: Explained<'value_norms'> & {
    scores: number[];
    /** [L, H, T, T] ‖αf(x)‖ for each head, and [L, 1, T, T] for all heads together. */
    heads: TracedTensor;
    layers: TracedTensor;
  };
  value_zeroing: Explained<'value_zeroing'> & {
    scores: number[];
    /** [L, 1, T, T] Row i: how much each token's value counts for token i's output of a layer. */
    layers: TracedTensor;
    /** [T, T] The product of the layers. */
    rollout: TracedTensor;
  };
  lens: Explained<'lens'> & {
    /** The head's output before each layer, and after the last one. */
    layers: { label: string; scores: LabelScore[] }[];
    /** [L + 1, C] for the text, and [L + 1, T, C] for each token by itself. */
    logits: TracedTensor;
    tokenLogits: TracedTensor;
  };
  direct_logit_attribution: Explained<'direct_logit_attribution'> & {
    value: number;
    /** Names such as "layers.0.self_attn.head.3". */
    columns: string[];
    /** [T, columns] By the row that is written, and by the token that is read. Each sums to `value`. */
    written: TracedTensor;
    read: TracedTensor;
    /** With option `effects`: one per column. They do not sum to `value`. */
    effects?: number[];
  };
  activation_patching: Explained<'activation_patching'> & PatchingTable;
  faithfulness: Explained<'faithfulness'> & {
    /** The tokens of each word. */
    words: number[][];
    value: number;
    /** Number of words removed or inserted at each point of the curves. */
    counts: number[];
    order: OrderTest;
    /** An upper bound, because it uses the same operation as the test. */
    leaveOneOut: OrderTest;
    /** How much the number falls without each word. */
    losses: number[];
    random: { mean: number; deviation: number; scores: number[] };
  };
  edges: Explained<'edges'> & {
    value: number;
    /** The number without all edges, and without each single one. */
    without: number;
    alone: number[];
  };
  circuit: Explained<'circuit'> & {
    value: number;
    /** The number with only the circuit, and with no heads. */
    kept: number;
    nothing: number;
    faithfulness: number;
    heads: { layer: number; head: number }[];
    edges: AttentionEdge[];
  };
  gradient_times_input: Explained<'gradient_times_input'> & {
    /** [T] In units of the explained number. */
    scores: number[];
  };
  integrated_gradients: Explained<'integrated_gradients'> & IntegratedParts;
  relevance: Explained<'relevance'> & {
    /** [T] Relevance for the answer; never negative. */
    scores: number[];
    /** [T, T] Row i: the relevance of each token for token i's last state. */
    relevance: TracedTensor;
  };
}

interface ExplainedSentence {
  /** Where it is in the input. */
  start: number;
  end: number;
  text: string;
  tokens: { id: number; text: string }[];
  sourceTokens: Token[];
}

interface ExplainedTranslation<Method, Part> {
  method: Method;
  sentences: (ExplainedSentence & Part)[];
}

/** The result of each method for a translation of T output tokens from S source tokens. */
export interface TranslationExplanations {
  /** [T, T + S] Row i: the share of each target and source token in output token i. */
  rollout: ExplainedTranslation<'rollout', { rollout: TracedTensor }>;
  /** For each layer and output token the most probable next tokens. */
  lens: ExplainedTranslation<'lens', { layers: Guess[][][] }>;
  /** One translation per layer. */
  decoder_lens: ExplainedTranslation<'decoder_lens', { layers: { text: string; score: number }[] }>;
  /**
   * For one sentence. Rows are the `position` + 1 tokens that the decoder had read, beginning with
   * the start token, then the source's. There are also columns such as
   * "layers.0.encoder_attn.head.3", which read source tokens; a recurrent unit is
   * "layers.0.self_attn".
   */
  direct_logit_attribution: ExplainedToken<'direct_logit_attribution'> &
    Pick<
      Explanations['direct_logit_attribution'],
      'value' | 'columns' | 'effects' | 'written' | 'read'
    >;
  /** Of one sentence. `prefix`: the tokens that both translations begin with, before `token`. */
  activation_patching: PatchedNextToken & { prefix: number[] };
  /** By the names of tensors. The rows of the decoder are the tokens that it had read. */
  gradients: ExplainedToken<'gradients'> & { gradients: Record<string, TracedTensor> };
  gradient_times_input: ExplainedToken<'gradient_times_input'> & {
    /** [T + S] For each row of the attribution. */
    scores: number[];
  };
  /** `scores` [T + S] are those of the rows of the attribution. */
  integrated_gradients: ExplainedToken<'integrated_gradients'> & IntegratedParts;
  relevance: ExplainedToken<'relevance'> & {
    /** [T + S] For each row of the attribution; never negative. */
    scores: number[];
    /** [T, T + S] Row i: the relevance of each token for the decoder's last state of token i. */
    relevance: TracedTensor;
  };
}

/** Why one token of one sentence leads another. */
interface ExplainedToken<Method> extends ExplainedSentence {
  method: Method;
  sentence: number;
  position: number;
  token: Guess;
  against: Guess;
}

/** A possible next token. */
export interface Guess {
  id: number;
  text: string;
  /** Natural logarithm of the model's probability. */
  logprob: number;
}

/** The result of each method for a text of T tokens. */
export interface GenerationExplanations {
  rollout: Omit<Explanations['rollout'], 'label'>;
  value_norms: Omit<Explanations['value_norms'], 'label'>;
  /** Before each layer and after the last, for each token the most probable next ones. */
  lens: Pick<Explanations['rollout'], 'tokens' | 'clipped'> & {
    method: 'lens';
    layers: Guess[][][];
  };
  /** Only the last row is written; its heads' contributions are listed by the token they read. */
  direct_logit_attribution: Omit<Explanations['direct_logit_attribution'], 'label'> &
    ComparedTokens;
  activation_patching: PatchedNextToken;
  /** By the names of tensors. */
  gradients: Pick<Explanations['rollout'], 'tokens' | 'clipped'> &
    ComparedTokens &
    OfAnswer & { method: 'gradients'; gradients: Record<string, TracedTensor> };
  /**
   * With an encoder, the scores of this and the next two are those of the tokens that the decoder had
   * read, beginning with the start token, then those of `tokens`.
   */
  gradient_times_input: Omit<Explanations['gradient_times_input'], 'label'> &
    ComparedTokens &
    OfAnswer;
  integrated_gradients: Omit<Explanations['integrated_gradients'], 'label'> &
    ComparedTokens &
    OfAnswer;
  relevance: Omit<Explanations['relevance'], 'label'> & ComparedTokens & OfAnswer;
}

/** The answer of a model with an encoder, and the position of the explained token in it. */
interface OfAnswer {
  answer?: { text: string; tokens: { id: number; text: string }[] };
  position?: number;
}

interface ComparedTokens {
  token: Guess;
  against: Guess;
}
