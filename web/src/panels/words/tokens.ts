import type { Token } from 'glassformer';

/** A token as the page shows it. */
export interface ShownToken {
  /** Where it stands in `tokens`, and in the rows and columns of attention. */
  index: number;
  /** What is printed for it: its own characters of the text, or how it reads where it has none. */
  label: string;
  /** Whether white space stands before it. */
  spaced: boolean;
  /** Whether the vocabulary lacks it, so that the model sees no more than that something is there. */
  unknown: boolean;
}

/** The piece that stands for all that a vocabulary lacks, or a byte of it. */
const standIn = /^<(unk|0x[0-9A-F]{2})>$/;

/** Whether a token stands for what the vocabulary lacks; `own` is its part of the text. */
export const isStandIn = ({ text }: Pick<Token, 'text'>, own: string): boolean =>
  standIn.test(text) && own !== text;

/** How a piece is printed that stands for something else: ‹0xE6›. */
export const marked = (text: string): string => `‹${text.replace(standIn, '$1')}›`;

/** `text` is what `tokens` were made of. */
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

/** The end of a text, whole words. */
export const endOf = (text: string): string =>
  text.length > 36 ? `…${text.slice(-36).replace(/^\S*\s/, '')}` : text;

/**
 * How many characters a text has as people count them, without white space: a letter with its accents
 * is one, and so is an emoji of several parts.
 */
export function charactersIn(text: string): number {
  const own = text.replace(/\s+/gu, '');
  // Firefox before 125 has no segmenter: there marks and joiners are not counted.
  if (typeof Intl.Segmenter === 'undefined')
    return [...own.replace(/\u200d\P{M}|[\p{M}\p{EMod}]/gu, '')].length;
  return [...new Intl.Segmenter().segment(own)].length;
}

/** What of a text a vocabulary lacks. */
export interface Unknown {
  /** Each once, in order; what stands side by side is one. */
  parts: string[];
  /** As a share of the text's characters, 0 … 1. */
  share: number;
}

/** Undefined where every token is what it reads as. */
export function unknownIn(text: string, tokens: readonly Token[]): Unknown | undefined {
  const ranges: { start: number; end: number }[] = [];
  for (const token of tokens) {
    const { start, end } = token;
    if (!isStandIn(token, text.slice(start, end))) continue;
    const last = ranges.at(-1);
    // The bytes of one character have their tokens: of all but the first the part is empty.
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

/** Whether most letters of a text are of another script than Latin, which the models were made for. */
export function isForeign(text: string): boolean {
  const letters = text.match(/\p{L}/gu)?.length ?? 0;
  const latin = text.match(/\p{Script=Latin}/gu)?.length ?? 0;
  return latin < letters / 2;
}

/** Where the tokens that an edit left alone, at both ends of the text, stand now: by old index. */
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
