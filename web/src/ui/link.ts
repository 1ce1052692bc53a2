/** The parameters in an address that describe what a view shows. */
export type Link = Readonly<Record<string, string>>;

/** The maximum length of a plain text. Longer ones are packed, or omitted if that is not enough. */
export const longestText = 4000;

/** `view` is undefined for the page's first view; `packed` replaces a text that is too long. */
export function hashFor(view: string | undefined, link: Link, packed?: string): string {
  const parameters = new URLSearchParams(view === undefined ? {} : { view });
  for (const [name, value] of Object.entries(link)) {
    if (name !== 'text' || value.length <= longestText) parameters.set(name, value);
    else if (packed !== undefined) parameters.set('packed', packed);
  }
  const written = `${parameters}`;
  return written && `#${written}`;
}

/** Returns the comma-separated parts of a value. */
export const partsOf = (value: string | undefined) => (value ? value.split(',') : []);

/** Returns the whole numbers of up to `length` digits in a value; skips anything else. */
export const numbersIn = (value: string | undefined, length: number): number[] =>
  partsOf(value)
    .filter((item) => /^\d+$/.test(item) && item.length <= length)
    .map(Number);
