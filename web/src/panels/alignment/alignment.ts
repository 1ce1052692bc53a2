/** Links between the words of a text and of its translation, by the cross-attention weights. */
import type { Token, Translation } from 'glassformer';

export interface Range {
  start: number;
  end: number;
}

export interface Word extends Range {
  /** The index of its sentence. */
  sentence: number;
}

export type Side = 'source' | 'target';

export interface Alignment {
  /** The words of the input in order, including those without a link. */
  source: Word[];
  /** The words of the whole translation. All of them are linked. */
  target: Word[];
  /** Pairs of indices into the two lists. `weight` is a share of the target word's attention. */
  links: { source: number; target: number; weight: number }[];
}

const plainWord = /[\p{L}\p{N}]+(?:['’-][\p{L}\p{N}]+)*/gu;

export function alignmentOf(text: string, { sentences }: Translation): Alignment {
  const source = new Map<number, Word>();
  const target = new Map<number, Word>();
  const pairs: { source: number; target: number; weight: number }[] = [];
  for (const [sentence, { alignment = [] }] of sentences.entries()) {
    for (const link of alignment) {
      target.set(link.target.start, { ...link.target, sentence });
      source.set(link.source.start, { ...link.source, sentence });
      pairs.push({ source: link.source.start, target: link.target.start, weight: link.weight });
    }
  }
  for (const [sentence, { start, end, alignment = [] }] of sentences.entries()) {
    const linked = alignment.map((link) => link.source);
    for (const { 0: word, index } of text.slice(start, end).matchAll(plainWord)) {
      const at = { start: start + index, end: start + index + word.length };
      const known = linked.some((own) => own.start < at.end && at.start < own.end);
      if (!known) source.set(at.start, { ...at, sentence });
    }
  }
  const order = (words: Map<number, Word>) => [...words.values()].sort((a, b) => a.start - b.start);
  const words = { source: order(source), target: order(target) };
  const index = (list: Word[]) => new Map(list.map(({ start }, i) => [start, i]));
  const at = { source: index(words.source), target: index(words.target) };
  const links = pairs.map(({ weight, ...pair }) => ({
    source: at.source.get(pair.source)!,
    target: at.target.get(pair.target)!,
    weight,
  }));
  return { ...words, links };
}

type Partners = ReadonlyMap<number, ReadonlyMap<number, number>>;
const indices = new WeakMap<Alignment, Record<Side, Partners>>();

function indexOf({ links }: Alignment): Record<Side, Partners> {
  const index = {
    source: new Map<number, Map<number, number>>(),
    target: new Map<number, Map<number, number>>(),
  };
  const add = (side: Side, word: number, other: number, weight: number) => {
    const own = index[side].get(word);
    if (own) own.set(other, weight);
    else index[side].set(word, new Map([[other, weight]]));
  };
  for (const { source, target, weight } of links) {
    add('source', source, target, weight);
    add('target', target, source, weight);
  }
  return index;
}

const none: ReadonlyMap<number, number> = new Map();

/** Returns the words on the other side that a word is linked to, with their weights. */
export function partners(
  alignment: Alignment,
  side: Side,
  word: number,
): ReadonlyMap<number, number> {
  let index = indices.get(alignment);
  if (!index) indices.set(alignment, (index = indexOf(alignment)));
  return index[side].get(word) ?? none;
}

/** The type size of a text, by its length. */
export type TypeSize = 'sentence' | 'paragraph' | 'page';
export const sizeOf = ({ length }: string): TypeSize =>
  length > 600 ? 'page' : length > 160 ? 'paragraph' : 'sentence';

/** The word under the pointer. */
export interface Lit {
  side: Side;
  word: number;
}

/** The part of a translation that a stream has returned so far. */
export interface Draft {
  text: string;
  /** Ranges of `text`. */
  tokens: Range[];
  /** The ranges of the input that the last token attends to, the largest weight first. */
  glow: (Range & { weight: number })[];
}

/** Returns the lit words on a side: the one under the pointer, or the partners of the other's. */
export function litOn(side: Side, words: Alignment | undefined, lit: Lit | undefined) {
  return {
    chosen: lit?.side === side ? lit.word : undefined,
    weights: words && lit && lit.side !== side ? partners(words, lit.side, lit.word) : none,
  };
}

/** Returns the source tokens of all sentences. */
export const sourceTokensOf = ({ sentences }: Translation): Token[] =>
  sentences.flatMap(({ sourceTokens }) => sourceTokens);

/** A part of a text: a word, or the characters between words. */
export interface Stretch {
  start: number;
  /** The index among the words; undefined between words. */
  word: number | undefined;
  /** The text of its tokens. */
  pieces: string[];
}

/** Returns the first `count` parts of a text; the rest becomes one part that is not a word. */
export function firstStretches(
  text: string,
  stretches: readonly Stretch[],
  count: number,
): readonly Stretch[] {
  const next = stretches[count];
  if (!next) return stretches;
  return [
    ...stretches.slice(0, count),
    { start: next.start, word: undefined, pieces: [text.slice(next.start)] },
  ];
}

const sameStretch = (one: Stretch, other: Stretch): boolean =>
  one.start === other.start &&
  one.word === other.word &&
  one.pieces.length === other.pieces.length &&
  one.pieces.every((piece, i) => piece === other.pieces[i]);

/** Returns the new parts, but reuses the objects of parts that are already drawn. */
export function keptStretches(
  drawn: readonly Stretch[],
  now: readonly Stretch[],
): readonly Stretch[] {
  const known = new Map(drawn.map((stretch) => [stretch.start, stretch]));
  return now.map((stretch) => {
    const old = known.get(stretch.start);
    return old && sameStretch(old, stretch) ? old : stretch;
  });
}

/** Splits a text at words and, within them, at tokens. Both lists are in order. */
export function stretchesOf(
  text: string,
  words: readonly Range[],
  tokens: readonly Range[],
): Stretch[] {
  const cuts = [...new Set(tokens.flatMap(({ start, end }) => [start, end]))].sort((a, b) => a - b);
  const stretches: Stretch[] = [];
  let next = 0;
  const add = (start: number, end: number, word?: number) => {
    if (end <= start) return;
    while (next < cuts.length && cuts[next]! <= start) next++;
    const pieces: string[] = [];
    let from = start;
    for (; next < cuts.length && cuts[next]! < end; next++) {
      pieces.push(text.slice(from, cuts[next]!));
      from = cuts[next]!;
    }
    pieces.push(text.slice(from, end));
    stretches.push({ start, word, pieces });
  };
  let end = 0;
  for (const [i, word] of words.entries()) {
    if (word.start < end || word.end > text.length) continue;
    add(end, word.start);
    add(word.start, word.end, i);
    end = word.end;
  }
  add(end, text.length);
  return stretches;
}
