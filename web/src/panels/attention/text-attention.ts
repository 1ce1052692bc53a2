/** The attention weights of one text, and the labels of their rows and columns. */
import type { AttentionMap, Token } from 'glassformer';
import type { AttentionKind } from '../heads/position.ts';
import { shownTokens } from '../words/tokens.ts';
import type { Keys } from './habit.ts';
import type { Trace } from './query-key.ts';

export interface TextAttention {
  maps: Partial<Record<AttentionKind, AttentionMap>>;
  /** Labels of the tokens that were read. */
  source: readonly string[];
  /** Labels of the tokens that were written, or that the decoder of a classifier read. */
  target?: readonly string[];
  /** The label of the token that writing begins with, if an encoder read the source. */
  start?: string;
  /** The trace, if it was requested. */
  trace?: Trace | undefined;
}

/** The words around the query and the key in a readout: before the query, and between the two. */
export type Reader = readonly [before: string, between: string];

/** How the rows and columns of one kind of attention are labeled. */
export interface Labels {
  queryLabels: readonly string[];
  keyLabels: readonly string[];
  reader: Reader;
  /** The meaning of the keys. */
  keys: Keys;
}

const noText: TextAttention = { maps: {}, source: [] };

/** Returns the labels of the shown attention. A text that is continued has one list for both sides. */
export function labelsOf({
  attention,
  attended: { source, target = source, start } = noText,
}: {
  attention: AttentionKind;
  attended: TextAttention | undefined;
}): Labels {
  if (attention === 'encoder')
    return { queryLabels: source, keyLabels: source, reader: ['', 'attends to'], keys: 'tokens' };
  const written = start !== undefined;
  const reader: Reader = written ? ['To write', 'it attends to'] : ['After', 'it attends to'];
  if (attention === 'cross')
    return { queryLabels: target, keyLabels: source, reader, keys: 'source' };
  if (!written) return { queryLabels: target, keyLabels: target, reader, keys: 'tokens' };
  return { queryLabels: target, keyLabels: shifted(start, target), reader, keys: 'written' };
}

/** Returns the labels of a text's tokens. */
export const labelsIn = (text: string, tokens: readonly Token[]): string[] =>
  shownTokens(text, tokens).map(({ label }) => label);

/** Returns the labels of what a decoder reads: a start token, then all tokens but the last. */
export const shifted = (start: string, labels: readonly string[]): string[] => [
  start,
  ...labels.slice(0, -1),
];
