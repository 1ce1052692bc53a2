/** The page's address. What is shown stands after "#", so it is never sent anywhere. */
import type { Link } from '../ui/link.ts';
import { unpack } from './packed-text.ts';

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
