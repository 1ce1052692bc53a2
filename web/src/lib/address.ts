/** The page's address. What is shown stands after "#", so it is never sent anywhere. */
import { unpack } from './packed-text.ts';

/** What a view shows, by the names that its link has for it. */
export type Link = Readonly<Record<string, string>>;

const parametersOf = (hash: string) => new URLSearchParams(hash.replace(/^#/, ''));

/** The name of the view that an address leads to, where it has one. */
export const viewIn = (hash: string): string | undefined =>
  parametersOf(hash).get('view') ?? undefined;

/** The stop of the tour that an address leads to, from 1. */
export function tourIn(hash: string): number | undefined {
  const stop = parametersOf(hash).get('tour') ?? '';
  return /^\d$/.test(stop) ? Number(stop) : undefined;
}

/** Whether an address asks for a view alone, to be a part of another page. */
export const isEmbedded = (hash: string): boolean => parametersOf(hash).get('embed') === '1';

/** The address of the same, alone. */
export const embedded = (hash: string): string => `#embed=1${hash.replace(/^#/, '&')}`;

/** Longer texts are packed in an address, or left out where that does not help. */
export const longestText = 4000;

/** `view` is left out for the page's first view; `packed` is the text where it is too long. */
export function hashFor(view: string | undefined, link: Link, packed?: string): string {
  const parameters = new URLSearchParams(view === undefined ? {} : { view });
  for (const [name, value] of Object.entries(link)) {
    if (name !== 'text' || value.length <= longestText) parameters.set(name, value);
    else if (packed !== undefined) parameters.set('packed', packed);
  }
  const written = `${parameters}`;
  return written && `#${written}`;
}

export function linkIn(hash: string): Link {
  const {
    view: _view,
    embed: _embed,
    tour: _tour,
    ...link
  } = Object.fromEntries(parametersOf(hash));
  return link;
}

/** The same with the text unpacked where it is packed. */
export async function linkAt(hash: string): Promise<Link> {
  const { packed, ...link } = linkIn(hash);
  const text = packed === undefined ? undefined : await unpack(packed);
  return text === undefined ? link : { text, ...link };
}

// --- values of several parts --------------------------------------------------------------------

export interface HeadPosition {
  /** Both count from 0, as in the package. */
  layer: number;
  head: number;
}

export type AttentionKind = 'encoder' | 'decoder' | 'cross';

const list = (value: string | undefined) => (value ? value.split(',') : []);

/** Whole numbers of up to `length` digits; what is none is left out. */
export const numbersIn = (value: string | undefined, length: number): number[] =>
  list(value)
    .filter((item) => /^\d+$/.test(item) && item.length <= length)
    .map(Number);

export const headsIn = (value: string | undefined): HeadPosition[] =>
  [...new Set(list(value))]
    .map((item) => /^(\d{1,4})\.(\d{1,4})$/.exec(item))
    .filter((match) => match !== null)
    .map(([, layer, head]) => ({ layer: Number(layer), head: Number(head) }));

export const headsOfKindsIn = (
  value: string | undefined,
): (HeadPosition & { attention: AttentionKind })[] =>
  [...new Set(list(value))]
    .map((item) => /^(encoder|decoder|cross)\.(\d{1,4}\.\d{1,4})$/.exec(item))
    .filter((match) => match !== null)
    .map(([, kind, head]) => ({ attention: kind as AttentionKind, ...headsIn(head)[0]! }));

export const headName = ({ layer, head }: HeadPosition): string => `${layer}.${head}`;
