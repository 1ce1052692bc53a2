/** Describes in a few words which tokens a head attends to. */
import { received, type Matrix } from './attention.ts';

/**
 * The meaning of the keys of a matrix: the tokens of the queries, the tokens written before those of the
 * queries, or the tokens of a source text.
 */
export type Keys = 'tokens' | 'written' | 'source';

export interface Habit {
  /** The tokens the head attends to, in a few words that follow "attends". */
  words: string;
  /** The mean attention that goes there, 0 … 1. */
  share: number;
}

const nowhere: Habit = { words: 'to nothing', share: 0 };

/** Returns the habit with the largest share, or "many tokens" if none reaches a third. */
function prevalent(habits: readonly Habit[]): Habit {
  const best = habits.reduce((a, b) => (b.share > a.share ? b : a));
  return best.share >= 1 / 3 ? best : { words: 'to many tokens at once', share: best.share };
}

/** Returns the mean weight at a distance from the query, over all queries with such a key. */
function atDistance({ weights, queries, keys }: Matrix, distance: number): number {
  let sum = 0;
  let count = 0;
  for (let q = 0; q < queries; q++) {
    const k = q + distance;
    if (k < 0 || k >= keys) continue;
    sum += weights[q * keys + k]!;
    count++;
  }
  return count > 0 ? sum / count : 0;
}

/** Returns the key that receives the most attention. */
function atSink(matrix: Matrix, names: readonly string[]): Habit {
  const columns = received(matrix);
  const sink = columns.reduce((best, weight, k) => (weight > columns[best]! ? k : best), 0);
  return { words: `to “${names[sink] ?? ''}”`, share: columns[sink] ?? 0 };
}

/** Describes what an encoder's self-attention head mostly does in this text. */
function tokensHabit(matrix: Matrix, names: readonly string[]): Habit {
  if (matrix.queries === 0) return nowhere;
  return prevalent([
    { words: 'to the token itself', share: atDistance(matrix, 0) },
    { words: 'to the token before', share: atDistance(matrix, -1) },
    { words: 'to the token after', share: atDistance(matrix, 1) },
    { words: 'to the token two before', share: atDistance(matrix, -2) },
    { words: 'to the token two after', share: atDistance(matrix, 2) },
    atSink(matrix, names),
  ]);
}

/** Describes a decoder's self-attention head. Its column j is the token written before row j's. */
function writingHabit(matrix: Matrix, names: readonly string[]): Habit {
  if (matrix.queries === 0) return nowhere;
  return prevalent([
    { words: 'to the token written last', share: atDistance(matrix, 0) },
    { words: 'to the token before the last', share: atDistance(matrix, -1) },
    { words: 'to the token two before the last', share: atDistance(matrix, -2) },
    atSink(matrix, names),
  ]);
}

/** Describes a cross-attention head: one key for all rows, or one key per row. */
function crossHabit(matrix: Matrix, names: readonly string[]): Habit {
  const { weights, queries, keys } = matrix;
  if (queries === 0) return nowhere;
  const sink = atSink(matrix, names);
  if (sink.share >= 0.5) return sink;
  let picked = 0;
  for (let q = 0; q < queries; q++)
    picked += weights.subarray(q * keys, (q + 1) * keys).reduce((a, b) => Math.max(a, b), 0);
  return prevalent([sink, { words: 'to one source token per step', share: picked / queries }]);
}

/** Describes what a head of a view mostly does in its text. */
export function habitOf(
  { keys = 'tokens', keyLabels }: { keys?: Keys; keyLabels: readonly string[] },
  matrix: Matrix,
): Habit {
  const read = { tokens: tokensHabit, written: writingHabit, source: crossHabit }[keys];
  return read(matrix, keyLabels);
}
