/** Reads the page's address. All state is after "#", which is never sent to a server. */
import type { Link } from '../ui/link.ts';

const parametersOf = (hash: string) => new URLSearchParams(hash.replace(/^#/, ''));

/** Returns the name of the view in an address, if there is one. */
export const viewIn = (hash: string): string | undefined =>
  parametersOf(hash).get('view') ?? undefined;

/** Returns the stop of the tour in an address, from 1. */
export function tourIn(hash: string): number | undefined {
  const stop = parametersOf(hash).get('tour') ?? '';
  return /^\d$/.test(stop) ? Number(stop) : undefined;
}

/** Whether an address asks for only the view, to be embedded in another page. */
export const isEmbedded = (hash: string): boolean => parametersOf(hash).get('embed') === '1';

/** Returns the address that embeds the same view. */
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

/** Returns the link in an address; unpacks a packed text. */
export async function linkAt(hash: string): Promise<Link> {
  const { packed, ...link } = linkIn(hash);
  const text =
    packed === undefined ? undefined : await (await import('./packed-text.ts')).unpack(packed);
  return text === undefined ? link : { text, ...link };
}
