/** Patches of a picture, numbered row by row: their places in words, light and attention on them. */
import type { ImageClassification, PatchGrid, Pixels } from 'glassformer';
import type { HeadPosition } from '../heads/position.ts';

/** A model's input: decoded pixels. */
export type Picture = Pixels & { readonly data: Uint8Array };

/** A picture together with a model's result. */
export interface Reading {
  picture: Picture;
  result: ImageClassification;
}

/** A view of the attention to patches. */
export interface PatchesOnView {
  readonly layers: number;
  readonly heads: number;
  /** The chosen head. */
  head: HeadPosition;
  /** The patch whose attention is shown; undefined: that of the class token. */
  query: number | undefined;
  /** The attention of the query to each patch, in a head. */
  attentionOf(head: HeadPosition): Float32Array | undefined;
}

/** Returns a head's attention to each patch: from a patch, or from the class token. */
export function attentionTo(
  result: ImageClassification | undefined,
  { layer, head }: HeadPosition,
  query: number | undefined,
): Float32Array | undefined {
  const map = result?.attention?.encoder;
  if (!map || layer >= map.layers || head >= map.heads) return undefined;
  const special = result.grid.special.length;
  const row = query === undefined ? 0 : special + query;
  return map.at(layer, head).subarray(row * map.keys + special, (row + 1) * map.keys);
}

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
