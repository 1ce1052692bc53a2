import { concat } from './bytes.js';
import { GlassformerError } from './errors.js';
import { checkOption, checkOptions, checkSignal, isA } from './options.js';
import type { EngineOptions } from './engine.js';
import type { TracedTensor } from './types.js';

/**
 * A call's options but for its signal, and `fixed` ones; the engine checks their values. Throws
 * `invalid_option` for keys that are not in `known`.
 */
export function encodeOptions(
  options: { signal?: AbortSignal | undefined; trace?: unknown; patch?: unknown },
  known: readonly string[],
  where: string,
  fixed?: object,
): EngineOptions {
  checkOptions(options, known, where);
  const { signal, ...rest } = options;
  checkSignal(signal);
  const [patch, values] = splitPatches(rest.patch);
  const json = toJson({ ...rest, patch, ...fixed });
  return { json, values, traced: rest.trace !== undefined, explains: false };
}

/** The options of an explanation, whose scores of tokens are numbers of the caller's. */
export function encodeExplanation(
  options: { signal?: AbortSignal | undefined; scores?: unknown },
  known: readonly string[],
): EngineOptions {
  checkOptions(options, known, 'explain');
  const { signal, scores, ...rest } = options;
  checkSignal(signal);
  const { shape, data } = toTensor(scores ?? new Float32Array(), 'scores');
  const given = scores === undefined ? {} : { scores: { shape, offset: 0 } };
  const values = concat([new Uint8Array(data.buffer, data.byteOffset, data.byteLength)]);
  return { json: toJson({ ...rest, ...given }), values, traced: false, explains: true };
}

function toJson(options: object): Uint8Array {
  try {
    return new TextEncoder().encode(JSON.stringify(options));
  } catch (error) {
    throw new GlassformerError('invalid_option', 'The options are no plain data', { cause: error });
  }
}

// Patches as the engine's JSON has them, and copies of the numbers that it points to.
function splitPatches(patches: unknown): [json: unknown, values: Uint8Array] {
  const values: Uint8Array[] = [];
  if (!Array.isArray(patches)) return [patches, concat(values)];
  let count = 0;
  const json = Array.from(patches, (patch: unknown, index) => {
    if (typeof patch !== 'object' || patch === null) return patch;
    const { value, ...rest } = patch as { value?: unknown };
    const { shape, data } = toTensor(value, `patch[${index}].value`);
    const offset = count;
    count += data.length;
    values.push(new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
    return { ...rest, value: { shape, offset } };
  });
  return [json, concat(values)];
}

function toTensor(value: unknown, name: string): TracedTensor {
  if (typeof value === 'number') return { shape: [], data: Float32Array.of(value) };
  const tensor = isA(value, 'Float32Array')
    ? { shape: [(value as Float32Array).length], data: value }
    : value;
  const { shape, data } = (tensor ?? {}) as TracedTensor;
  const valid = Array.isArray(shape) && shape.every(Number.isInteger) && isA(data, 'Float32Array');
  checkOption(valid, name, 'a number, a Float32Array or { shape, data } of a trace');
  const size = shape.reduce((product, extent) => product * extent, 1);
  const got = data.length;
  checkOption(
    size === got,
    name,
    `${size} numbers for the shape [${shape.join(', ')}], got ${got}`,
  );
  return { shape, data };
}
