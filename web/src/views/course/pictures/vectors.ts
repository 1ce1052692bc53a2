/** Arithmetic on vectors and on rows of traced tensors. */
import type { Classifier, Token, TracedTensor } from 'glassformer';
import { shownTokens } from '../../../panels/words/tokens.ts';

export const dot = (a: ArrayLike<number>, b: ArrayLike<number>): number => {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i]! * b[i]!;
  return sum;
};

export const length = (a: ArrayLike<number>): number => Math.sqrt(dot(a, a));

/** Returns 0 if one of the vectors is 0. */
export function cosine(a: ArrayLike<number>, b: ArrayLike<number>): number {
  const lengths = length(a) * length(b);
  return lengths > 0 ? dot(a, b) / lengths : 0;
}

/** Returns row `index` of a tensor, its heads concatenated. */
export function row({ shape, data }: TracedTensor, index: number): Float32Array {
  const width = shape.slice(1).reduce((product, extent) => product * extent, 1);
  return data.subarray(index * width, (index + 1) * width);
}

/** Softmax of scores / temperature. A score of −∞ gets the weight 0. */
export function softmax(scores: ArrayLike<number>, temperature = 1): Float32Array {
  const all = Array.from(scores, (score) => score / temperature);
  const most = Math.max(...all);
  const raised = all.map((score) => Math.exp(score - most));
  const sum = raised.reduce((total, each) => total + each, 0);
  return Float32Array.from(raised, (each) => each / sum);
}

/** Returns the entropy of a distribution as a share of the maximum, 0 … 1. */
export function evenness(weights: ArrayLike<number>): number {
  if (weights.length < 2) return 0;
  let sum = 0;
  for (let i = 0; i < weights.length; i++)
    if (weights[i]! > 0) sum -= weights[i]! * Math.log(weights[i]!);
  return sum / Math.log(weights.length);
}

export const indexOfLargest = (values: ArrayLike<number>): number => {
  let most = 0;
  for (let i = 1; i < values.length; i++) if (values[i]! > values[most]!) most = i;
  return most;
};

/** Returns the labels of tokens as the page shows them. */
export const labelsOf = (text: string, tokens: readonly Token[]): string[] =>
  shownTokens(text, tokens).map(({ label }) => label);

/** A verdict of the sentiment model. */
export interface Verdict {
  label: string;
  /** The probability of "positive". */
  positive: number;
}

export const verdictOf = ({
  label,
  scores,
}: Pick<Awaited<ReturnType<Classifier['classify']>>, 'label' | 'scores'>): Verdict => ({
  label,
  positive: scores[1]?.score ?? 0,
});
