/** Patches, which are numbered row by row: their places in words, and light on them. */
import type { PatchGrid } from 'glassformer';

const numbers = (patch: number, { columns }: PatchGrid): string =>
  `${Math.floor(patch / columns) + 1}, column ${(patch % columns) + 1}`;

/** Within a sentence. */
export const placeName = (patch: number, grid: PatchGrid): string => `row ${numbers(patch, grid)}`;

/** As a label. */
export const placeLabel = (patch: number, grid: PatchGrid): string => `Row ${numbers(patch, grid)}`;

export const largest = (weights: Float32Array): number =>
  weights.reduce((a, b) => Math.max(a, b), 0);

/** Returns light from 0 to 1 for weights: the root makes small ones visible, as in other maps. */
export function lightOf(weights: Float32Array | undefined): number[] | undefined {
  if (!weights) return undefined;
  const most = largest(weights);
  return Array.from(weights, (each) => (most > 0 ? Math.sqrt(Math.max(0, each) / most) : 0));
}
