/** The measurements of heads over many texts, and the orders that they allow. */
import type { AttentionKind, HeadPosition } from './position.ts';

/** The sets of words whose shares of attention are measured. Of equal shares, the first counts. */
export const sets = [
  'previous',
  'same',
  'next',
  'specials',
  'first',
  'last',
  'punctuation',
  'sameWord',
] as const;
export type WordSet = (typeof sets)[number];

/** A mean with its 95% confidence interval. */
export interface Interval {
  mean: number;
  low: number;
  high: number;
}

export interface MeasuredHead extends HeadPosition {
  attention: AttentionKind;
  /** Each set's share of attention, 0 … 1: a mean over all words, an empty set counts as 0. */
  share: Readonly<Partial<Record<WordSet, number>>>;
  /** The same shares if attention were spread evenly. */
  even: Readonly<Partial<Record<WordSet, number>>>;
  /** A share of the maximum entropy. */
  entropy: number;
  /** The rise of the cross-entropy with the head's output set to zero, in nats. */
  lost: Interval;
  /** The loss of score in points. Less than one point is noise. */
  scoreLost: { name: 'accuracy' | 'BLEU'; points: number } | undefined;
  /** How many tokens after its own position it looked before training, if it was set so. */
  began: number | undefined;
}

export interface Measured {
  texts: number;
  heads: readonly MeasuredHead[];
}

/** Orders of heads: by layer, attention to a set, entropy, or the loss without the head. */
export const orders = ['layer', 'lost', 'entropy', ...sets] as const;
export type HeadOrder = (typeof orders)[number];

/** Returns the orders for some heads, without sets that were measured for none of them. */
export function ordersOf(heads: readonly MeasuredHead[]): HeadOrder[] {
  if (heads.length === 0) return ['layer'];
  const isThere = (set: WordSet) => heads.some(({ share }) => share[set] !== undefined);
  return ['layer', 'lost', 'entropy', ...sets.filter(isThere)];
}
