/**
 * The words of a text and the sets of words that a role names. The definitions are those of heads.json,
 * in tests/evaluate/head_shares.mjs; a test compares both.
 */
import type { Token } from 'glassformer';
import type { WordSet } from '../../../panels/heads/measured.ts';

export type Piece = Pick<Token, 'text' | 'start' | 'end'>;

export interface Word {
  /** The indices of its tokens. */
  pieces: number[];
  text: string;
  /** Whether it is a token without a text of its own, such as the end token. */
  special: boolean;
}

const hasLetter = (text: string) => /[\p{L}\p{N}]/u.test(text);
const isBlank = (text: string) => text.trim() === '';
/** Characters that the vocabulary lacks are bytes. */
const isBytes = (text: string) => /^ ?(<0x[0-9A-F]{2}>)+$/.test(text);

const characters = (text: string) =>
  text.replace(/(<0x[0-9A-F]{2}>)+/g, (run) => {
    const bytes = [...run.matchAll(/<0x(..)>/g)].map(([, byte]) => parseInt(byte!, 16));
    return new TextDecoder().decode(Uint8Array.from(bytes));
  });

/** Returns the tokens as words. Adjacent bytes are one. */
function unitsOf(tokens: readonly Piece[]): Word[] {
  const units: (Word & { bytes: boolean })[] = [];
  for (const [i, { text, start, end }] of tokens.entries()) {
    const bytes = isBytes(text);
    const before = units.at(-1);
    if (bytes && before?.bytes && !/^\s/.test(text)) {
      before.pieces.push(i);
      before.text += text;
    } else {
      const special = start === end && !bytes && !/^\s+$/.test(text);
      units.push({ pieces: [i], text, bytes, special });
    }
  }
  return units.map(({ pieces, text, bytes, special }) => ({
    ...{ pieces, special },
    text: bytes ? characters(text) : text,
  }));
}

/** Whether an apostrophe or a hyphen belongs to the word around it. */
function joins(text: string, before: string, next: Word | undefined): boolean {
  if (!next || next.special || !/^[\p{L}\p{N}]/u.test(next.text)) return false;
  if (/^\s?['’]$/.test(text) && (/^\s/.test(text) || isBlank(before))) return true;
  return /^['’‐‑-]$/.test(text) && hasLetter(before);
}

/** Groups tokens into words: at white space, and between letters or digits and other characters. */
export function wordsOf(tokens: readonly Piece[]): Word[] {
  const words: (Word & { letters: boolean })[] = [];
  const units = unitsOf(tokens);
  for (const [i, unit] of units.entries()) {
    const { pieces, text, special } = unit;
    const last = words.at(-1);
    const before = special || last?.special ? undefined : last;
    const letters = hasLetter(text) || joins(text, before?.text ?? '', units[i + 1]);
    if (!before || /^\s/.test(text) || (!isBlank(before.text) && letters !== before.letters))
      words.push({ ...unit, pieces: [...pieces], letters });
    else {
      before.pieces.push(...pieces);
      before.text += text;
      before.letters ||= letters;
    }
  }
  return words;
}

/** The words on both sides of an attention. */
export interface Sides {
  queries: readonly Word[];
  keys: readonly Word[];
  /** Whether both sides are the same text. */
  square: boolean;
  /** Whether a query reads only itself and what comes before. */
  causal: boolean;
}

const isPunctuation = ({ text, special }: Word) => !special && !hasLetter(text) && !isBlank(text);
const folded = ({ text }: Word) => text.trim().toLowerCase();

/** Returns the keys that belong to a set, for a query; all are indices of words. */
export function keysIn(set: WordSet, query: number, sides: Sides): number[] {
  const { queries, keys, square, causal } = sides;
  const own = queries[query]!;
  const holds: Record<WordSet, (word: Word, key: number) => boolean> = {
    previous: (_, key) => key === query - 1,
    same: (_, key) => key === query,
    next: (_, key) => key === query + 1,
    specials: ({ special }) => special,
    first: (_, key) => key === 0,
    last: (_, key) => key === keys.length - 1,
    punctuation: isPunctuation,
    sameWord: (word, key) =>
      hasLetter(word.text) && folded(word) === folded(own) && !(square && key === query),
  };
  return [...keys.keys()].filter((key) => (!causal || key <= query) && holds[set](keys[key]!, key));
}
