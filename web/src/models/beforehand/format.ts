/** The JSON format of precomputed answers. */
import type { AttentionMap } from 'glassformer';

/** Attention weights as plain data. */
type RawAttention = Omit<AttentionMap, 'at'>;

/** An attention weight from 0 to 1 is stored as an integer number of steps. */
const steps = 65535;

type Packed = Omit<RawAttention, 'data'> & { weights: string };

const isAttention = (value: unknown): value is RawAttention =>
  typeof value === 'object' && value !== null && 'queries' in value && 'data' in value;
const isPacked = (value: unknown): value is Packed =>
  typeof value === 'object' && value !== null && 'queries' in value && 'weights' in value;
const isFloats = (value: unknown): value is { floats: number[] } =>
  typeof value === 'object' && value !== null && 'floats' in value;

export const packed = (answer: unknown): string =>
  JSON.stringify(answer, (_, value: unknown) => {
    if (value instanceof Float32Array) return { floats: [...value] };
    if (typeof value === 'number') return Number(value.toPrecision(7));
    if (!isAttention(value)) return value;
    const { layers, heads, queries, keys, data } = value;
    return { layers, heads, queries, keys, weights: written(data) };
  });

/** `mapOf` creates the package's own AttentionMap. */
export const unpacked = (json: string, mapOf: (map: RawAttention) => unknown): unknown =>
  JSON.parse(json, (_, value: unknown) => {
    if (isFloats(value)) return Float32Array.from(value.floats);
    if (!isPacked(value)) return value;
    const { layers, heads, queries, keys, weights } = value;
    return mapOf({ layers, heads, queries, keys, data: read(weights) });
  });

/** Writes two bytes per weight, the lower one first, in base64. */
function written(weights: Float32Array): string {
  let bytes = '';
  for (const weight of weights) {
    const step = Math.round(weight * steps);
    bytes += String.fromCharCode(step & 255, step >> 8);
  }
  return btoa(bytes);
}

function read(base64: string): Float32Array {
  const bytes = atob(base64);
  return Float32Array.from(
    { length: bytes.length / 2 },
    (_, i) => (bytes.charCodeAt(2 * i) + 256 * bytes.charCodeAt(2 * i + 1)) / steps,
  );
}
