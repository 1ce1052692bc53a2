/** Parts of the JavaScript that a view shows. */
import type { Head } from 'glassformer';

/** Stands in code that names heads or tokens: the page counts them from 1. */
export const fromZero = (is: boolean) => (is ? ['// Layers, heads and tokens count from 0.'] : []);

export function ablateOption(heads: readonly Head<'encoder' | 'decoder' | 'cross'>[]): string {
  const list = heads.map(
    ({ attention, layer, head }) => `{ attention: '${attention}', layer: ${layer}, head: ${head} }`,
  );
  return `ablate: [${list.join(', ')}]`;
}

/** The whole text: what is shown must give what is shown. */
export const literal = (text: string) => JSON.stringify(text);
