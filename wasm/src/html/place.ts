// Puts marks of a text, such as elements, where they belong in its translation.

import type { AlignmentLink } from '../index.js';
import { standInPattern } from './kept.js';

/** Something at a place of a text. Its children are within it, in order. */
export interface Mark {
  start: number;
  end: number;
  /** The code before it and after it. */
  open: string;
  close: string;
  /** It has no text of its own: the word in its place stands in for it, or there is none. */
  atom?: string;
  children: Mark[];
}

interface Range {
  start: number;
  end: number;
}

/** A word of the translation, and the word of the text that it was translated from. */
interface Word extends Range {
  source: Range;
}

interface Placed extends Range {
  mark: Mark;
  /** Its words: `first` up to `last`. */
  first: number;
  last: number;
}

const overlap = (a: Range, b: Range): number => Math.min(a.end, b.end) - Math.max(a.start, b.start);

// Returns the words of the translation, in order, each with the source word of most weight. A word
// that stands in for an atom belongs to it; `repeated`: those that were written again.
function wordsOf(
  target: string,
  links: readonly AlignmentLink[],
  atoms: ReadonlyMap<string, Mark>,
): { words: Word[]; repeated: Range[] } {
  const best = new Map<number, AlignmentLink>();
  for (const link of links) {
    const known = best.get(link.target.start);
    if (!known || known.weight < link.weight) best.set(link.target.start, link);
  }
  const exact: Word[] = [];
  const repeated: Range[] = [];
  const seen = new Set<Mark>();
  for (const { 0: word, index } of target.matchAll(standInPattern)) {
    const mark = atoms.get(word);
    if (!mark) continue;
    const place = { start: index, end: index + word.length };
    if (seen.has(mark))
      repeated.push({ ...place, start: index - Number(target[index - 1] === ' ') });
    else exact.push({ ...place, source: mark });
    seen.add(mark);
  }
  const taken = [...exact, ...repeated];
  const others = [...best.values()].flatMap(({ target: range, source }) =>
    without(range, taken).map((part) => ({ ...part, source })),
  );
  return { words: [...exact, ...others].sort((a, b) => a.start - b.start), repeated };
}

// Returns the parts of a range that are not taken.
function without(range: Range, taken: readonly Range[]): Range[] {
  let parts = [range];
  for (const hit of taken) {
    if (overlap(range, hit) <= 0) continue;
    parts = parts
      .flatMap(({ start, end }) => [
        { start, end: Math.min(end, hit.start) },
        { start: Math.max(start, hit.end), end },
      ])
      .filter(({ start, end }) => start < end);
  }
  return parts;
}

/** Marks within others, on their way into the output. */
interface Frame {
  all: readonly Placed[];
  /** The number of them that are written. */
  done: number;
  /** The end of what is written of the translation. */
  at: number;
  within: Range;
}

/**
 * Returns a translation with the marks of its text. Each mark is there once, and those that enclose
 * others still do. A mark encloses the words that were translated from its own. If they are not
 * together, it encloses most of them. `write` turns text into output.
 */
export function place(
  marks: readonly Mark[],
  source: string,
  target: string,
  links: readonly AlignmentLink[],
  atoms: ReadonlyMap<string, Mark>,
  write: (text: string) => string,
): string {
  const { words, repeated } = wordsOf(target, links, atoms);

  const text = (start: number, end: number): string => {
    const parts = without({ start, end }, repeated);
    return write(parts.map((part) => target.slice(part.start, part.end)).join(''));
  };

  // Returns the mark that a word of the translation belongs to.
  const ownerOf = (word: Word, among: readonly Mark[]): Mark | undefined => {
    let owner: Mark | undefined;
    let most = 0;
    for (const mark of among) {
      const shared = overlap(mark, word.source);
      if (shared > most) [owner, most] = [mark, shared];
    }
    return owner;
  };

  // Places the marks that have words among words `first` up to `last`. None of their ranges overlap:
  // a range begins and ends with words of its mark, and has none of another mark.
  const placeFilled = (
    among: readonly Mark[],
    parent: Range,
    first: number,
    last: number,
  ): Placed[] => {
    const owners = words.slice(first, last).map((word) => ownerOf(word, among));
    return among.flatMap((mark) => {
      const rest = source.slice(parent.start, mark.start) + source.slice(mark.end, parent.end);
      const whole = !/[^\s]/.test(rest) && last > first && mark.atom === undefined;
      let best = { from: 0, to: whole ? owners.length - 1 : -1, own: whole ? Infinity : 0 };
      for (let from = 0; from < owners.length && !whole; from++) {
        if (owners[from] !== mark) continue;
        let own = 0;
        let to = from;
        for (let i = from; i < owners.length; i++) {
          if (owners[i] === mark) [own, to] = [own + 1, i];
          else if (owners[i]) break;
        }
        if (own > best.own) best = { from, to, own };
        from = to;
      }
      if (best.to < best.from) return [];
      const [a, b] = [first + best.from, first + best.to];
      return [{ mark, first: a, last: b + 1, start: words[a]!.start, end: words[b]!.end }];
    });
  };

  // Returns the place of a mark without words: at the translation of the word next to it.
  const pointFor = (mark: Mark, within: Range, first: number, last: number): Range => {
    const own = words.slice(first, last);
    const before = own
      .filter(({ source: word }) => word.end <= mark.start)
      .reduce<Word | undefined>((a, b) => (a && a.source.end > b.source.end ? a : b), undefined);
    const after = own
      .filter(({ source: word }) => word.start >= mark.end)
      .reduce<Word | undefined>(
        (a, b) => (a && a.source.start <= b.source.start ? a : b),
        undefined,
      );
    const joined = mark.start > 0 && !/\s/.test(source[mark.start - 1]!);
    const at = joined && before ? before.end : (after?.start ?? before?.end ?? within.end);
    return { start: at, end: at };
  };

  // Returns the marks and their places, in order, among words `first` up to `last`.
  const frameOf = (
    among: readonly Mark[],
    parent: Range,
    within: Range,
    first: number,
    last: number,
  ): Frame => {
    const own = among.filter(({ start, end }) => start < end);
    const filled = placeFilled(own, parent, first, last);
    const found = new Set(filled.map(({ mark }) => mark));
    const empty = among
      .filter((mark) => !found.has(mark))
      .map((mark) => {
        const point = pointFor(mark, within, first, last);
        const inside = filled.find(({ start, end }) => start < point.start && point.start < end);
        const at = inside ? inside.end : point.start;
        return { mark, first: last, last, start: at, end: at };
      });
    const order = new Map(among.map((mark, i) => [mark, i]));
    const all = [...filled, ...empty].sort(
      (a, b) => a.start - b.start || a.end - b.end || order.get(a.mark)! - order.get(b.mark)!,
    );
    return { all, done: 0, at: within.start, within };
  };

  const output: string[] = [];
  let tail = ''; // the last character of the output
  const put = (part: string): void => {
    output.push(part);
    tail = part.at(-1) ?? tail;
  };
  // The word that stood in for it is lost.
  const isLost = ({ mark, start, end }: Placed): boolean =>
    mark.atom !== undefined && mark.start < mark.end && start === end;
  const close = (placed: Placed): void => {
    put(placed.mark.close);
    if (isLost(placed) && /[^\s]/.test(target[placed.start] ?? ' ')) put(' ');
  };
  const whole = { start: 0, end: target.length };
  const frames = [frameOf(marks, { start: 0, end: source.length }, whole, 0, words.length)];
  for (let frame; (frame = frames.at(-1));) {
    const placed = frame.all[frame.done++];
    if (!placed) {
      put(text(frame.at, frame.within.end));
      frames.pop();
      const parent = frames.at(-1);
      if (parent) close(parent.all[parent.done - 1]!);
      continue;
    }
    const { mark, start, end, first, last } = placed;
    put(text(frame.at, start));
    frame.at = end;
    const spaced = isLost(placed) || (start === end && /\s/.test(source[mark.start - 1] ?? ''));
    if (spaced && /[^\s>]/.test(tail)) put(' ');
    put(mark.open);
    if (mark.atom === undefined) {
      frames.push(frameOf(mark.children, mark, placed, first, last));
    } else {
      put(mark.atom);
      close(placed);
    }
  }
  return output.join('');
}
