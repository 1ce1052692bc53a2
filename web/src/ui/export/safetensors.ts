/** Writes tensors as a safetensors file: https://github.com/huggingface/safetensors#format. */
import type { TracedTensor } from 'glassformer';

/** `metadata` is stored in the file's header. */
export function toSafetensors(
  tensors: Readonly<Record<string, TracedTensor>>,
  metadata: Readonly<Record<string, string>>,
): Blob {
  const header: Record<string, unknown> = { __metadata__: metadata };
  let end = 0;
  const parts: Float32Array<ArrayBuffer>[] = [];
  for (const [name, { shape, data }] of Object.entries(tensors)) {
    // A traced tensor may be a part of a larger array.
    const own = Float32Array.from(data);
    header[name] = { dtype: 'F32', shape, data_offsets: [end, (end += own.byteLength)] };
    parts.push(own);
  }
  const text = JSON.stringify(header);
  // Spaces at the end of the header align the numbers.
  const bytes = new TextEncoder().encode(text);
  const length = Math.ceil(bytes.length / 8) * 8;
  const start = new Uint8Array(8 + length).fill(0x20);
  new DataView(start.buffer).setBigUint64(0, BigInt(length), true);
  start.set(bytes, 8);
  return new Blob([start, ...parts], { type: 'application/octet-stream' });
}
