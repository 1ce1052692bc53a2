// Parts of a text that a translation must keep: placeholders and addresses. Models garble them, but
// copy a word such as X1. So each of them is translated as such a word.

import { GlassformerError } from '../base/errors.js';

// Each takes time in proportion to the text: of a word without an end, only one place is tried.
const patterns = [
  /(?:https?|ftp):\/\/[^\s<>"']*[^\s<>"'.,;:!?()[\]{}]\/?/, // a URL, without marks behind it
  /www\.[^\s<>"']*[^\s<>"'.,;:!?()[\]{}]\/?/,
  /(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+/, // an e-mail address
  /\{\{[^{}\n]*\}\}/,
  /\$?\{[^{}\n]*\}/,
  /%\([\w.]+\)[sdif]/,
  /%(?:\d+\$)?[-+0#]*(?:[1-9]\d*)?(?:\.\d+)?(?:[sdiufxX@](?![\p{L}\p{N}]))/u,
];

/** Matches what is kept; `more` are patterns of the caller. Throws `invalid_option`. */
export function keptPattern(more: readonly RegExp[]): RegExp {
  const sources = [...more, ...patterns].map(({ source }) => `(?:${source})`);
  try {
    return new RegExp(sources.join('|'), 'gu');
  } catch (error) {
    throw new GlassformerError('invalid_option', `keep: ${(error as Error).message}`);
  }
}

/** Returns a function that makes words that stand in for kept parts, and are not in `text`. */
export function standIns(text: string): () => string {
  const taken = new Set<string>();
  for (const [word] of text.matchAll(/X\d+/g)) {
    // No text has as many words as ten digits could number.
    for (let end = 2; end <= Math.min(word.length, 11); end++) taken.add(word.slice(0, end));
  }
  let number = 0;
  return () => {
    do number++;
    while (taken.has(`X${number}`));
    return `X${number}`;
  };
}

/** Matches a word that stands in for a part, alone. */
export const standInPattern = /(?<![\p{L}\p{N}])X\d+(?![\p{L}\p{N}])/gu;
