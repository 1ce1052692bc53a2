/** Sums over the tensors in a model's files. */
import type { Compute, StoredTensor } from 'glassformer';

type Tensors = readonly StoredTensor[];

/** The number of elements in all tensors. A byte of type U8 has two. */
export const numbersIn = (tensors: Tensors): number =>
  tensors.reduce(
    (sum, { shape, dtype }) =>
      sum + shape.reduce((product, size) => product * size, dtype === 'U8' ? 2 : 1),
    0,
  );

/** The types in which they are stored, such as F16. */
export const typesIn = (tensors: Tensors): string[] => [
  ...new Set(tensors.map(({ dtype }) => dtype)),
];

const bytesPerElement: Readonly<Record<string, number>> = {
  F64: 8,
  F32: 4,
  I64: 8,
  I32: 4,
  F16: 2,
  BF16: 2,
};

/** The size of the tensors as they are stored, in bytes. */
export const sizeOf = (tensors: Tensors): number =>
  tensors.reduce(
    (sum, { shape, dtype }) =>
      sum + shape.reduce((product, size) => product * size, bytesPerElement[dtype] ?? 1),
    0,
  );

/** The memory of the weights in bytes: an estimate, because a model may not use all of them. */
export const memoryOf = (tensors: Tensors, compute: Compute): number =>
  numbersIn(tensors) * { f32: 4, int8: 1, int4: 0.6 }[compute];
