/** Reading one head's attention: a row-major [queries, keys] array of weights. */

export interface Matrix {
  weights: Float32Array;
  queries: number;
  keys: number;
}

export interface Cell {
  query: number;
  key: number;
}

export function weightAt({ weights, keys }: Matrix, { query, key }: Cell): number {
  return weights[query * keys + key] ?? 0;
}

export function largestWeight({ weights }: Matrix): number {
  let max = 0;
  for (const weight of weights) if (weight > max) max = weight;
  return max;
}

/** The cell of the largest weight. */
export function strongestCell({ weights, keys }: Matrix): Cell {
  let best = 0;
  for (let i = 1; i < weights.length; i++) if (weights[i]! > weights[best]!) best = i;
  return { query: Math.floor(best / keys), key: best % keys };
}

/** Mean over the queries of what each key receives: [keys]. The peaks are attention's sinks. */
export function received({ weights, queries, keys }: Matrix): Float32Array {
  const mean = new Float32Array(keys);
  for (let q = 0; q < queries; q++)
    for (let k = 0; k < keys; k++) mean[k]! += weights[q * keys + k]! / queries;
  return mean;
}

/**
 * Shrinks a matrix to at most `size` × `size` by keeping the largest weight of each block: a thin
 * line stays visible, which averaging would wash out.
 */
export function shrink({ weights, queries, keys }: Matrix, size: number): Matrix {
  if (queries <= size && keys <= size) return { weights, queries, keys };
  const rows = Math.min(queries, size);
  const columns = Math.min(keys, size);
  const out = new Float32Array(rows * columns);
  const column = Uint16Array.from({ length: keys }, (_, k) => Math.floor((k * columns) / keys));
  for (let q = 0; q < queries; q++) {
    const row = Math.floor((q * rows) / queries) * columns;
    for (let k = 0; k < keys; k++) {
      const at = row + column[k]!;
      const weight = weights[q * keys + k]!;
      if (weight > out[at]!) out[at] = weight;
    }
  }
  return { weights: out, queries: rows, keys: columns };
}

export interface Habit {
  /** In a few words: where the head looks. */
  words: string;
  /** Mean weight that goes there, 0 … 1. */
  share: number;
}

/**
 * What a self-attention head mostly does with this text: the one of a few simple habits that takes
 * the largest part of its attention, or none of them where none takes a third.
 */
export function habit(matrix: Matrix, names: readonly string[]): Habit {
  const { weights, queries, keys } = matrix;
  if (queries === 0) return { words: 'at nothing', share: 0 };
  const offset = (distance: number) => {
    let sum = 0;
    let count = 0;
    for (let q = 0; q < queries; q++) {
      const k = q + distance;
      if (k < 0 || k >= keys) continue;
      sum += weights[q * keys + k]!;
      count++;
    }
    return count > 0 ? sum / count : 0;
  };
  const columns = received(matrix);
  const sink = columns.reduce((best, weight, k) => (weight > columns[best]! ? k : best), 0);
  const habits: Habit[] = [
    { words: 'at the token itself', share: offset(0) },
    { words: 'at the token before', share: offset(-1) },
    { words: 'at the token after', share: offset(1) },
    { words: 'at the token two before', share: offset(-2) },
    { words: 'at the token two after', share: offset(2) },
    { words: `at “${names[sink] ?? ''}”`, share: columns[sink] ?? 0 },
  ];
  const best = habits.reduce((a, b) => (b.share > a.share ? b : a));
  return best.share >= 1 / 3 ? best : { words: 'at many tokens at once', share: best.share };
}
