/**
 * Predictions as codes that pupils read out: a letter for the lesson, a digit for the choice, and a
 * letter that depends on both and on the sentence, so that most mistakes and other sentences are noticed.
 * Nothing is sent.
 */
import { lessons } from './lessons.ts';

/** Without letters that sound or look like others. */
const letters = 'ABCDEFGHJKLMNPQRSTUVWXYZ';

/** FNV-1a, 32 bits. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(text.trim()))
    hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return hash;
}

const checkOf = (lesson: number, choice: number, text: string): string =>
  letters[(hashOf(text) + 5 * lesson + 11 * choice) % letters.length]!;

/** Returns the code of a choice, counted from 0, such as D3K. */
export function codeOf(lesson: string, choice: number, text: string): string {
  const index = lessons.findIndex(({ name }) => name === lesson);
  return `${letters[index]}${choice + 1}${checkOf(index, choice, text)}`;
}

export interface Counted {
  /** The lesson, as in a link. */
  lesson: string;
  /** How many chose each choice, in their order. */
  choices: readonly number[];
}

/** Counts the codes in what a teacher typed. The others are returned as they were typed. */
export function countCodes(typed: string, text: string): { counted: Counted[]; others: string[] } {
  const counts = new Map<number, number[]>();
  const others: string[] = [];
  for (const code of typed.toUpperCase().split(/[\s,;]+/)) {
    if (code === '') continue;
    const [, letter = '', digit, check] = /^([A-Z])([1-9])([A-Z])$/.exec(code) ?? [];
    const lesson = letters.indexOf(letter);
    const choice = Number(digit) - 1;
    const known = letter !== '' && lesson >= 0 && lesson < lessons.length;
    if (!known || check !== checkOf(lesson, choice, text)) {
      others.push(code);
      continue;
    }
    const own = counts.get(lesson) ?? [];
    own[choice] = (own[choice] ?? 0) + 1;
    counts.set(lesson, own);
  }
  const counted = [...counts]
    .sort(([a], [b]) => a - b)
    .map(([lesson, own]) => ({
      lesson: lessons[lesson]!.name,
      choices: Array.from(own, (count = 0) => count),
    }));
  return { counted, others };
}
