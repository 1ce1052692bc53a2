/** Parts of the JavaScript code that a view shows. */
import type { Head } from 'glassformer';

/** Returns the comment for code that names heads or tokens: the page counts them from 1. */
export const fromZero = (is: boolean) => (is ? ['// Layers, heads and tokens count from 0.'] : []);

export function ablateOption(heads: readonly Head<'encoder' | 'decoder' | 'cross'>[]): string {
  const list = heads.map(
    ({ attention, layer, head }) => `{ attention: '${attention}', layer: ${layer}, head: ${head} }`,
  );
  return `ablate: [${list.join(', ')}]`;
}

/** Returns the whole text as a literal, so that the code gives the shown result. */
export const literal = (text: string) => JSON.stringify(text);
