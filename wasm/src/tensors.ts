import { AttentionMap } from './attention.js';
import type { NamedTensor, RawResult } from './engine.js';

// A tensor of what is in an array of the result: "sentences.0.attention.cross".
const inArray = /^(\w+)\.(\d+)\.(.+)$/;

interface Holder {
  attention?: Record<string, AttentionMap>;
  embedding?: Float32Array;
  contributions?: Record<string, Float32Array>;
}

/** A result with its tensors, which their names say the places of. */
export function assemble<Result>({ result, tensors }: RawResult, labels: string[] = []): Result {
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
  } else {
    const [layers, heads, queries, keys] = shape as [number, number, number, number];
    const map = new AttentionMap({ layers, heads, queries, keys, data });
    (holder.attention ??= {})[name.slice('attention.'.length)] = map;
  }
}
