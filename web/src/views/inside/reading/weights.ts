/** The weights of a model, a number at a time: its model.safetensors, read by its header. */
import type { Alias } from './architecture.ts';

interface Entry {
  dtype: 'F32' | 'F16' | 'I8';
  shape: readonly number[];
  data_offsets: readonly [number, number];
}

const sizes = { F32: 4, F16: 2, I8: 1 };

export class WeightsError extends Error {
  override name = 'WeightsError';
}

/** A file of tensors: see huggingface.co/docs/safetensors. */
export class Weights {
  readonly #data: DataView;
  readonly #entries: ReadonlyMap<string, Entry>;
  readonly #inFile: (name: string) => Alias;

  constructor(bytes: Uint8Array, inFile: (name: string) => Alias) {
    const { buffer, byteOffset, byteLength } = bytes;
    const file = new DataView(buffer, byteOffset, byteLength);
    const length = byteLength < 8 ? NaN : Number(file.getBigUint64(0, true));
    if (!(8 + length <= byteLength))
      throw new WeightsError(`a header of ${length} bytes in a file of ${byteLength}`);
    const header = JSON.parse(new TextDecoder().decode(bytes.subarray(8, 8 + length))) as Record<
      string,
      Entry
    >;
    const entries = Object.entries(header).filter(([name]) => name !== '__metadata__');
    for (const [name, { dtype, shape, data_offsets }] of entries) {
      const [start, end] = data_offsets;
      const count = shape.reduce((product, extent) => product * extent, 1);
      if (end - start !== count * sizes[dtype] || 8 + length + end > byteLength)
        throw new WeightsError(`${name}: expected ${count} numbers of type ${dtype}`);
    }
    this.#entries = new Map(entries);
    this.#data = new DataView(buffer, byteOffset + 8 + length, byteLength - 8 - length);
    this.#inFile = inFile;
  }

  /** What tensors there are, as the file has them, but for the scales of those in integers. */
  get shapes(): { name: string; shape: readonly number[] }[] {
    return [...this.#entries]
      .filter(([name]) => !this.#entries.has(name.replace(/_scale$/, '')) || !/_scale$/.test(name))
      .map(([name, { shape }]) => ({ name, shape }));
  }

  /** Row `row` of a matrix [out, in], as the engine has it: 8-bit weights times their row's scale. */
  row(name: string, row: number): Float32Array {
    const { name: stored, transposed, first } = this.#inFile(name);
    const entry = this.#entry(stored);
    const [rows = 1, columns = 1] = entry.shape;
    const at = first + row;
    if (transposed)
      return Float32Array.from({ length: rows }, (_, i) => this.#at(entry, i * columns + at));
    const scale = entry.dtype === 'I8' ? this.#at(this.#entry(`${stored}_scale`), at) : 1;
    return Float32Array.from(
      { length: columns },
      (_, i) => this.#at(entry, at * columns + i) * scale,
    );
  }

  /** One number of a vector. */
  value(name: string, index: number): number {
    const { name: stored, first } = this.#inFile(name);
    return this.#at(this.#entry(stored), first + index);
  }

  #entry(name: string): Entry {
    const entry = this.#entries.get(name);
    if (!entry) throw new WeightsError(`the file has no tensor ${name}`);
    return entry;
  }

  #at({ dtype, data_offsets: [start] }: Entry, index: number): number {
    const at = start + index * sizes[dtype];
    if (dtype === 'I8') return this.#data.getInt8(at);
    return dtype === 'F32' ? this.#data.getFloat32(at, true) : half(this.#data.getUint16(at, true));
  }
}

/** A number of 16 bits: IEEE 754 binary16. */
function half(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}
