/** Reading one head's attention: a row-major [queries, keys] array of weights. */
import type { AttentionMap } from 'glassformer';

export interface Matrix {
  weights: Float32Array;
  queries: number;
  keys: number;
  /** Query i sees keys 0 … i only: the others' weights are 0, and drawn as empty. */
  causal?: boolean;
}

/** One head's of a map, if it has such a head. */
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

/** Whether the query came before the key, and could not look at it. */
export function unseen({ causal }: Matrix, { query, key }: Cell): boolean {
  return causal === true && key > query;
}

export function weightAt({ weights, keys }: Matrix, { query, key }: Cell): number {
  return weights[query * keys + key] ?? 0;
}

export function largestWeight({ weights }: Matrix): number {
  let max = 0;
  // Iterating over 262,144 weights would take ten times as long.
  for (let i = 0; i < weights.length; i++) if (weights[i]! > max) max = weights[i]!;
  return max;
}

/** The cell of the largest weight. */
export function strongestCell({ weights, keys }: Matrix): Cell {
  let best = 0;
  for (let i = 1; i < weights.length; i++) if (weights[i]! > weights[best]!) best = i;
  return { query: Math.floor(best / keys), key: best % keys };
}

/** Where the last query looks most: of a text that is being written, the step that is on. */
export function lastCell({ weights, queries, keys }: Matrix): Cell {
  const row = { weights: weights.subarray((queries - 1) * keys), queries: 1, keys };
  return { query: queries - 1, key: strongestCell(row).key };
}

// By the weights: a map and what is said of it ask for the same.
const known = new WeakMap<Float32Array, Float32Array>();

/** Mean over the queries of what each key receives: [keys]. The peaks are attention's sinks. */
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
 * Shrinks a matrix to at most `size` × `size` by keeping the largest weight of each block: a thin
 * line stays visible, which averaging would wash out.
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

export interface Habit {
  /** In a few words: where the head looks. */
  words: string;
  /** Mean weight that goes there, 0 … 1. */
  share: number;
}

const nowhere: Habit = { words: 'at nothing', share: 0 };

/** The habit that takes the largest part, or none of them where none takes a third. */
function prevalent(habits: readonly Habit[]): Habit {
  const best = habits.reduce((a, b) => (b.share > a.share ? b : a));
  return best.share >= 1 / 3 ? best : { words: 'at many tokens at once', share: best.share };
}

/** Mean weight of the keys at a distance from the query, over the queries that have one. */
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

/** The key that receives most of all. */
function atSink(matrix: Matrix, names: readonly string[]): Habit {
  const columns = received(matrix);
  const sink = columns.reduce((best, weight, k) => (weight > columns[best]! ? k : best), 0);
  return { words: `at “${names[sink] ?? ''}”`, share: columns[sink] ?? 0 };
}

/** What a self-attention head of the encoder mostly does with this text. */
export function habit(matrix: Matrix, names: readonly string[]): Habit {
  if (matrix.queries === 0) return nowhere;
  return prevalent([
    { words: 'at the token itself', share: atDistance(matrix, 0) },
    { words: 'at the token before', share: atDistance(matrix, -1) },
    { words: 'at the token after', share: atDistance(matrix, 1) },
    { words: 'at the token two before', share: atDistance(matrix, -2) },
    { words: 'at the token two after', share: atDistance(matrix, 2) },
    atSink(matrix, names),
  ]);
}

/** The same of the decoder, whose column j is the token written before row j's. */
export function writingHabit(matrix: Matrix, names: readonly string[]): Habit {
  if (matrix.queries === 0) return nowhere;
  return prevalent([
    { words: 'at the token it wrote last', share: atDistance(matrix, 0) },
    { words: 'at the token before the last', share: atDistance(matrix, -1) },
    { words: 'at the token two before the last', share: atDistance(matrix, -2) },
    atSink(matrix, names),
  ]);
}

/** The same of cross-attention: where all rows look alike, or how far each picks out one token. */
export function crossHabit(matrix: Matrix, names: readonly string[]): Habit {
  const { weights, queries, keys } = matrix;
  if (queries === 0) return nowhere;
  const sink = atSink(matrix, names);
  if (sink.share >= 0.5) return sink;
  let picked = 0;
  for (let q = 0; q < queries; q++)
    picked += weights.subarray(q * keys, (q + 1) * keys).reduce((a, b) => Math.max(a, b), 0);
  return prevalent([sink, { words: 'at one source token a step', share: picked / queries }]);
}
