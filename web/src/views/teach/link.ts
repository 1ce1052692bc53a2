/** The sentences of the view Teach in a link: one per line, with its label and a tab. */
import { labels, type Taught } from './sentences/sentences.svelte.ts';

export const textOf = (rows: readonly Taught[]): string =>
  rows.map(({ text, label }) => `${label}\t${text.replace(/\s+/g, ' ')}`).join('\n');

/** Returns the sentences of a link; undefined if it has none. Lines without a label are skipped. */
export function rowsIn(text: string): Taught[] | undefined {
  const rows = text.split('\n').flatMap((line) => {
    const [label = '', ...rest] = line.split('\t');
    const known = (labels as readonly string[]).includes(label);
    return known && rest.length > 0 ? [{ label, text: rest.join(' ') }] : [];
  });
  return rows.length > 0 ? rows : undefined;
}
