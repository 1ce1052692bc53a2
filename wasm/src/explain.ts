import { encodeExplanation } from './encode.js';
import type { ModelHandle } from './handle.js';
import type { TextInput } from './inputs.js';
import type { ModelInfo, Token, TracedTensor } from './types.js';

/** What an explanation is of, and how its call ends. */
interface Common {
  /** Aborts the call between two steps. */
  signal?: AbortSignal | undefined;
}

/** An arrow of attention: in this layer and head, this query token no longer sees this key. */
export interface AttentionEdge {
  layer: number;
  head: number;
  query: number;
  key: number;
}

/** What each method may be asked. All explain the model's answer where there is no `label`. */
export interface ExplainOptions {
  /** Attention rollout: Abnar and Zuidema 2020. */
  rollout: Common & { method: 'rollout' };
  /** Value-weighted attention: Kobayashi et al. 2020. */
  value_norms: Common & { method: 'value_norms' };
  /** The verdict as the model's head reads it from each layer. */
  lens: Common & { method: 'lens' };
  /**
   * The number explained as an exact sum of what embeddings, heads and feed-forward blocks write,
   * norms' scales frozen. `effects`: also how much the number falls without each of them.
   */
  ledger: Common & { method: 'ledger'; label?: string | undefined; effects?: boolean | undefined };
  /**
   * Activation patching of two texts, `{ text, pair }`: how the answer to the first moves with a
   * vector of the second's run in its place, for every layer and token.
   */
  transplant: Common & {
    method: 'transplant';
    label?: string | undefined;
    site?: 'residual' | 'attention' | 'feed_forward' | 'head' | undefined;
    /** With site "head". */
    head?: number | undefined;
  };
  /**
   * Deletion and insertion curves of the text's words in the order of some token scores: those of a
   * method, or your own, one a token.
   */
  faithfulness: Common & {
    method: 'faithfulness';
    label?: string | undefined;
    of?: 'rollout' | 'value_norms' | 'ledger' | undefined;
    scores?: Float32Array | undefined;
    /** Random orders to compare with; 20 by default. */
    orders?: number | undefined;
    seed?: number | undefined;
  };
  /** What is left of the number without some arrows; not with `compute: 'int8'`. */
  edges: Common & {
    method: 'edges';
    label?: string | undefined;
    edges: readonly AttentionEdge[];
    /** Take an arrow out before the softmax, so that others get its share, or after it. */
    cut?: 'scores' | 'weights' | undefined;
  };
  /**
   * A search for few heads and arrows that keep the label and `least` of the number (0.8 by
   * default): Conmy et al. 2023; not with `compute: 'int8'`.
   */
  circuit: Common & { method: 'circuit'; least?: number | undefined };
}

export type ExplainMethod = keyof ExplainOptions;

/** What every explanation of a classifier's answer has. */
interface Explained<Method> {
  method: Method;
  /** The label that the number explained is for. */
  label: string;
  tokens: Token[];
  /** Whether the text was longer than the model reads. */
  clipped: boolean;
}

/** An order of words, tested. */
export interface OrderTest {
  /** Mean of insertion minus that of deletion: the higher, the better the order. */
  score: number;
  /** The number without the first words, and with these alone. */
  deletion: number[];
  insertion: number[];
  comprehensiveness: number[];
  sufficiency: number[];
}

/**
 * What each method gives. The number that is explained is made of logits: of two labels the
 * log-odds, of more the label's logit above the mean of all, of one its logit. Of T tokens, L layers,
 * H heads, C labels.
 */
export interface Explanations {
  rollout: Explained<'rollout'> & {
    scores: number[];
    /** [T, T] row i: what token i's last state is a mixture of. */
    rollout: TracedTensor;
  };
  value_norms: Explained<'value_norms'> & {
    scores: number[];
    /** [L, H, T, T] ‖αf(x)‖ of each head, and [L, 1, T, T] of all heads together. */
    heads: TracedTensor;
    layers: TracedTensor;
  };
  lens: Explained<'lens'> & {
    /** What the head reads before each layer, and after the last. */
    layers: { label: string; scores: Record<string, number> }[];
    /** [L + 1, C] of the text, and [L + 1, T, C] of each token alone. */
    logits: TracedTensor;
    tokenLogits: TracedTensor;
  };
  ledger: Explained<'ledger'> & {
    value: number;
    /** Such as "layers.0.self_attn.head.3". */
    columns: string[];
    /** [T, columns] by the row that is written, and by the token that is read; each sums to `value`. */
    written: TracedTensor;
    read: TracedTensor;
    /** With option `effects`, one a column; they do not add up. */
    effects?: number[];
  };
  transplant: Explained<'transplant'> & {
    donorTokens: Token[];
    /** Of each of the first text's tokens, the second's that it is paired with. */
    donorOf: (number | null)[];
    /** The position that each token was given: the same for both of a pair. */
    baseColumns: number[];
    donorColumns: number[];
    /** Cells are tokens; of long texts words or sentences. */
    cells: { tokens: number[]; unpaired: boolean }[];
    /** The number, of both texts as aligned, and with their own positions. */
    base: number;
    donor: number;
    plainBase: number;
    plainDonor: number;
    /** [rows, cells] how far the number moves; L + 1 rows of the residual stream, else L. */
    delta: TracedTensor;
    /** The same as a share of donor - base; absent where the two are less than ½ apart. */
    share?: TracedTensor;
  };
  faithfulness: Explained<'faithfulness'> & {
    /** The tokens of each word. */
    words: number[][];
    value: number;
    /** Words that are left out, or put in, at each point of the curves. */
    counts: number[];
    order: OrderTest;
    /** The ceiling: it shares the operation that the test is made of. */
    leaveOneOut: OrderTest;
    /** What is lost without each word. */
    losses: number[];
    random: { mean: number; deviation: number; scores: number[] };
  };
  edges: Explained<'edges'> & {
    value: number;
    /** The number without all of them, and without each alone. */
    without: number;
    alone: number[];
  };
  circuit: Explained<'circuit'> & {
    value: number;
    /** The number of the circuit alone, and of no head at all. */
    kept: number;
    nothing: number;
    faithfulness: number;
    heads: { layer: number; head: number }[];
    edges: AttentionEdge[];
  };
}

interface LedgerPair {
  token?: number | undefined;
  against?: number | undefined;
  effects?: boolean | undefined;
}

/** What a translator may be asked. */
export interface ExplainTranslationOptions {
  /** Rollout over target and source. */
  rollout: Common & { method: 'rollout'; beams?: number | undefined };
  /** The next words as read from each of the decoder's layers; `words` of them, 5 by default. */
  lens: Common & {
    method: 'lens';
    beams?: number | undefined;
    words?: number | undefined;
  };
  /** The translation as read from each of the encoder's layers: Langedijk et al. 2023. */
  decoder_lens: Common & { method: 'decoder_lens'; beams?: number | undefined };
  /**
   * Why the translation of a `sentence` has its token at `position` (both from 0, both 0 by
   * default): how far its logit is ahead of another's, as an exact sum. Ids: `token` by default the
   * one that stands there, `against` the likeliest other. With `prefix`, ids that the translation
   * begins with, it is by default the token after these. `effects`: also how much the number falls
   * without each column.
   */
  ledger: Common &
    LedgerPair & {
      method: 'ledger';
      beams?: number | undefined;
      sentence?: number | undefined;
      position?: number | undefined;
      prefix?: readonly number[] | undefined;
    };
}

export type ExplainTranslationMethod = keyof ExplainTranslationOptions;

interface ExplainedSentence {
  /** Where it lies in the input. */
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

/** What each method gives of a translation of T output tokens from S source tokens. */
export interface TranslationExplanations {
  /** [T, T + S] row i: the mixture of target and source that output token i was read from. */
  rollout: ExplainedTranslation<'rollout', { rollout: TracedTensor }>;
  /** For each layer and output token the likeliest next words. */
  lens: ExplainedTranslation<'lens', { layers: Guess[][][] }>;
  /** One translation a layer. */
  decoder_lens: ExplainedTranslation<'decoder_lens', { layers: { text: string; score: number }[] }>;
  /**
   * Of one sentence. Rows are the `position` + 1 tokens that the decoder had read, the start token
   * first, then the source's. Columns also "layers.0.encoder_attn.head.3", whose part by the token
   * that is read is the source's; of a recurrent unit "layers.0.self_attn".
   */
  ledger: ExplainedSentence &
    Pick<
      Explanations['ledger'],
      'method' | 'value' | 'columns' | 'effects' | 'written' | 'read'
    > & {
      sentence: number;
      position: number;
      token: Guess;
      against: Guess;
    };
}

/** A token that may come next. */
export interface Guess {
  id: number;
  text: string;
  /** Natural logarithm of the probability that the model gives it. */
  logprob: number;
}

/** What a model that continues texts may be asked. It reads a text as `next` does. */
export interface ExplainGenerationOptions {
  /** As of a classifier, for the last token, behind which the next one is written. */
  rollout: Common & { method: 'rollout' };
  value_norms: Common & { method: 'value_norms' };
  /** The next words as read from each layer; `words` of them, 5 by default. */
  lens: Common & { method: 'lens'; words?: number | undefined };
  /**
   * How far one next token is ahead of another, the difference of their logits, as an exact sum.
   * Both are ids: by default the two likeliest. `effects`: also how much the number falls without
   * each column.
   */
  ledger: Common & LedgerPair & { method: 'ledger' };
}

export type ExplainGenerationMethod = keyof ExplainGenerationOptions;

/** What each method gives of a text of T tokens. */
export interface GenerationExplanations {
  rollout: Omit<Explanations['rollout'], 'label'>;
  value_norms: Omit<Explanations['value_norms'], 'label'>;
  /** Before each layer and after the last, for each token the likeliest that may follow it. */
  lens: Pick<Explanations['rollout'], 'tokens' | 'clipped'> & {
    method: 'lens';
    layers: Guess[][][];
  };
  /** The last row alone is written to; by the token that is read, its heads have their parts. */
  ledger: Omit<Explanations['ledger'], 'label'> & { token: Guess; against: Guess };
}

export const explainOptions = [
  ...['method', 'label', 'effects', 'site', 'head', 'of', 'scores', 'orders', 'seed'],
  ...['edges', 'cut', 'least', 'signal'],
];
export const explainGenerationOptions = [
  ...['method', 'words', 'token', 'against', 'effects', 'signal'],
];
export const explainTranslationOptions = [
  ...explainGenerationOptions,
  ...['beams', 'sentence', 'position', 'prefix'],
];

/** An explanation of the model's answer to one text, or to two. */
export async function explain<Result>(
  model: ModelHandle<ModelInfo>,
  input: TextInput,
  options: Common & { method: string; scores?: unknown },
  known: readonly string[],
): Promise<Result> {
  const encoded = encodeExplanation(options, known);
  return (await model.results<Result>([input], encoded, options.signal))[0]!;
}
