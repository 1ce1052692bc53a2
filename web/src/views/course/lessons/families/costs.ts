/** What attention costs: multiplications by formula, and two kinds of it to measure. */
import { random } from '../../../../ui/random.ts';

/** The sizes of a layer. */
export interface Sizes {
  d: number;
  dHead: number;
  dFf: number;
}

/** The distance up to which local attention looks, to each side. */
export const window = 32;

/** The multiplications of one layer for n tokens, without softmax and norms. */
export interface Costs {
  /** Q, K, V, W_O and the feed-forward network. */
  rest: number;
  full: number;
  local: number;
  linear: number;
}

export function costsOf(n: number, { d, dHead, dFf }: Sizes): Costs {
  return {
    rest: n * (4 * d * d + 2 * d * dFf),
    full: 2 * n * n * d,
    local: 2 * n * Math.min(n, 2 * window + 1) * d,
    linear: 2 * n * d * (dHead + 1),
  };
}

/** The length at which full attention costs as much as the rest of the layer. */
export const evenAt = ({ d, dFf }: Sizes): number => 2 * d + dFf;

/** Random vectors [n, width], the same each time. */
export function randomRows(n: number, width: number, seed = 1): Float32Array {
  const draw = random(seed);
  return Float32Array.from({ length: n * width }, () => 2 * draw() - 1);
}

/** One head of full attention: every query with every key. */
export function fullAttention(
  q: Float32Array,
  k: Float32Array,
  v: Float32Array,
  width: number,
): Float32Array {
  const n = q.length / width;
  const out = new Float32Array(q.length);
  for (let i = 0; i < n; i++) {
    let sum = 0;
    for (let j = 0; j < n; j++) {
      let score = 0;
      for (let c = 0; c < width; c++) score += q[i * width + c]! * k[j * width + c]!;
      const weight = Math.exp(score / Math.sqrt(width));
      sum += weight;
      for (let c = 0; c < width; c++) out[i * width + c]! += weight * v[j * width + c]!;
    }
    for (let c = 0; c < width; c++) out[i * width + c]! /= sum;
  }
  return out;
}

const feature = (x: number) => (x > 0 ? x + 1 : Math.exp(x));

/** One head of linear attention: all keys and values are summed once, for all queries. */
export function linearAttention(
  q: Float32Array,
  k: Float32Array,
  v: Float32Array,
  width: number,
): Float32Array {
  const n = q.length / width;
  const out = new Float32Array(q.length);
  // [width, width + 1]; the last column is the normalizer.
  const state = new Float32Array(width * (width + 1));
  for (let j = 0; j < n; j++) {
    for (let c = 0; c < width; c++) {
      const key = feature(k[j * width + c]!);
      for (let e = 0; e < width; e++) state[c * (width + 1) + e]! += key * v[j * width + e]!;
      state[c * (width + 1) + width]! += key;
    }
  }
  const sums = new Float32Array(width + 1);
  for (let i = 0; i < n; i++) {
    sums.fill(0);
    for (let c = 0; c < width; c++) {
      const query = feature(q[i * width + c]!);
      for (let e = 0; e <= width; e++) sums[e]! += query * state[c * (width + 1) + e]!;
    }
    for (let e = 0; e < width; e++) out[i * width + e] = sums[e]! / sums[width]!;
  }
  return out;
}
