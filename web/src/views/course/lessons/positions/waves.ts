/** The sinusoidal positional encoding, and how alike positions are. */
import { random } from '../../../../ui/random.ts';
import { cosine } from '../../pictures/vectors.ts';

/** Returns number `index` of the encoding of position `t`, both from 0. */
export function encoding(t: number, index: number, dModel: number): number {
  const angle = t / 10000 ** ((2 * Math.floor(index / 2)) / dModel);
  return index % 2 === 0 ? Math.sin(angle) : Math.cos(angle);
}

/** Returns after how many positions a column repeats. */
export const wavelength = (index: number, dModel: number): number =>
  2 * Math.PI * 10000 ** ((2 * Math.floor(index / 2)) / dModel);

/** Returns the cosine of each pair of rows, with the mean of all rows subtracted. */
export function likeness(rows: readonly Float32Array[]): Float32Array {
  const count = rows.length;
  const mean = rows[0]!.map((_, i) => rows.reduce((sum, row) => sum + row[i]!, 0) / count);
  const own = rows.map((row) => row.map((value, i) => value - mean[i]!));
  const all = new Float32Array(count * count);
  for (const [i, a] of own.entries())
    for (const [j, b] of own.entries()) all[i * count + j] = cosine(a, b);
  return all;
}

/** Returns the numbers 0 … count − 1 in an order that is always the same, but looks random. */
export function shuffled(count: number): number[] {
  const order = Array.from({ length: count }, (_, i) => i);
  const draw = random(20170612);
  for (let i = count - 1; i > 0; i--) {
    const j = Math.floor(draw() * (i + 1));
    [order[i], order[j]] = [order[j]!, order[i]!];
  }
  return order;
}
