/** How alike the learned positions are. */
import type { ImageClassifier } from 'glassformer';
import { range } from '../../ui/text/range.ts';

/** The name of the table of positions, whose rows are the special tokens and then the patches. */
const table = 'encoder.embed_positions.weight';

/**
 * Returns, for each patch, the cosine of the angle between its position and that of every patch, with
 * the mean of all positions subtracted: they have a large part in common.
 */
export async function similarities(
  model: Pick<ImageClassifier, 'weights'>,
  special: number,
  patches: number,
): Promise<Float32Array[]> {
  const rows: Float32Array[] = [];
  for (const patch of range(patches)) rows.push(await model.weights.row(table, special + patch));
  const width = rows[0]!.length;
  const mean = range(width).map((i) => rows.reduce((sum, row) => sum + row[i]!, 0) / patches);
  const centered = rows.map((row) => row.map((value, i) => value - mean[i]!));
  const dot = (a: Float32Array, b: Float32Array) =>
    a.reduce((sum, value, i) => sum + value * b[i]!, 0);
  const lengths = centered.map((row) => Math.sqrt(dot(row, row)) || 1);
  return centered.map((row, i) =>
    Float32Array.from(centered, (other, j) => dot(row, other) / lengths[i]! / lengths[j]!),
  );
}
