/** A text a day, whose verdict is to be turned with as few letters as possible. */
import { probes } from '../../../panels/verdict/probes.ts';

const day = 86_400_000;

/** The date in the visitor's time zone, such as 2026-11-30. */
export const dateOf = (now: Date): string =>
  [now.getFullYear(), now.getMonth() + 1, now.getDate()]
    .map((part) => `${part}`.padStart(2, '0'))
    .join('-');

/** Returns the text of a date: each in turn. */
export function textOf(date: string): string {
  const days = Math.round(Date.parse(`${date}T00:00Z`) / day);
  return probes[((days % probes.length) + probes.length) % probes.length]!;
}

/**
 * Returns how many letters have to be inserted, deleted or replaced to turn one text into another
 * (Levenshtein 1966). Spaces around a text do not count.
 */
export function lettersBetween(one: string, other: string): number {
  const [a, b] = [[...one.trim()], [...other.trim()]];
  let above = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (const [i, letter] of a.entries()) {
    const row = [i + 1];
    for (const [j, its] of b.entries())
      row.push(Math.min(row[j]! + 1, above[j + 1]! + 1, above[j]! + (letter === its ? 0 : 1)));
    above = row;
  }
  return above[b.length]!;
}
