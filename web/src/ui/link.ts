/** The parameters in an address that say what a view shows. */
export type Link = Readonly<Record<string, string>>;

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

/** The parts of a value, which commas separate. */
export const partsOf = (value: string | undefined) => (value ? value.split(',') : []);

/** The whole numbers of up to `length` digits in a value; anything else is left out. */
export const numbersIn = (value: string | undefined, length: number): number[] =>
  partsOf(value)
    .filter((item) => /^\d+$/.test(item) && item.length <= length)
    .map(Number);
