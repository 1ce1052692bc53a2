/** Ways to score a text's tokens, which the page sets side by side. */
import type { Classification, Explanations } from 'glassformer';

export interface Method {
  name: string;
  /** What it adds up. */
  note: string;
  /** Whether its numbers are for or against the answer; others only say how much. */
  signed: boolean;
}

/** Takes out one word at a time; the test that all methods are put to takes out many. */
export const leaveOneOut: Method = {
  name: 'Leaving it out',
  note: 'one word at a time: −Δ, how far the answer’s log-odds fall without it',
  signed: true,
};

/** What scores are made of. */
export interface Findings {
  ledger: Explanations['ledger'];
  valueNorms: Explanations['value_norms'];
  rollout: Explanations['rollout'];
  /** With its attention. */
  result: Classification<true>;
}

interface Scoring extends Method {
  /** One number a token, of the answer explained. */
  scores: (findings: Findings) => Float32Array;
}

/** In the order in which they stand. */
export const scorings: readonly Scoring[] = [
  {
    name: 'Ledger, token read',
    note: 'its part of the sum, where heads read it',
    signed: true,
    scores: ({ ledger }) => rowSums(ledger.read),
  },
  {
    name: 'Ledger, row written',
    note: 'its part of the sum, where it was written',
    signed: true,
    scores: ({ ledger }) => rowSums(ledger.written),
  },
  {
    name: 'Rollout',
    note: 'attention, multiplied through the layers',
    signed: false,
    scores: ({ rollout }) => Float32Array.from(rollout.scores),
  },
  {
    name: 'Value norms',
    note: 'attention times the length of what is moved',
    signed: false,
    scores: ({ valueNorms }) => Float32Array.from(valueNorms.scores),
  },
  {
    name: 'Last attention',
    note: 'what the last layer looks at, all heads’ mean',
    signed: false,
    scores: ({ result }) => received(result, result.attention.encoder.layers - 1),
  },
  {
    name: 'All attention',
    note: 'what is looked at, all layers’ mean',
    signed: false,
    scores: ({ result }) => received(result, 0),
  },
];

/** How much each token is looked at by a mean token and head, from a layer on. */
function received({ attention }: Classification<true>, first: number): Float32Array {
  const { layers, heads, keys, queries } = attention.encoder;
  const sums = new Float32Array(keys);
  const share = 1 / ((layers - first) * heads * queries);
  for (let layer = first; layer < layers; layer++)
    for (let head = 0; head < heads; head++)
      attention.encoder.at(layer, head).forEach((weight, i) => (sums[i % keys]! += weight * share));
  return sums;
}

function rowSums({ shape, data }: Explanations['ledger']['read']): Float32Array {
  const [rows = 0, columns = 0] = shape;
  return Float32Array.from({ length: rows }, (_, row) =>
    data.subarray(row * columns, (row + 1) * columns).reduce((sum, value) => sum + value, 0),
  );
}

/** A number of each word as one of each token. */
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
 * The rows more than two standard deviations above random orders, and the others, each with the best
 * first. `bar` is the score where that begins.
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
