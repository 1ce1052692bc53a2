/** Sums over the tensors in a model's files. */
import type { Compute, StoredTensor } from 'glassformer';

type Tensors = readonly StoredTensor[];

/** The number of elements in all tensors. */
export const numbersIn = (tensors: Tensors): number =>
  tensors.reduce((sum, { shape }) => sum + shape.reduce((product, size) => product * size, 1), 0);

/** The types in which they are stored, such as F16. */
export const typesIn = (tensors: Tensors): string[] => [
  ...new Set(tensors.map(({ dtype }) => dtype)),
];

/** The memory of the weights in bytes: an estimate, because a model may not use all of them. */
export const memoryOf = (tensors: Tensors, compute: Compute): number =>
  numbersIn(tensors) * (compute === 'f32' ? 4 : 1);
