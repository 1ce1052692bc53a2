/** Prose in which [token] or [tokens|token] is a term of the glossary. */
import { definitionOf } from '../../../ui/text/glossary.ts';

/** A part of a prose text; `name` is that of a term, `after` the punctuation right after it. */
export interface Part {
  text: string;
  name?: string;
  after?: string;
}

/** Returns the parts. Other brackets, as in a visitor's sentence, stay as they are. */
export function partsOfProse(prose: string): Part[] {
  const parts: Part[] = [];
  let end = 0;
  for (const { 0: whole, 1: text = '', 2: name = text, index } of prose.matchAll(
    /\[([^\]|[]+)(?:\|([^\]|[]+))?\]/g,
  )) {
    if (definitionOf(name) === undefined) continue;
    if (index > end) parts.push({ text: prose.slice(end, index) });
    end = index + whole.length;
    const [after = ''] = /^[.,:;?!”)]+/.exec(prose.slice(end)) ?? [];
    parts.push({ text, name, after });
    end += after.length;
  }
  if (end < prose.length) parts.push({ text: prose.slice(end) });
  return parts;
}

/** Returns the text without marks. */
export const plainProse = (prose: string): string =>
  partsOfProse(prose)
    .map(({ text, after = '' }) => text + after)
    .join('');
