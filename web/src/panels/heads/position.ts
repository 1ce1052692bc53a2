/** The position of a head in a model, and its name in a link. */
import { partsOf } from '../../ui/link.ts';

export interface HeadPosition {
  /** Both count from 0, as in the package. */
  layer: number;
  head: number;
}

export type AttentionKind = 'encoder' | 'decoder' | 'cross';

export const headsIn = (value: string | undefined): HeadPosition[] =>
  [...new Set(partsOf(value))]
    .map((item) => /^(\d{1,4})\.(\d{1,4})$/.exec(item))
    .filter((match) => match !== null)
    .map(([, layer, head]) => ({ layer: Number(layer), head: Number(head) }));

export const headsOfKindsIn = (
  value: string | undefined,
): (HeadPosition & { attention: AttentionKind })[] =>
  [...new Set(partsOf(value))]
    .map((item) => /^(encoder|decoder|cross)\.(\d{1,4}\.\d{1,4})$/.exec(item))
    .filter((match) => match !== null)
    .map(([, kind, head]) => ({ attention: kind as AttentionKind, ...headsIn(head)[0]! }));

export const headName = ({ layer, head }: HeadPosition): string => `${layer}.${head}`;
