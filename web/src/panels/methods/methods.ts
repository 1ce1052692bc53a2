/** Methods that score a text's tokens, and their results in the deletion and insertion test. */
import type { Explanations } from 'glassformer';

export interface Method {
  name: string;
  /** A short description of the score. */
  note: string;
  /** Whether scores have a sign, for or against the answer. */
  signed: boolean;
}

export interface MethodRow {
  method: Method;
  /** One score per token, for the answer. */
  scores: Float32Array;
  /** The score of the test: insertion minus deletion. */
  faithfulness: number;
  /** How exact the scores are, if they are approximate. */
  exactness?: string;
}

/** The rows that are there. */
export interface Compared {
  /** Leave-one-out first, then the other methods. */
  rows: readonly MethodRow[];
  /** The scores of random orders, which are computed last. */
  random: Explanations['faithfulness']['random'] | undefined;
}

/** The test runs for each method and for random orders: longer texts would take too long. */
export const longestForComparison = 128;
export const randomOrders = 20;

/** Removes one word at a time, while the test of all methods removes many. */
export const leaveOneOut: Method = {
  name: 'Leaving it out',
  note: 'the effect of one word at a time: the answer’s log-odds with it minus without it',
  signed: true,
};

/** The methods that score the tokens of any model's text, by the package's names. */
export const scoringMethods = {
  gradient_times_input: {
    name: 'Gradient × input',
    note: 'each number of its embedding, times how much the answer changes with that number',
    signed: true,
  },
  integrated_gradients: {
    name: 'Integrated gradients',
    note: 'the same, with the mean change on the way from zeros to the embeddings',
    signed: true,
  },
  relevance: {
    name: 'Relevance',
    note: 'attention weights times how much the answer changes with each, where that is positive, multiplied through the layers',
    signed: false,
  },
  attn_lrp: {
    name: 'AttnLRP',
    note: 'what is passed back to its embedding by a rule for each kind of layer, half of it through where heads look',
    signed: true,
  },
  cp_lrp: {
    name: 'CP-LRP',
    note: 'the same with attention weights as constants: only what heads carry counts',
    signed: true,
  },
  rollout: {
    name: 'Rollout',
    note: 'attention weights, multiplied through the layers',
    signed: false,
  },
  value_zeroing: {
    name: 'Value zeroing',
    note: 'how much other words’ states turn away without its value, multiplied through the layers',
    signed: false,
  },
} as const satisfies Record<string, Method>;

/** That which no model that writes has. */
export const valueMethods = {
  value_norms: {
    name: 'Value norms',
    note: 'attention weight times the length of the value',
    signed: false,
  },
} as const satisfies Record<string, Method>;

export type ScoringMethod = keyof typeof scoringMethods | 'direct_logit_attribution';

export const ledgerRead: Method = {
  name: 'Ledger, token read',
  note: 'its share of the sum, counted where heads read it',
  signed: true,
};

export function rowSums({
  shape,
  data,
}: Explanations['direct_logit_attribution']['read']): Float32Array {
  const [rows = 0, columns = 0] = shape;
  return Float32Array.from({ length: rows }, (_, row) =>
    data.subarray(row * columns, (row + 1) * columns).reduce((sum, value) => sum + value, 0),
  );
}

/** Spreads values per word to values per token. */
export function byToken(
  ofWords: readonly number[],
  words: readonly (readonly number[])[],
  tokens: number,
): Float32Array {
  const values = new Float32Array(tokens);
  words.forEach((word, i) => word.forEach((token) => (values[token] = ofWords[i]!)));
  return values;
}

/**
 * Splits the rows into those more than two standard deviations above random orders and the others,
 * each with the best first. `bar` is that threshold.
 */
export function againstRandom<Row extends { faithfulness: number }>(
  rows: readonly Row[],
  { mean, deviation }: { mean: number; deviation: number },
): { bar: number; above: Row[]; others: Row[] } {
  const bar = mean + 2 * deviation;
  const sorted = [...rows].sort((a, b) => b.faithfulness - a.faithfulness);
  const isAbove = ({ faithfulness }: Row) => faithfulness > bar;
  return { bar, above: sorted.filter(isAbove), others: sorted.filter((row) => !isAbove(row)) };
}
