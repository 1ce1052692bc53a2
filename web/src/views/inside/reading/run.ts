/** What a model made of a text, as a trace has it, and where its numbers stand. */
import type { Token, TracedTensor } from 'glassformer';
import type { StackName } from './stacks.ts';

/** A piece that a stack has read. */
export interface Piece {
  id: number;
  label: string;
}

export interface Run {
  trace: Readonly<Record<string, TracedTensor>>;
  /** Of the text that was typed; none where a model reads bytes and so knows every character. */
  tokens: readonly Token[];
  /** What each stack has read, one for each of its rows. */
  pieces: Readonly<Partial<Record<StackName, readonly Piece[]>>>;
}

/** Which token, which of those it looks at, and which head. */
export interface Place {
  token: number;
  key: number;
  head: number;
}

export function tensor(run: Run, name: string): TracedTensor {
  const found = run.trace[name];
  if (!found) throw new RangeError(`the trace has no ${name}`);
  return found;
}

/** Row `token` of what has a row for each token, all heads side by side; of what has none, all. */
export function rowOf(run: Run, name: string, token: number): Float32Array {
  const { shape, data } = tensor(run, name);
  if (shape.length === 1) return data;
  const width = shape.slice(1).reduce((product, extent) => product * extent, 1);
  return data.subarray(token * width, (token + 1) * width);
}

/** A head's part of such a row. */
export function headOf(run: Run, name: string, token: number, head: number): Float32Array {
  const width = tensor(run, name).shape[2]!;
  return rowOf(run, name, token).subarray(head * width, (head + 1) * width);
}

/** Of scores or weights [heads, queries, keys]: a query's row in a head. */
export function keysOf(run: Run, name: string, token: number, head: number): Float32Array {
  const { shape, data } = tensor(run, name);
  const [, queries = 0, keys = 0] = shape;
  const start = (head * queries + token) * keys;
  return data.subarray(start, start + keys);
}

/** Mean and deviation of a vector, as a norm has them. */
export function spread(
  values: ArrayLike<number>,
  kind: 'standard' | 'unbiased' | 'rms',
  eps: number,
): { mean: number; deviation: number } {
  const n = values.length;
  let mean = 0;
  if (kind !== 'rms') {
    for (let i = 0; i < n; i++) mean += values[i]!;
    mean /= n;
  }
  let squares = 0;
  for (let i = 0; i < n; i++) squares += (values[i]! - mean) ** 2;
  if (kind === 'unbiased') return { mean, deviation: Math.sqrt(squares / (n - 1)) + eps };
  return { mean, deviation: Math.sqrt(squares / n + eps) };
}
