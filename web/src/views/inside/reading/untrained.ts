/** Weights for a model that has learned nothing: Xavier's (Glorot and Bengio 2010). */

/** Numbers from 0 to 1 that a seed decides: mulberry32. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A model.safetensors with tensors of these names and shapes, drawn at random. */
export function untrainedWeights(
  shapes: readonly { name: string; shape: readonly number[] }[],
  seed = 1,
): Uint8Array<ArrayBuffer> {
  const header: Record<string, unknown> = { __metadata__: { format: 'pt' } };
  let end = 0;
  const placed = shapes.map(({ name, shape }) => {
    const count = shape.reduce((product, extent) => product * extent, 1);
    const start = end;
    end += 4 * count;
    header[name] = { dtype: 'F32', shape, data_offsets: [start, end] };
    return { name, shape, start, count };
  });
  const text = JSON.stringify(header);
  // Numbers lie at multiples of eight.
  const written = new TextEncoder().encode(text.padEnd(Math.ceil(text.length / 8) * 8));
  const file = new Uint8Array(8 + written.length + end);
  new DataView(file.buffer).setBigUint64(0, BigInt(written.length), true);
  file.set(written, 8);
  const next = random(seed);
  for (const { name, shape, start, count } of placed) {
    const values = new Float32Array(file.buffer, 8 + written.length + start, count);
    if (shape.length === 1) {
      values.fill(name.endsWith('.weight') ? 1 : 0);
      continue;
    }
    const bound = Math.sqrt(6 / (shape[0]! + shape[1]!));
    for (let i = 0; i < count; i++) values[i] = (2 * next() - 1) * bound;
  }
  return file;
}
