import { AttentionMap } from './attention.js';
import type { NamedTensor, RawResult } from './engine.js';
import type { TracedTensor } from './types.js';

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
    const [, list, index, name] = inArray.exec(tensor.name) ?? [];
    const holders = result as Record<string, Holder[]>;
    if (list) put(holders[list]![Number(index)]!, { ...tensor, name: name! }, labels);
    else put(result, tensor, labels);
  }
  return result as Result;
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
