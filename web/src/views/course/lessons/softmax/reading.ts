import type { Classifier, Patch, TracedTensor } from 'glassformer';
import {
  evenness,
  indexOfLargest,
  labelsOf,
  softmax,
  verdictOf,
  type Verdict,
} from '../../pictures/vectors.ts';

export interface SoftmaxLive {
  labels: readonly string[];
  /** The head that is shown, from 0. */
  layer: number;
  head: number;
  dHead: number;
  /** The divisor that the model was trained with. */
  root: number;
  divisor: number;
  /** q · k of each query and key of the head, [tokens, tokens]. */
  products: Float32Array;
  /** The head's attention weights with the divisor, [tokens, tokens]. */
  weights: Float32Array;
  /** The token that the lesson asks about. */
  asked: number;
  /** How evenly all heads of the model attend, 0 … 1, with the divisor and with the usual one. */
  even: { now: number; usual: number };
  verdict: Verdict;
  usual: Verdict;
}

const scoresOf = (layer: number) => `encoder.layers.${layer}.self_attn.scores`;

/** Returns a row of one head of [heads, queries, keys]. */
export function keysOf({ shape, data }: TracedTensor, head: number, query: number): Float32Array {
  const [, queries = 0, keys = 0] = shape;
  const start = (head * queries + query) * keys;
  return data.subarray(start, start + keys);
}

/** Returns the mean evenness of the queries of a head, with the scores multiplied. */
function meanEvenness(scores: TracedTensor, head: number, factor: number): number {
  const [, queries = 1] = scores.shape;
  let sum = 0;
  for (let query = 0; query < queries; query++)
    sum += evenness(softmax(keysOf(scores, head, query), 1 / factor));
  return sum / queries;
}

/** Returns the head whose attention the division changes the most. */
function mostChanged(traces: readonly TracedTensor[], root: number): [layer: number, head: number] {
  let best = { change: -1, layer: 0, head: 0 };
  for (const [layer, scores] of traces.entries()) {
    for (let head = 0; head < scores.shape[0]!; head++) {
      const change = meanEvenness(scores, head, 1) - meanEvenness(scores, head, root);
      if (change > best.change) best = { change, layer, head };
    }
  }
  return [best.layer, best.head];
}

export async function readSoftmax(
  model: Classifier,
  text: string,
  divisor: number,
  signal: AbortSignal,
): Promise<SoftmaxLive> {
  const { layers, heads } = model.info;
  const { dHead } = model.architecture.encoder!.layers[0]!;
  const root = Math.sqrt(dHead);
  const names = Array.from({ length: layers }, (_, layer) => scoresOf(layer));
  const usual = await model.classify(text, { trace: names, signal });
  const traces = names.map((name) => usual.trace[name]!);
  const [layer, head] = mostChanged(traces, root);
  const count = usual.tokens.length;

  // Each layer's scores depend on those of the layers before.
  const patch: Patch[] = [];
  const changed: TracedTensor[] = [];
  let verdict = verdictOf(usual);
  if (divisor === root) changed.push(...traces);
  else {
    for (const name of names) {
      const { trace } = await model.classify(text, { trace: [name], patch, signal });
      const { shape, data } = trace[name]!;
      const value = { shape, data: data.map((score) => (score * root) / divisor) };
      patch.push({ name, value });
      changed.push(value);
    }
    verdict = verdictOf(await model.classify(text, { patch, signal }));
  }
  const evenOf = (all: readonly TracedTensor[]) =>
    all.reduce((sum, scores) => {
      for (let each = 0; each < heads; each++) sum += meanEvenness(scores, each, 1);
      return sum;
    }, 0) /
    (layers * heads);

  const products = new Float32Array(count * count);
  const weights = new Float32Array(count * count);
  for (let query = 0; query < count; query++) {
    const row = keysOf(traces[layer]!, head, query).map((score) => score * root);
    products.set(row, query * count);
    weights.set(softmax(row, divisor), query * count);
  }
  // The word whose largest weight grows the most without the division.
  const growths = usual.tokens.map((token, query) => {
    if (!/\p{L}{2}/u.test(token.text)) return -1;
    const row = products.subarray(query * count, (query + 1) * count);
    return Math.max(...softmax(row, 1)) - Math.max(...softmax(row, root));
  });
  return {
    labels: labelsOf(text, usual.tokens),
    layer,
    head,
    dHead,
    root,
    divisor,
    products,
    weights,
    asked: indexOfLargest(growths),
    even: { now: evenOf(changed), usual: evenOf(traces) },
    verdict,
    usual: verdictOf(usual),
  };
}

/** Returns a query's row of a square matrix. */
export const rowOf = (matrix: Float32Array, query: number): Float32Array => {
  const count = Math.sqrt(matrix.length);
  return matrix.subarray(query * count, (query + 1) * count);
};

/** Returns the choices for the largest weight without the division, in order. */
export function choicesFor({ products, asked, root }: SoftmaxLive): {
  choices: readonly string[];
  right: number;
  now: number;
} {
  const row = rowOf(products, asked);
  const now = Math.max(...softmax(row, root));
  const then = Math.max(...softmax(row, 1));
  const numbers = [now / root, now, (now + then) / 2, then].map((value) => value.toFixed(2));
  const choices = [...new Set(numbers)].sort();
  return { choices, right: choices.indexOf(then.toFixed(2)), now };
}
