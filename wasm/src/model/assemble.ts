import { AttentionMap } from './attention.js';
import type { NamedTensor, RawResult } from '../engine/engine.js';
import type { TracedTensor } from './results.js';

// A tensor of what is in an array of the result: "sentences.0.attention.cross".
const inArray = /^(\w+)\.(\d+)\.(.+)$/;

interface Holder {
  attention?: Record<string, AttentionMap>;
  embedding?: Float32Array;
  contributions?: Record<string, Float32Array>;
  trace?: Record<string, TracedTensor>;
}

const tracePrefix = 'trace.';

/**
 * A result with its tensors, which their names say the places of. Where it is `traced`, it has a
 * trace, even of nothing.
 */
export function assemble<Result>(
  { result, tensors }: RawResult,
  traced = false,
  labels: string[] = [],
): Result {
  if (traced) {
    const { sentences = [result] } = result as { sentences?: Holder[] };
    for (const holder of sentences as Holder[]) holder.trace = {};
  }
  for (const tensor of tensors) {
    const [holder, name] = placeOf(tensor, result);
    put(holder, { ...tensor, name }, labels);
  }
  return result as Result;
}

/** An explanation with its tensors. */
export function assembleExplanation<Result>({ result, tensors }: RawResult): Result {
  for (const tensor of tensors) {
    const [holder, name] = placeOf(tensor, result);
    (holder as Record<string, TracedTensor>)[name] = { shape: tensor.shape, data: tensor.data };
  }
  return result as Result;
}

// What a tensor belongs to, and its name there.
function placeOf(tensor: NamedTensor, result: object): [holder: object, name: string] {
  const [, list, index, name] = inArray.exec(tensor.name) ?? [];
  if (!list) return [result, tensor.name];
  return [(result as Record<string, object[]>)[list]![Number(index)]!, name!];
}

function put(holder: Holder, { name, shape, data }: NamedTensor, labels: string[]): void {
  if (name === 'contributions') {
    holder.contributions = Object.fromEntries(
      labels.map((label, column) => [
        label,
        Float32Array.from({ length: shape[0]! }, (_, row) => data[row * labels.length + column]!),
      ]),
    );
  } else if (name === 'embedding') {
    holder.embedding = data;
  } else if (name.startsWith(tracePrefix)) {
    holder.trace![name.slice(tracePrefix.length)] = { shape, data };
  } else {
    const [layers, heads, queries, keys] = shape as [number, number, number, number];
    const map = new AttentionMap({ layers, heads, queries, keys, data });
    (holder.attention ??= {})[name.slice('attention.'.length)] = map;
  }
}
