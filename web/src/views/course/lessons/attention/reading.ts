import type { Classifier, Token, TracedTensor } from 'glassformer';
import { fraction } from '../../../../ui/text/format.ts';
import { dot, indexOfLargest, labelsOf, row, softmax } from '../../pictures/vectors.ts';

/** The layer that is shown, from 0. */
export const layer = 1;
const at = `encoder.layers.${layer}.self_attn`;

export interface AttentionLive {
  text: string;
  tokens: readonly Token[];
  labels: readonly string[];
  /** The head, from 0. */
  head: number;
  heads: number;
  dHead: number;
  dModel: number;
  /** The normalized input of the layer, [tokens, d_model]. */
  x: TracedTensor;
  /** One head's rows, [tokens, d_head]. */
  q: Float32Array;
  k: Float32Array;
  v: Float32Array;
  /** Attention weights and context of the head, as the model computed them. */
  weights: Float32Array;
  context: Float32Array;
  /** The query that the lesson asks about, and the key that it attends to most. */
  asked: number;
  most: number;
  /** The first row of W_Q of this head and its bias, for one product written out. */
  wq: Float32Array;
  bq: number;
}

/** Returns one head of [tokens, heads, width] as [tokens, width]. */
export function headOf({ shape, data }: TracedTensor, head: number): Float32Array {
  const [count = 0, heads = 0, width = 0] = shape;
  const own = new Float32Array(count * width);
  for (let i = 0; i < count; i++) {
    const start = (i * heads + head) * width;
    own.set(data.subarray(start, start + width), i * width);
  }
  return own;
}

export const rowAt = (matrix: Float32Array, index: number, width: number): Float32Array =>
  matrix.subarray(index * width, (index + 1) * width);

/** Returns a query's scores and weights, recomputed from the rows of q and k. */
export function recomputed({ q, k, dHead, labels }: AttentionLive, query: number) {
  const scores = Float32Array.from(
    labels,
    (_, key) => dot(rowAt(q, query, dHead), rowAt(k, key, dHead)) / Math.sqrt(dHead),
  );
  return { scores, weights: softmax(scores) };
}

export async function readAttention(
  model: Classifier,
  text: string,
  head: number,
  signal: AbortSignal,
): Promise<AttentionLive> {
  const names = ['q', 'k', 'v', 'weights', 'context'].map((part) => `${at}.${part}`);
  const input = `${at}_layer_norm`;
  const { nHeads, dHead } = model.architecture.encoder!.layers[0]!;
  const first = head * dHead;
  const [{ tokens, trace }, wq, bq] = await Promise.all([
    model.classify(text, { trace: [input, ...names], signal }),
    model.weights.row(`${at}.q_proj.weight`, first),
    model.weights.row(`${at}.q_proj.bias`, first),
  ]);
  const [q, k, v, weights, context] = names.map((name) => trace[name]!) as [
    TracedTensor,
    TracedTensor,
    TracedTensor,
    TracedTensor,
    TracedTensor,
  ];
  const count = tokens.length;
  const own = weights.data.slice(head * count * count, (head + 1) * count * count);
  // The word that attends most to another token.
  const strongest = tokens.map((token, query) => {
    if (!/\p{L}{2}/u.test(token.text)) return -1;
    const row = rowAt(own, query, count);
    return indexOfLargest(row) === query ? -0.5 : Math.max(...row);
  });
  const asked = indexOfLargest(strongest);
  return {
    text,
    tokens,
    labels: labelsOf(text, tokens),
    head,
    heads: nHeads,
    dHead,
    dModel: trace[input]!.shape[1]!,
    x: trace[input]!,
    q: headOf(q, head),
    k: headOf(k, head),
    v: headOf(v, head),
    weights: own,
    context: headOf(context, head),
    asked,
    most: indexOfLargest(rowAt(own, asked, count)),
    wq,
    bq: bq[0]!,
  };
}

/** The ratio of a query’s two largest weights, as four rules would have it. */
export interface Ratio {
  /** The key with the second largest weight; undefined if the text has one token. */
  second: number | undefined;
  /** The scores of both keys. */
  scores: readonly [number, number];
  choices: readonly string[];
  right: number;
}

/** A weight is proportional to e to the power of the score, so the ratio is e to the difference. */
export function ratioFor(live: AttentionLive): Ratio {
  const { asked, most, labels } = live;
  const { scores } = recomputed(live, asked);
  const others = labels.map((_, key) => key).filter((key) => key !== most);
  if (others.length === 0) {
    const choices = ['None: there is no other token to compare with', 'All of it', 'Half of it'];
    return { second: undefined, scores: [scores[most]!, scores[most]!], choices, right: 1 };
  }
  const second = others.reduce((best, key) => (scores[key]! > scores[best]! ? key : best));
  const difference = scores[most]! - scores[second]!;
  const times = (value: number, rule: string) => `${fraction(value)} times: ${rule}`;
  const choices = [
    'As much: a token attends to all tokens alike',
    times(difference, 'the difference of the scores'),
    times(Math.exp(difference), 'e to the power of the difference'),
    times(10 ** difference, '10 to the power of the difference'),
  ];
  return { second, scores: [scores[most]!, scores[second]!], choices, right: 2 };
}

/** The sum that makes the first number of a token's query: its largest terms, and the rest. */
export function firstProduct({ x, wq, bq }: AttentionLive, token: number) {
  const own = row(x, token);
  const terms = Array.from(own, (value, i) => ({ i, x: value, w: wq[i]!, value: value * wq[i]! }));
  const sum = dot(own, wq) + bq;
  terms.sort((a, b) => Math.abs(b.value) - Math.abs(a.value));
  return { terms: terms.slice(0, 3), rest: terms.length - 3, sum };
}
