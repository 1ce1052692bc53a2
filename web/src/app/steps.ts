/** Tells changes that can be undone from those that only select what to look at. */
import type { Link } from '../ui/link.ts';

const namesOf = (...links: readonly Link[]) => new Set(links.flatMap(Object.keys));

/**
 * Whether a text, a model or an intervention was changed. `viewpoint` lists the parameters that
 * only select what to look at. A link without a text describes no state yet.
 */
export function isStep(before: Link, after: Link, viewpoint: readonly string[] = []): boolean {
  if (before.text === undefined) return false;
  return [...namesOf(before, after)].some(
    (name) => !viewpoint.includes(name) && before[name] !== after[name],
  );
}

export const sameLink = (one: Link, other: Link): boolean =>
  [...namesOf(one, other)].every((name) => one[name] === other[name]);

/** The state that the browser keeps with each history entry. */
export interface Entry {
  kind: 'glassformer';
  /** The position in the tab's history, from 0. */
  at: number;
  link: Link;
  /** Whether it was created by typing: more typing creates no new entry. */
  typed: boolean;
  /** Whether it is an undoable step from the entry before, in the same view. */
  step: boolean;
  /** Whether `link` is complete: a link that was followed may omit defaults. */
  whole: boolean;
}

/** Returns the entry in `state`, which another page or version of the page may have written. */
export function entryIn(state: unknown): Entry | undefined {
  const found = state as Partial<Entry> | null | undefined;
  if (typeof found !== 'object' || found?.kind !== 'glassformer') return undefined;
  const { at, link, typed = false, step = false, whole = true } = found;
  if (typeof at !== 'number' || typeof link !== 'object' || link === null) return undefined;
  if (!Object.values(link).every((value) => typeof value === 'string')) return undefined;
  return { kind: 'glassformer', at, link, typed, step, whole };
}
