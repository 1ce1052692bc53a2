import { concat } from '../base/bytes.js';
import { GlassformerError } from '../base/errors.js';
import { checkOption, checkOptions, checkSignal, isA } from '../base/checks.js';
import type { EngineOptions } from '../engine/engine.js';
import type { TracedTensor } from './results.js';

/**
 * Encodes a call's options, except its signal, and the `fixed` ones. The engine checks their values.
 * Throws `invalid_option` for keys that are not in `known`.
 */
export function encodeOptions(
  options: {
    signal?: AbortSignal | undefined;
    trace?: unknown;
    gradients?: unknown;
    patch?: unknown;
  },
  known: readonly string[],
  where: string,
  fixed?: object,
): EngineOptions {
  checkOptions(options, known, where);
  const { signal, ...rest } = options;
  checkSignal(signal);
  const numbers = new Numbers();
  const patch = withoutNumbers(rest.patch, numbers);
  const json = toJson({ ...rest, patch, ...fixed });
  return {
    json,
    values: numbers.bytes(),
    traced: rest.trace !== undefined,
    explains: false,
    gradients: rest.gradients !== undefined,
  };
}

// The methods of explanations that use gradients, by their names.
const usesGradients = /gradient|^relevance$|_lrp$/;

/** The options of an explanation that need care here. The others pass through. */
export interface ExplainCallOptions {
  signal?: AbortSignal | undefined;
  onProgress?: unknown;
  patch?: unknown;
  method: string;
  of?: unknown;
  scores?: unknown;
}

/** Encodes the options of an explanation, which may have scores of tokens, and the `fixed` ones. */
export function encodeExplanation(
  options: ExplainCallOptions,
  known: readonly string[],
  fixed?: object,
): EngineOptions {
  checkOptions(options, known, 'explain');
  const { signal, onProgress, scores, patch, ...rest } = options;
  checkSignal(signal);
  checkOption(['undefined', 'function'].includes(typeof onProgress), 'onProgress', 'a function');
  const numbers = new Numbers();
  const given = {
    ...(scores === undefined ? {} : { scores: numbers.add(scores, 'scores') }),
    ...(patch === undefined ? {} : { patch: withoutNumbers(patch, numbers) }),
    ...(onProgress === undefined ? {} : { onProgress: true }),
  };
  const json = toJson({ ...rest, ...given, ...fixed });
  const gradients =
    !!onProgress || usesGradients.test(`${rest.method}`) || usesGradients.test(`${rest.of}`);
  return { json, values: numbers.bytes(), traced: false, explains: true, gradients };
}

function toJson(options: object): Uint8Array {
  try {
    return new TextEncoder().encode(JSON.stringify(options));
  } catch (error) {
    throw new GlassformerError('invalid_option', 'The options are not plain data', {
      cause: error,
    });
  }
}

// The numbers in options. They are passed in addition to the JSON, which says where each tensor begins.
class Numbers {
  readonly #parts: Uint8Array[] = [];
  #count = 0;

  add(value: unknown, name: string): { shape: number[]; offset: number } {
    const { shape, data } = toTensor(value, name);
    const offset = this.#count;
    this.#count += data.length;
    this.#parts.push(new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
    return { shape, offset };
  }

  /** Returns a copy of all numbers. */
  bytes(): Uint8Array {
    return concat(this.#parts);
  }
}

// Returns patches for the JSON: each value is replaced by the place of its numbers.
function withoutNumbers(patches: unknown, numbers: Numbers): unknown {
  if (!Array.isArray(patches)) return patches;
  return Array.from(patches, (patch: unknown, index) => {
    if (typeof patch !== 'object' || patch === null) return patch;
    const given = { ...patch } as Record<string, unknown>;
    const [field = 'value', ...others] = ['value', 'add', 'remove'].filter((each) => each in given);
    checkOption(others.length === 0, `patch[${index}]`, 'one of value, add and remove');
    given[field] = numbers.add(given[field], `patch[${index}].${field}`);
    return given;
  });
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
