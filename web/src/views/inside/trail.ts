/**
 * The numbers that a visitor followed, from an answer towards the tokens: each was computed from the
 * next.
 */
import type { Reading } from './reading/reading.ts';
import { headOf, keysOf, rowOf } from './reading/run.ts';
import type { NumberAt, Spot } from './link.ts';
import { stepsOf, type Step } from './steps/steps.ts';

/** A number with the place where the view shows it. */
export interface Crumb extends NumberAt {
  spot: Spot;
  layer: number;
  head: number;
  /** Where it is, for example "Layer 2: feed-forward: hidden units, “film”". */
  title: string;
  value: number;
}

const sameNumber = (one: Crumb, other: Crumb): boolean =>
  one.tensor === other.tensor &&
  one.index === other.index &&
  one.head === other.head &&
  one.spot.stack === other.spot.stack &&
  one.spot.token === other.spot.token;

const shows = ({ vectors = [], keys, answer }: Step, tensor: string): boolean =>
  keys?.tensor === tensor ||
  answer?.tensor === tensor ||
  vectors.some((vector) => vector.tensor === tensor);

/** Returns the crumb of a number, or undefined if the reading has no such number. */
export function crumbOf(
  { run, stacks }: Reading,
  { tensor, index }: NumberAt,
  { spot, layer, head }: Pick<Crumb, 'spot' | 'layer' | 'head'>,
): Crumb | undefined {
  if (!run.trace[tensor] || !stacks[spot.stack]) return undefined;
  const step = stepsOf(stacks, spot.stack, layer).find((each) => shows(each, tensor));
  if (!step) return undefined;
  const vector = step.vectors?.find((each) => each.tensor === tensor);
  const keys = step.keys?.tensor === tensor ? step.keys : undefined;
  const values = keys
    ? keysOf(run, tensor, spot.token, head)
    : vector?.heads === 'one'
      ? headOf(run, tensor, spot.token, head)
      : rowOf(run, tensor, spot.token);
  const value = values[index];
  if (value === undefined) return undefined;
  const ofText = (vector ?? step.answer)?.of === 'text';
  const token = run.pieces[spot.stack]?.[spot.token]?.label;
  const whose = ofText || token === undefined ? '' : `, “${token}”`;
  const title = `${step.part}: ${vector?.label ?? keys?.label ?? step.title}${whose}`;
  return { tensor, index, spot, layer, head, title, value };
}

/** Whether a tensor has a number per pair of tokens. */
export const isOfPairs = (tensor: string): boolean => /_attn\.(scores|weights)$/.test(tensor);

/**
 * Returns the trail that ends in the number from which another is followed. A trail without it is
 * dropped, unless it belongs to the pair of tokens that the trail has led to.
 */
export function leadingTo(trail: readonly Crumb[], from: Crumb | undefined): readonly Crumb[] {
  if (!from) return [];
  const at = trail.findIndex((each) => sameNumber(each, from));
  if (at >= 0) return trail.slice(0, at + 1);
  return isOfPairs(from.tensor) ? [...trail, from] : [from];
}

/** Returns the trail with a number at its end: up to it, if it has it already. */
export function endingIn(trail: readonly Crumb[], crumb: Crumb): readonly Crumb[] {
  const at = trail.findIndex((each) => sameNumber(each, crumb));
  return at >= 0 ? trail.slice(0, at + 1) : [...trail, crumb];
}
