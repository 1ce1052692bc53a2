/** Functions on the attention weights of one head: a row-major [queries, keys] array. */
import type { AttentionMap } from 'glassformer';

export interface Matrix {
  weights: Float32Array;
  queries: number;
  keys: number;
  /** Query i attends only to keys 0 … i. The other weights are 0 and are drawn as empty cells. */
  causal?: boolean;
}

/** Returns one head of a map, or undefined if there is no such head. */
export function matrixIn(
  map: AttentionMap | undefined,
  { layer, head }: { layer: number; head: number },
  causal: boolean,
): Matrix | undefined {
  if (!map || layer >= map.layers || head >= map.heads) return undefined;
  const { queries, keys } = map;
  return { weights: map.at(layer, head), queries, keys, causal };
}

export interface Cell {
  query: number;
  key: number;
}

/** Whether the causal mask hides the key from the query. */
export function unseen({ causal }: Matrix, { query, key }: Cell): boolean {
  return causal === true && key > query;
}

export function weightAt({ weights, keys }: Matrix, { query, key }: Cell): number {
  return weights[query * keys + key] ?? 0;
}

export function largestWeight({ weights }: Matrix): number {
  let max = 0;
  // Iterating over 262,144 weights would be ten times slower.
  for (let i = 0; i < weights.length; i++) if (weights[i]! > max) max = weights[i]!;
  return max;
}

/** Returns the cell with the largest weight. */
export function strongestCell({ weights, keys }: Matrix): Cell {
  let best = 0;
  for (let i = 1; i < weights.length; i++) if (weights[i]! > weights[best]!) best = i;
  return { query: Math.floor(best / keys), key: best % keys };
}

/** Returns the largest weight of the last query: the latest step of a text being written. */
export function lastCell({ weights, queries, keys }: Matrix): Cell {
  const row = { weights: weights.subarray((queries - 1) * keys), queries: 1, keys };
  return { query: queries - 1, key: strongestCell(row).key };
}

// Cached by weights, because several parts of the page need the same means.
const known = new WeakMap<Float32Array, Float32Array>();

/** Returns the mean weight that each key receives: [keys]. The peaks are attention sinks. */
export function received(matrix: Matrix): Float32Array {
  let means = known.get(matrix.weights);
  if (!means) known.set(matrix.weights, (means = receivedBy(matrix)));
  return means;
}

function receivedBy({ weights, queries, keys }: Matrix): Float32Array {
  const sums = new Float64Array(keys);
  for (let q = 0, i = 0; q < queries; q++) for (let k = 0; k < keys; k++) sums[k]! += weights[i++]!;
  return Float32Array.from(sums, (sum) => sum / queries);
}

/**
 * Shrinks a matrix to at most `size` × `size` by keeping the largest weight of each block.
 * Averaging would wash out thin lines.
 */
export function shrink(matrix: Matrix, size: number): Matrix {
  const { weights, queries, keys } = matrix;
  if (queries <= size && keys <= size) return matrix;
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
  return { ...matrix, weights: out, queries: rows, keys: columns };
}
