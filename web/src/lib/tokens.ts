import type { Token } from 'glassformer';

/** A token as the page shows it. */
export interface ShownToken {
  /** Where it stands in `tokens`, and in the rows and columns of attention. */
  index: number;
  /** What is printed for it: its own characters of the text, or how it reads where it has none. */
  label: string;
  /** Whether white space stands before it. */
  spaced: boolean;
}

/** `text` is what `tokens` were made of. */
export function shownTokens(text: string, tokens: readonly Token[]): ShownToken[] {
  let end = 0;
  return tokens.map((token, index) => {
    const own = token.start >= end ? text.slice(token.start, token.end) : '';
    const gap = token.start > end ? text.slice(end, token.start) : '';
    end = Math.max(end, token.end);
    return {
      index,
      label: own.trim() || token.text.trim() || '␣',
      spaced:
        index > 0 &&
        (/\s$/u.test(gap) || /^\s/u.test(own) || (own === '' && /^\s/u.test(token.text))),
    };
  });
}

/** The longest stretch of `text` that no token covers: of a clipped text, what was left out. */
export function widestGap(text: string, tokens: readonly Token[]): { start: number; end: number } {
  let widest = { start: tokens.at(-1)?.end ?? 0, end: text.length };
  let end = 0;
  for (const token of tokens) {
    if (token.start - end > widest.end - widest.start) widest = { start: end, end: token.start };
    end = Math.max(end, token.end);
  }
  return widest;
}

/** At most `length` characters, the middle left out. */
export function shorten(label: string, length: number): string {
  const characters = [...label];
  if (characters.length <= length) return label;
  const head = Math.ceil((length - 1) / 2);
  return `${characters.slice(0, head).join('')}…${characters.slice(characters.length - (length - 1 - head)).join('')}`;
}
