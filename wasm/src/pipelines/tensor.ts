/** An array of numbers with several dimensions, as Transformers.js returns vectors. */
export class Tensor<Data extends Float32Array | Int8Array | Uint8Array = Float32Array> {
  readonly type: 'float32' | 'int8' | 'uint8';
  /** The numbers, row-major. */
  readonly data: Data;
  readonly dims: readonly number[];

  constructor(data: Data, dims: readonly number[]) {
    this.type =
      data instanceof Float32Array ? 'float32' : data instanceof Int8Array ? 'int8' : 'uint8';
    this.data = data;
    this.dims = dims;
  }

  get size(): number {
    return this.data.length;
  }

  /** Returns nested arrays. */
  tolist(): unknown[] {
    const nested = (dims: readonly number[], begin: number, size: number): unknown[] => {
      const [count = 0, ...others] = dims;
      const step = size / count;
      return Array.from({ length: count }, (_, i) =>
        others.length > 0 ? nested(others, begin + i * step, step) : this.data[begin + i],
      );
    };
    return nested(this.dims, 0, this.data.length);
  }

  /** Yields the parts along the first dimension. */
  *[Symbol.iterator](): Generator<Tensor<Data>, void, void> {
    const [count = 0, ...others] = this.dims;
    const step = this.data.length / count;
    for (let i = 0; i < count; ++i) {
      yield new Tensor(this.data.slice(i * step, (i + 1) * step) as Data, others);
    }
  }
}

/** Returns the signs of numbers as bits, eight per byte, the first one highest. */
export function signs(
  { data, dims }: Tensor,
  precision: 'binary' | 'ubinary',
): Tensor<Int8Array | Uint8Array> {
  const bytes = new Uint8Array(data.length / 8);
  data.forEach((value, i) => {
    if (value > 0) bytes[i >> 3]! |= 128 >> (i % 8);
  });
  const packed = precision === 'ubinary' ? bytes : Int8Array.from(bytes, (byte) => byte - 128);
  return new Tensor(packed, [...dims.slice(0, -1), dims.at(-1)! / 8]);
}
