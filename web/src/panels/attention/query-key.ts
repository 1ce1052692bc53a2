/** One attention score, dimension by dimension: a query's numbers times a key's. */
import type { TracedTensor } from 'glassformer';
import type { AttentionKind, HeadPosition } from '../heads/position.ts';
import type { Cell } from './attention.ts';

export type Trace = Readonly<Record<string, TracedTensor>>;

/** Returns the names of the tensors to trace: q, k and the scores of all heads of a layer. */
export function namesFor(attention: AttentionKind, layer: number): string[] {
  const stack = attention === 'encoder' ? 'encoder' : 'decoder';
  const block = attention === 'cross' ? 'encoder_attn' : 'self_attn';
  return ['q', 'k', 'scores'].map((part) => `${stack}.layers.${layer}.${block}.${part}`);
}

export interface QueryKey {
  /** The query and key vectors, [d_head] each. */
  q: Float32Array;
  k: Float32Array;
  /** The elementwise product of q and k. */
  products: Float32Array;
  /** The sum of the products. */
  sum: number;
  /** The sum over √d_head. */
  scaled: number;
  /** The model's own score; −∞ if the key is masked. */
  score: number;
  /** The number of keys that are not masked, and the softmax of the score over them. */
  seen: number;
  weight: number;
}

/** Returns undefined if the trace has no such pair, such as while another text is being read. */
export function queryKeyOf(
  trace: Trace,
  attention: AttentionKind,
  { layer, head }: HeadPosition,
  { query, key }: Cell,
): QueryKey | undefined {
  const [q, k, scores] = namesFor(attention, layer).map((name) => trace[name]);
  if (!q || !k || !scores) return undefined;
  const [queries = 0, heads = 0, size = 0] = q.shape;
  const keys = k.shape[0] ?? 0;
  if (query >= queries || key >= keys || head >= heads) return undefined;
  const partOf = (data: Float32Array, token: number) => {
    const start = (token * heads + head) * size;
    return data.subarray(start, start + size);
  };
  const [own, other] = [partOf(q.data, query), partOf(k.data, key)];
  const products = own.map((value, i) => value * other[i]!);
  const sum = products.reduce((total, value) => total + value, 0);
  const start = (head * queries + query) * keys;
  const row = scores.data.subarray(start, start + keys);
  const most = row.reduce((a, b) => Math.max(a, b), -Infinity);
  const total = row.reduce((all, score) => all + Math.exp(score - most), 0);
  return {
    q: own,
    k: other,
    products,
    sum,
    scaled: sum / Math.sqrt(size),
    score: row[key]!,
    seen: row.reduce((count, score) => count + Number(score !== -Infinity), 0),
    weight: Math.exp(row[key]! - most) / total,
  };
}

/** Differences up to this share of a score are rounding to 8-bit integers. */
const rounding = 0.05;

/**
 * Returns how the model's score differs from q · k: not visibly, by rounding, or by more. Some
 * models do not divide by √d_head, or add a bias for the distance.
 */
export function differenceIn({ scaled, score }: QueryKey): 'none' | 'rounding' | 'more' {
  const apart = Math.abs(score - scaled);
  if (score === -Infinity || apart < 2e-5 * (1 + Math.abs(scaled))) return 'none';
  return apart <= rounding * (1 + Math.abs(scaled)) ? 'rounding' : 'more';
}
