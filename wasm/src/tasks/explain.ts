import type { Patch } from '../model/call_options.js';
import type { Token, TracedTensor } from '../model/results.js';
import type { LanguagePair } from './translation.js';

/** Options of all explanations. */
interface Common {
  /** Aborts the call between two steps. */
  signal?: AbortSignal | undefined;
}

/** An attention edge: in this layer and head, the weight of a key for a query. */
export interface AttentionEdge {
  layer: number;
  head: number;
  query: number;
  key: number;
}

/** The options of each method. Without `label`, the model's answer is explained. */
export interface ExplainOptions {
  /** Attention rollout: Abnar and Zuidema 2020. */
  rollout: Common & { method: 'rollout' };
  /** Value-weighted attention: Kobayashi et al. 2020. */
  value_norms: Common & { method: 'value_norms' };
  /** The scores that the model's head computes from the states of each layer. */
  lens: Common & { method: 'lens' };
  /**
   * The explained number as an exact sum of the outputs of embeddings, heads and feed-forward
   * networks, with the scales of norms frozen. `effects` adds how much the number falls without each
   * of them.
   */
  ledger: Common & { method: 'ledger'; label?: string | undefined; effects?: boolean | undefined };
  /**
   * Activation patching between two texts, `{ text, pair }`: how the answer to the first changes if
   * a vector is replaced by that of the second text, for every layer and token.
   */
  transplant: Common & {
    method: 'transplant';
    label?: string | undefined;
    site?:
      'residual' | 'attention' | 'feed_forward' | 'head' | 'query' | 'key' | 'value' | undefined;
    /** With site "head". */
    head?: number | undefined;
    /**
     * Called with the table before it is complete, for a model that was loaded with `gradients: true`
     * and `compute: 'f32'`. First, all changes are estimates: the gradient of the number with respect
     * to a vector, times the donor's vector minus the base's (attribution patching: Nanda 2023); NaN
     * for a token without a counterpart. Later, the first `done` changes, row by row, are measured. If
     * it throws, the call fails with `callback_failed`.
     */
    onProgress?: ((table: Explanations['transplant'] & { done: number }) => void) | undefined;
  };
  /**
   * Deletion and insertion curves of the text's words, in the order of token scores: those of a
   * method, or your own, one per token.
   */
  faithfulness: Common & {
    method: 'faithfulness';
    label?: string | undefined;
    of?:
      | 'rollout'
      | 'value_norms'
      | 'ledger'
      | 'gradient_times_input'
      | 'integrated_gradients'
      | 'relevance'
      | undefined;
    scores?: Float32Array | undefined;
    /** Number of random orders to compare with. Default: 20. */
    orders?: number | undefined;
    seed?: number | undefined;
  };
  /** The number without some attention edges; only with `compute: 'f32'`. */
  edges: Common & {
    method: 'edges';
    label?: string | undefined;
    edges: readonly AttentionEdge[];
    /** Removes edges before the softmax, so that others get their share, or after it. */
    cut?: 'scores' | 'weights' | undefined;
  };
  /**
   * A search for a small set of heads and edges that keeps the label and `least` of the number
   * (default: 0.8): Conmy et al. 2023; only with `compute: 'f32'`.
   */
  circuit: Common & { method: 'circuit'; least?: number | undefined };
  /**
   * The product of each token's embedding and the gradient of the explained number with respect to
   * it: Shrikumar et al. 2017. This and the next two methods need a model that was loaded with
   * `gradients: true` and `compute: 'f32'`.
   */
  gradient_times_input: Common & { method: 'gradient_times_input'; label?: string | undefined };
  /**
   * The same with the mean of the gradients on the way from zeros, which stand for no word, to the
   * embeddings: Sundararajan et al. 2017. The way has 64 steps. If the gap is larger than 2 %, it is
   * computed again with twice as many, up to 256.
   */
  integrated_gradients: Common & { method: 'integrated_gradients'; label?: string | undefined };
  /**
   * Attention weights times their gradients, positive parts only, multiplied through the layers:
   * Chefer et al. 2021. Not for linear attention.
   */
  relevance: Common & { method: 'relevance'; label?: string | undefined };
}

export type ExplainMethod = keyof ExplainOptions;

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
  lens: Explained<'lens'> & {
    /** The head's output before each layer, and after the last one. */
    layers: { label: string; scores: Record<string, number> }[];
    /** [L + 1, C] for the text, and [L + 1, T, C] for each token by itself. */
    logits: TracedTensor;
    tokenLogits: TracedTensor;
  };
  ledger: Explained<'ledger'> & {
    value: number;
    /** Names such as "layers.0.self_attn.head.3". */
    columns: string[];
    /** [T, columns] By the row that is written, and by the token that is read. Each sums to `value`. */
    written: TracedTensor;
    read: TracedTensor;
    /** With option `effects`: one per column. They do not sum to `value`. */
    effects?: number[];
  };
  transplant: Explained<'transplant'> & {
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
    /** [rows, cells] The change of the number. The residual stream has L + 1 rows, others have L. */
    delta: TracedTensor;
    /** The same as a share of donor - base; absent if the two differ by less than ½. */
    share?: TracedTensor;
  };
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

/** Two next tokens that are compared, by their ids. */
interface NextPair {
  token?: number | undefined;
  against?: number | undefined;
}

interface LedgerPair extends NextPair {
  effects?: boolean | undefined;
}

interface OfTensors {
  method: 'gradients';
  names: readonly string[];
  /** As in other calls, but not of scores and weights. The gradients are those of the patched run. */
  patch?: readonly Patch[] | undefined;
}

interface Baseline {
  /**
   * The id of the token whose embedding all others begin with, instead of zeros. A model with RMS
   * norms needs it: they remove the length of an embedding, so on the way from zeros almost all
   * changes near zero, and the gap is large.
   */
  baselineToken?: number | undefined;
}

/** A token of an answer. */
interface AnswerPlace {
  beams?: number | undefined;
  position?: number | undefined;
  prefix?: readonly number[] | undefined;
}

/** A token of a translation. */
interface Place extends AnswerPlace {
  sentence?: number | undefined;
}

/** The options of each method for translations. */
export interface ExplainTranslationOptions {
  /** Attention rollout over target and source. */
  rollout: Common & LanguagePair & { method: 'rollout'; beams?: number | undefined };
  /** The next tokens as predicted from each decoder layer: the `words` most probable. Default: 5. */
  lens: Common &
    LanguagePair & {
      method: 'lens';
      beams?: number | undefined;
      words?: number | undefined;
    };
  /** The translation as decoded from each encoder layer: Langedijk et al. 2023. */
  decoder_lens: Common & LanguagePair & { method: 'decoder_lens'; beams?: number | undefined };
  /**
   * Why the translation of a `sentence` has its token at `position` (both from 0, default: 0): the
   * difference of its logit and another token's, as an exact sum. `token` and `against` are ids.
   * Default: the token of the translation, and the most probable other one. `prefix` has the ids
   * that the translation must begin with; the default position is then the token after them.
   * `effects` adds how much the number falls without each column.
   */
  ledger: Common & LanguagePair & LedgerPair & Place & { method: 'ledger' };
  /**
   * The gradients of the number that `ledger` explains, with respect to the tensors with these names
   * ("*" matches any characters except dots). This and the next three methods need a model that was
   * loaded with `gradients: true` and `compute: 'f32'`, whose decoder has self-attention.
   */
  gradients: Common & LanguagePair & NextPair & Place & OfTensors;
  /** As for a classifier. */
  gradient_times_input: Common &
    LanguagePair &
    NextPair &
    Place & { method: 'gradient_times_input' };
  /** As for a classifier, for the tokens that were read and those of the source. */
  integrated_gradients: Common &
    LanguagePair &
    NextPair &
    Place &
    Baseline & { method: 'integrated_gradients' };
  /** Chefer et al. 2021, for an encoder with a decoder. */
  relevance: Common & LanguagePair & NextPair & Place & { method: 'relevance' };
}

export type ExplainTranslationMethod = keyof ExplainTranslationOptions;

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
  ledger: ExplainedToken<'ledger'> &
    Pick<Explanations['ledger'], 'value' | 'columns' | 'effects' | 'written' | 'read'>;
  /** By the names of tensors. The rows of the decoder are the tokens that it had read. */
  gradients: ExplainedToken<'gradients'> & { gradients: Record<string, TracedTensor> };
  gradient_times_input: ExplainedToken<'gradient_times_input'> & {
    /** [T + S] For each row of the ledger. */
    scores: number[];
  };
  /** `scores` [T + S] are those of the rows of the ledger. */
  integrated_gradients: ExplainedToken<'integrated_gradients'> & IntegratedParts;
  relevance: ExplainedToken<'relevance'> & {
    /** [T + S] For each row of the ledger; never negative. */
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

/** The options of each method for models that continue texts. The text is read as by `next`. */
export interface ExplainGenerationOptions {
  /** As for a classifier, for the last token, after which the next one is generated. */
  rollout: Common & { method: 'rollout' };
  value_norms: Common & { method: 'value_norms' };
  /** The next tokens as predicted from each layer: the `words` most probable. Default: 5. */
  lens: Common & { method: 'lens'; words?: number | undefined };
  /**
   * The difference between the logits of two next tokens, as an exact sum. `token` and `against` are
   * ids. Default: the two most probable. `effects` adds how much the number falls without each
   * column.
   */
  ledger: Common & LedgerPair & { method: 'ledger' };
  /**
   * The gradients of the same difference, with respect to the tensors with these names ("*" matches
   * any characters except dots). This and the next three methods need a model that was loaded with
   * `gradients: true` and `compute: 'f32'`. They also explain a model with an encoder: the token of
   * its answer at `position` (from 0, default: 0), or the token after the ids in `prefix`, with which
   * the answer then begins.
   */
  gradients: Common & NextPair & AnswerPlace & OfTensors;
  /** As for a classifier, for the same difference. */
  gradient_times_input: Common & NextPair & AnswerPlace & { method: 'gradient_times_input' };
  integrated_gradients: Common &
    NextPair &
    AnswerPlace &
    Baseline & { method: 'integrated_gradients' };
  relevance: Common & NextPair & AnswerPlace & { method: 'relevance' };
}

export type ExplainGenerationMethod = keyof ExplainGenerationOptions;

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
  ledger: Omit<Explanations['ledger'], 'label'> & ComparedTokens;
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

/** All options of all methods. */
export type AllOptions<Methods> = Record<KeyOf<Methods[keyof Methods]>, unknown>;
type KeyOf<Options> = Options extends unknown ? keyof Options : never;
