/** What of a view's changes is a step that can be undone, and what only looks somewhere else. */
import type { Link } from '../ui/link.ts';

const namesOf = (...links: readonly Link[]) => new Set(links.flatMap(Object.keys));

/**
 * Whether a text, a model or an intervention was changed; `viewpoint` are the names that only say what one
 * looks at. A link without a text describes no state yet.
 */
export function isStep(before: Link, after: Link, viewpoint: readonly string[] = []): boolean {
  if (before.text === undefined) return false;
  return [...namesOf(before, after)].some(
    (name) => !viewpoint.includes(name) && before[name] !== after[name],
  );
}

export const sameLink = (one: Link, other: Link): boolean =>
  [...namesOf(one, other)].every((name) => one[name] === other[name]);

/** What the browser keeps with each entry of its history. */
export interface Entry {
  kind: 'glassformer';
  /** Counts from 0 in a tab. */
  at: number;
  link: Link;
  /** Whether typing made it: more of that makes no other. */
  typed: boolean;
  /** Whether it is a step from the entry before, in the same view. */
  step: boolean;
  /** Whether `link` is whole: one that somebody followed may leave out what a view starts with. */
  whole: boolean;
}

/** The history may be another page's, or another version's. */
export function entryIn(state: unknown): Entry | undefined {
  const found = state as Partial<Entry> | null | undefined;
  if (typeof found !== 'object' || found?.kind !== 'glassformer') return undefined;
  const { at, link, typed = false, step = false, whole = true } = found;
  if (typeof at !== 'number' || typeof link !== 'object' || link === null) return undefined;
  if (!Object.values(link).every((value) => typeof value === 'string')) return undefined;
  return { kind: 'glassformer', at, link, typed, step, whole };
}
