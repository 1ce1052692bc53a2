import { AttentionMap } from './attention.js';
import type { NamedTensor, RawResult } from '../engine/engine.js';
import type { TracedTensor } from './results.js';

// The name of a tensor that belongs to an element of an array: "sentences.0.attention.cross".
const inArray = /^(\w+)\.(\d+)\.(.+)$/;

interface Holder {
  attention?: Record<string, AttentionMap>;
  embedding?: Float32Array;
  contributions?: Float32Array[];
  trace?: Record<string, TracedTensor>;
  gradients?: Record<string, TracedTensor>;
}

/**
 * Puts the tensors of a result in their places, which their names tell. If a trace or gradients were
 * requested, they exist even if they are empty.
 */
export function assemble<Result>(
  { result, tensors }: RawResult,
  asked: { traced?: boolean; gradients?: boolean } = {},
): Result {
  const { sentences = [result] } = result as { sentences?: Holder[] };
  for (const holder of sentences as Holder[]) {
    if (asked.traced) holder.trace = {};
    if (asked.gradients) holder.gradients = {};
  }
  for (const tensor of tensors) {
    const [holder, name] = placeOf(tensor, result);
    put(holder, { ...tensor, name });
  }
  return result as Result;
}

/** Puts the tensors of an explanation in their places. */
export function assembleExplanation<Result>({ result, tensors }: RawResult): Result {
  for (const tensor of tensors) {
    let [holder, name] = placeOf(tensor, result);
    if (name.startsWith('gradients.')) {
      holder = (holder as Holder).gradients ??= {};
      name = name.slice('gradients.'.length);
    }
    (holder as Record<string, TracedTensor>)[name] = { shape: tensor.shape, data: tensor.data };
  }
  return result as Result;
}

// Returns the object that a tensor belongs to, and its name there.
function placeOf(tensor: NamedTensor, result: object): [holder: object, name: string] {
  const [, list, index, name] = inArray.exec(tensor.name) ?? [];
  if (!list) return [result, tensor.name];
  return [(result as Record<string, object[]>)[list]![Number(index)]!, name!];
}

function put(holder: Holder, { name, shape, data }: NamedTensor): void {
  if (name === 'contributions') {
    const [rows, labels] = shape as [number, number];
    const column = (label: number) =>
      Float32Array.from({ length: rows }, (_, row) => data[row * labels + label]!);
    holder.contributions = Array.from({ length: labels }, (_, label) => column(label));
  } else if (name === 'embedding') {
    holder.embedding = data;
  } else if (/^(trace|gradients)\./.test(name)) {
    const [list] = name.split('.', 1) as ['trace' | 'gradients'];
    holder[list]![name.slice(list.length + 1)] = { shape, data };
  } else {
    const [layers, heads, queries, keys] = shape as [number, number, number, number];
    const map = new AttentionMap({ layers, heads, queries, keys, data });
    (holder.attention ??= {})[name.slice('attention.'.length)] = map;
  }
}
