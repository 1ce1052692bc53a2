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
  /** The key in whose row it is, for a key or a value of attention. */
  key: number | undefined;
  /** Where it is, for example "Layer 2: feed-forward: hidden units, “film”". */
  title: string;
  value: number;
}

/** Whether a tensor has a row per key: those of keys and of values. */
export const isOfKeys = (tensor: string): boolean => /_attn\.[kv]$/.test(tensor);

/** Whether the keys of a tensor of attention are of the encoder. */
export const isCross = (tensor: string): boolean => tensor.includes('.encoder_attn');

const sameNumber = (one: Crumb, other: Crumb): boolean =>
  one.tensor === other.tensor &&
  one.index === other.index &&
  one.head === other.head &&
  one.key === other.key &&
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
  { spot, layer, head, key }: Pick<Crumb, 'spot' | 'layer' | 'head' | 'key'>,
): Crumb | undefined {
  if (!run.trace[tensor] || !stacks[spot.stack]) return undefined;
  const step = stepsOf(stacks, spot.stack, layer).find((each) => shows(each, tensor));
  if (!step) return undefined;
  const vector = step.vectors?.find((each) => each.tensor === tensor);
  const keys = step.keys?.tensor === tensor ? step.keys : undefined;
  const row = vector?.of === 'key' ? key : spot.token;
  if (row === undefined) return undefined;
  const values = keys
    ? keysOf(run, tensor, row, head)
    : vector?.heads === 'one'
      ? headOf(run, tensor, row, head)
      : rowOf(run, tensor, row);
  const value = values[index];
  if (value === undefined) return undefined;
  const ofText = (vector ?? step.answer)?.of === 'text';
  const stack = isOfKeys(tensor) && isCross(tensor) ? 'encoder' : spot.stack;
  const token = run.pieces[stack]?.[row]?.label;
  const whose = ofText || token === undefined ? '' : `, “${token}”`;
  const title = `${step.part}: ${vector?.label ?? keys?.label ?? step.title}${whose}`;
  return {
    tensor,
    index,
    spot,
    layer,
    head,
    key: isOfKeys(tensor) ? key : undefined,
    title,
    value,
  };
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
