// Divides HTML into runs of text that are translated alone, and what stays as it is.

import { characterOf, reference } from './entities.js';
import { standIns } from './kept.js';
import type { Mark } from './place.js';
import { isUntranslated, isVoid, scan } from './scan.js';
import type { Piece } from './scan.js';

/** A run of text with its marks. */
export interface Run {
  /** White space before and after it. */
  before: string;
  after: string;
  text: string;
  marks: Mark[];
  /** The marks whose words stand in for them, by these words. */
  atoms: Map<string, Mark>;
  /** The same HTML, unchanged. */
  raw: string;
}

// Elements that end a run.
const blocks = new Set(
  (
    'address area article aside base blockquote body br caption center col colgroup dd details dialog dir ' +
    'div dl dt fieldset figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6 head header hgroup ' +
    'hr html iframe legend li link main menu meta nav noembed noframes noscript ol optgroup option p param ' +
    'pre search section select script style summary table tbody td template textarea tfoot th thead title ' +
    'tr ul xmp'
  ).split(' '),
);

// Elements whose text is not translated.
const untranslated = new Set(
  'code iframe kbd math noembed noframes pre samp script style svg textarea var xmp'.split(' '),
);
// Those that are no word of a sentence.
const wordless = new Set(['math', 'script', 'style', 'svg']);

/** An item of a run. */
interface Item {
  kind: 'text' | 'open' | 'close' | 'atom';
  raw: string;
  /** Of a text: what it says. */
  text?: string;
  name: string;
  /** Of an atom: a word stands in for it. */
  word?: boolean;
}

// Returns the index after the end of each element that has one, by the index of its start tag.
function endsOfElements(pieces: readonly Piece[]): Map<number, number> {
  const ends = new Map<number, number>();
  const open = new Map<string, number[]>(); // by name
  pieces.forEach(({ kind, name }, i) => {
    if (kind === 'open' && isVoid(name)) ends.set(i, i + 1);
    else if (kind === 'open' && open.has(name)) open.get(name)!.push(i);
    else if (kind === 'open') open.set(name, [i]);
    const start = kind === 'close' ? open.get(name)?.pop() : undefined;
    if (start !== undefined) ends.set(start, i + 1);
  });
  return ends;
}

/**
 * Returns runs of text, and the HTML between them. `openTag` is called for each start tag outside of
 * elements that stay as they are, and returns what takes its place.
 */
export function segment(
  html: string,
  kept: RegExp,
  openTag: (raw: string) => string,
): (string | Run)[] {
  const result: (string | Run)[] = [];
  let items: Item[] = [];
  const flush = (): void => {
    for (const run of runsOf(items)) result.push(run);
    items = [];
  };
  const pieces = scan(html);
  const ends = endsOfElements(pieces);
  for (let i = 0; i < pieces.length; i++) {
    const piece = pieces[i]!;
    const { kind, raw, name } = piece;
    const block = blocks.has(name);
    if (kind === 'comment' && i === pieces.length - 1 && !raw.endsWith('>')) {
      flush(); // a tag or comment that does not end
      result.push(raw);
    } else if (kind === 'comment') {
      items.push({ kind: 'atom', raw, name });
    } else if (kind === 'open' && (untranslated.has(name) || isUntranslated(piece))) {
      // Without an end, an element of raw text goes on to the end of the HTML.
      const last = ends.get(i) ?? i + 1;
      const whole = pieces
        .slice(i, last)
        .map((each) => each.raw)
        .join('');
      if (block) {
        flush();
        result.push(whole);
      } else {
        items.push({ kind: 'atom', raw: whole, name, word: !wordless.has(name) });
      }
      i = last - 1;
    } else if (block) {
      flush();
      result.push(kind === 'open' ? openTag(raw) : raw);
    } else if (kind === 'text') {
      for (const item of textItems(raw, kept)) items.push(item);
    } else if (kind === 'open' && isVoid(name)) {
      items.push({ kind: 'atom', raw: openTag(raw), name });
    } else {
      items.push({ kind, raw: kind === 'open' ? openTag(raw) : raw, name });
    }
  }
  flush();
  return result;
}

/** Returns the value of an attribute as one run. */
export function segmentValue(raw: string, kept: RegExp): Run {
  return buildRun(textItems(raw, kept), (whole) => whole);
}

/** Returns a text as one run. */
export function segmentText(text: string, kept: RegExp): Run {
  const parts: Item[] = [];
  let from = 0;
  for (const { 0: part, index } of text.matchAll(kept)) {
    if (!part) continue;
    parts.push({ kind: 'text', raw: text.slice(from, index), name: '' });
    parts.push({ kind: 'atom', raw: part, name: '', word: true });
    from = index + part.length;
  }
  parts.push({ kind: 'text', raw: text.slice(from), name: '' });
  return buildRun(parts, (whole) => whole);
}

// Splits text at parts that are kept, and at rare character references, which are, too.
function textItems(raw: string, kept: RegExp): Item[] {
  const atoms = new RegExp(`${kept.source}|${reference.source}`, 'gu');
  const items: Item[] = [];
  let text = '';
  let begin = 0; // of the text that is not yet an item
  let from = 0;
  const end = (at: number): void => {
    if (at > begin) items.push({ kind: 'text', raw: raw.slice(begin, at), text, name: '' });
    text = '';
  };
  for (const { 0: part, index } of raw.matchAll(atoms)) {
    if (!part) continue;
    text += raw.slice(from, index);
    from = index + part.length;
    const character = part.startsWith('&') ? characterOf(part) : undefined;
    if (character !== undefined) {
      text += character;
      continue;
    }
    end(index);
    items.push({ kind: 'atom', raw: part, name: '', word: true });
    begin = from;
  }
  text += raw.slice(from);
  end(raw.length);
  return items;
}

// Divides a run at tags without a partner in it: their place is certain only between two runs. So are
// the tags of elements that have such a tag within them.
function runsOf(items: readonly Item[]): (string | Run)[] {
  const open: number[] = [];
  const named = new Map<string, number>(); // how many of them have a name
  const count = (name: string, more: number) => named.set(name, (named.get(name) ?? 0) + more);
  const pairs: [from: number, to: number][] = [];
  const alone = new Set<number>();
  items.forEach(({ kind, name }, i) => {
    if (kind === 'open') {
      open.push(i);
      count(name, 1);
    }
    if (kind !== 'close') return;
    if (!named.get(name)) {
      alone.add(i);
      return;
    }
    for (let partner; (partner = open.pop()) !== undefined;) {
      const other = items[partner]!.name;
      count(other, -1);
      if (other === name) {
        pairs.push([partner, i]);
        return;
      }
      alone.add(partner); // it crosses this element
    }
  });
  for (const i of open) alone.add(i);
  let before = 0;
  const aloneBefore = items.map((_, i) => (alone.has(i) ? before++ : before));
  for (const [from, to] of pairs) {
    if (aloneBefore[from]! === aloneBefore[to]!) continue;
    alone.add(from);
    alone.add(to);
  }
  const result: (string | Run)[] = [];
  let part: Item[] = [];
  const flush = (): void => {
    if (part.length > 0) result.push(buildRun(part, collapse));
    part = [];
  };
  items.forEach((item, i) => {
    if (!alone.has(i)) {
      part.push(item);
      return;
    }
    flush();
    result.push(item.raw);
  });
  flush();
  return result;
}

// Returns text as a browser shows it after `before`: white space is one space.
function collapse(text: string, before: string): string {
  const single = text.replace(/[ \t\n\f\r]+/g, ' ');
  return before === '' || before.endsWith(' ') ? single.replace(/^ /, '') : single;
}

function buildRun(items: readonly Item[], shown: (text: string, before: string) => string): Run {
  const raw = items.map((item) => item.raw).join('');
  const textOf = (item?: Item): string => (item?.kind === 'text' ? (item.text ?? item.raw) : '');
  const plain = items.map(textOf).join('');
  const [first, last] = [textOf(items[0]), textOf(items.at(-1))];
  const before = /^[ \t\n\f\r]*/.exec(first)![0];
  const after = items.length > 1 || before !== first ? /[ \t\n\f\r]*$/.exec(last)![0] : '';
  const nextWord = standIns(plain);
  const atoms = new Map<string, Mark>();
  const marks: Mark[] = [];
  const stack: Mark[] = [];
  let text = '';
  const add = (mark: Mark): void => void (stack.at(-1)?.children ?? marks).push(mark);
  items.forEach((item, i) => {
    const { kind, raw: code, word } = item;
    const start = text.length;
    if (kind === 'text') {
      const own = textOf(item);
      const from = i === 0 ? before.length : 0;
      const to = own.length - (i === items.length - 1 ? after.length : 0);
      text += shown(own.slice(from, Math.max(from, to)), text);
    } else if (kind === 'open') {
      const mark = { start, end: start, open: code, close: '', children: [] };
      add(mark);
      stack.push(mark);
    } else if (kind === 'close') {
      const mark = stack.pop()!;
      mark.close = code;
      mark.end = text.length;
    } else {
      const standIn = word ? nextWord() : '';
      text += standIn;
      // Two spaces around it have become one.
      const spaced = !word && /(^| )$/.test(text) && /^\s/.test(textOf(items[i + 1]));
      const close = spaced && i > 0 ? ' ' : '';
      const mark = { start, end: text.length, open: '', close, atom: code, children: [] };
      add(mark);
      if (word) atoms.set(standIn, mark);
    }
  });
  return { before, after, text, marks, atoms, raw };
}
