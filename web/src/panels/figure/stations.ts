import type { Stack, Station } from './figure.ts';

/** Returns all places in the order in which a text passes through them. */
export function stationsOf(stacks: readonly Stack[]): Station[] {
  return stacks.flatMap(({ name: stack, before, layer: sublayers, count = 1, after }) => [
    ...before.map((box) => ({ stack, box, layer: undefined })),
    ...Array.from({ length: count }, (_, layer) =>
      sublayers.flat().map((box) => ({ stack, box, layer })),
    ).flat(),
    ...after.map((box) => ({ stack, box, layer: undefined })),
  ]);
}
