import type { Token } from 'glassformer';

/** A token as the page shows it. */
export interface ShownToken {
  /** Its position in `tokens`, and in the rows and columns of attention. */
  index: number;
  /** Its characters in the text or, without any, its name. */
  label: string;
  /** Whether there is white space before it. */
  spaced: boolean;
  /** Whether it is not in the vocabulary, so that the model only sees that there is something. */
  unknown: boolean;
}

/** The token for text outside the vocabulary, or for a byte of it. */
const standIn = /^<(unk|0x[0-9A-F]{2})>$/;

/** Returns whether a token stands for text outside the vocabulary. `own` is its part of the text. */
export const isStandIn = ({ text }: Pick<Token, 'text'>, own: string): boolean =>
  standIn.test(text) && own !== text;

/** Returns the label of such a token: ‹0xE6›. */
export const marked = (text: string): string => `‹${text.replace(standIn, '$1')}›`;

/** Returns the tokens of `text` as the page shows them. */
export function shownTokens(text: string, tokens: readonly Token[]): ShownToken[] {
  let end = 0;
  return tokens.map((token, index) => {
    const own = token.start >= end ? text.slice(token.start, token.end) : '';
    const gap = token.start > end ? text.slice(end, token.start) : '';
    end = Math.max(end, token.end);
    const unknown = isStandIn(token, own);
    const label = own.trim() || token.text.trim() || '␣';
    return {
      index,
      label: unknown ? marked(label) : label,
      unknown,
      spaced:
        index > 0 &&
        (/\s$/u.test(gap) || /^\s/u.test(own) || (own === '' && /^\s/u.test(token.text))),
    };
  });
}

/** Returns the longest part of `text` without tokens: the part that was left out of a clipped text. */
export function widestGap(text: string, tokens: readonly Token[]): { start: number; end: number } {
  let widest = { start: tokens.at(-1)?.end ?? 0, end: text.length };
  let end = 0;
  for (const token of tokens) {
    if (token.start - end > widest.end - widest.start) widest = { start: end, end: token.start };
    end = Math.max(end, token.end);
  }
  return widest;
}

/** Returns at most `length` characters, without the middle of a longer text. */
export function shorten(label: string, length: number): string {
  const characters = [...label];
  if (characters.length <= length) return label;
  const head = Math.ceil((length - 1) / 2);
  return `${characters.slice(0, head).join('')}…${characters.slice(characters.length - (length - 1 - head)).join('')}`;
}

/** Returns the end of a text, in whole words. */
export const endOf = (text: string): string =>
  text.length > 36 ? `…${text.slice(-36).replace(/^\S*\s/, '')}` : text;

/**
 * Returns the number of characters as people count them, without white space: a letter with its
 * accents is one, and so is an emoji of several parts.
 */
export function charactersIn(text: string): number {
  const own = text.replace(/\s+/gu, '');
  // Firefox before 125 has no segmenter. Marks and joiners are not counted there.
  if (typeof Intl.Segmenter === 'undefined')
    return [...own.replace(/\u200d\P{M}|[\p{M}\p{EMod}]/gu, '')].length;
  return [...new Intl.Segmenter().segment(own)].length;
}

/** The parts of a text that are not in the vocabulary. */
export interface Unknown {
  /** The different parts, in order. Adjacent ones are joined. */
  parts: string[];
  /** Their share of the text's characters, 0 … 1. */
  share: number;
}

/** Returns the unknown parts, if there are any. */
export function unknownIn(text: string, tokens: readonly Token[]): Unknown | undefined {
  const ranges: { start: number; end: number }[] = [];
  for (const token of tokens) {
    const { start, end } = token;
    if (!isStandIn(token, text.slice(start, end))) continue;
    const last = ranges.at(-1);
    // Each byte of a character has a token; all but the first have an empty part.
    if (last && start <= last.end) last.end = Math.max(last.end, end);
    else ranges.push({ start, end });
  }
  if (ranges.length === 0) return undefined;
  const parts = ranges.map(({ start, end }) => text.slice(start, end).trim());
  const read = charactersIn(
    text.slice(tokens[0]!.start, Math.max(...tokens.map(({ end }) => end))),
  );
  const lacking = parts.reduce((sum, part) => sum + charactersIn(part), 0);
  return {
    parts: [...new Set(parts.filter((part) => part !== ''))],
    share: read > 0 ? Math.min(1, lacking / read) : 1,
  };
}

/** Returns whether most letters are not Latin, which is the script that the models were made for. */
export function isForeign(text: string): boolean {
  const letters = text.match(/\p{L}/gu)?.length ?? 0;
  const latin = text.match(/\p{Script=Latin}/gu)?.length ?? 0;
  return latin < letters / 2;
}

/** Returns the new positions of the tokens at both ends of the text that an edit did not change. */
export function carried(before: readonly Token[], after: readonly Token[]): Map<number, number> {
  const shorter = Math.min(before.length, after.length);
  const places = new Map<number, number>();
  let first = 0;
  while (first < shorter && before[first]!.id === after[first]!.id) places.set(first, first++);
  for (let last = 1; last <= shorter - first; last++) {
    if (before.at(-last)!.id !== after.at(-last)!.id) break;
    places.set(before.length - last, after.length - last);
  }
  return places;
}
