/** The methods to score a text's tokens that the page compares. */
import type { Classification, Explanations } from 'glassformer';
import { finelySigned, signed } from '../../../ui/text/format.ts';

export interface Method {
  name: string;
  /** A short description of the score. */
  note: string;
  /** Whether scores have a sign, for or against the answer. */
  signed: boolean;
}

/** Removes one word at a time, while the test of all methods removes many. */
export const leaveOneOut: Method = {
  name: 'Leaving it out',
  note: 'the effect of one word at a time: the answer’s log-odds with it minus without it',
  signed: true,
};

/** The results that scores are computed from. */
export interface Findings {
  ledger: Explanations['direct_logit_attribution'];
  valueNorms: Explanations['value_norms'];
  valueZeroing: Explanations['value_zeroing'];
  rollout: Explanations['rollout'];
  gradientTimesInput: Explanations['gradient_times_input'];
  integratedGradients: Explanations['integrated_gradients'];
  relevance: Explanations['relevance'];
  /** The classification with its attention weights. */
  result: Classification<{ attention: true }>;
}

interface Scoring extends Method {
  /** One score per token, for the explained answer. */
  scores: (findings: Findings) => Float32Array;
  /** How exact the scores are, if they are approximate. */
  exactness?: (findings: Findings) => string;
}

/** The methods in the order of the page. */
export const scorings: readonly Scoring[] = [
  {
    name: 'Ledger, token read',
    note: 'its share of the sum, counted where heads read it',
    signed: true,
    scores: ({ ledger }) => rowSums(ledger.read),
  },
  {
    name: 'Ledger, row written',
    note: 'its share of the sum, counted where it was written',
    signed: true,
    scores: ({ ledger }) => rowSums(ledger.written),
  },
  {
    name: 'Gradient × input',
    note: 'each number of its embedding, times how much the answer changes with that number',
    signed: true,
    scores: ({ gradientTimesInput }) => Float32Array.from(gradientTimesInput.scores),
  },
  {
    name: 'Integrated gradients',
    note: 'the same, with the mean change on the way from zeros to the embeddings',
    signed: true,
    scores: ({ integratedGradients }) => Float32Array.from(integratedGradients.scores),
    exactness: ({ integratedGradients: { value, baseline, gap, steps } }) =>
      `gap ${finelySigned(gap)}: apart from it, the scores of ${steps} steps sum to ` +
      `${signed(value - baseline)}, the change from zeros to this text`,
  },
  {
    name: 'Relevance',
    note: 'attention weights times how much the answer changes with each, where that is positive, multiplied through the layers',
    signed: false,
    scores: ({ relevance }) => Float32Array.from(relevance.scores),
  },
  {
    name: 'Rollout',
    note: 'attention weights, multiplied through the layers',
    signed: false,
    scores: ({ rollout }) => Float32Array.from(rollout.scores),
  },
  {
    name: 'Value norms',
    note: 'attention weight times the length of the value',
    signed: false,
    scores: ({ valueNorms }) => Float32Array.from(valueNorms.scores),
  },
  {
    name: 'Value zeroing',
    note: 'how much other words’ states turn away without its value, multiplied through the layers',
    signed: false,
    scores: ({ valueZeroing }) => Float32Array.from(valueZeroing.scores),
  },
  {
    name: 'Last attention',
    note: 'attention received in the last layer, mean of its heads',
    signed: false,
    scores: ({ result }) => received(result, result.attention.encoder.layers - 1),
  },
  {
    name: 'All attention',
    note: 'attention received, mean of all layers and heads',
    signed: false,
    scores: ({ result }) => received(result, 0),
  },
];

/** Returns the mean attention weight that each token receives, from layer `first` on. */
function received({ attention }: Classification<{ attention: true }>, first: number): Float32Array {
  const { layers, heads, keys, queries } = attention.encoder;
  const sums = new Float32Array(keys);
  const share = 1 / ((layers - first) * heads * queries);
  for (let layer = first; layer < layers; layer++)
    for (let head = 0; head < heads; head++)
      attention.encoder.at(layer, head).forEach((weight, i) => (sums[i % keys]! += weight * share));
  return sums;
}

function rowSums({ shape, data }: Explanations['direct_logit_attribution']['read']): Float32Array {
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
