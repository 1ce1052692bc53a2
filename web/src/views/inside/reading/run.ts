/** A model's run on a text: its trace, and access to rows of its tensors. */
import type { Token, TracedTensor } from 'glassformer';
import type { StackName } from './stacks.ts';

/** A token that a stack has read. */
export interface Piece {
  id: number;
  label: string;
}

export interface Run {
  trace: Readonly<Record<string, TracedTensor>>;
  /** The tokens of the typed text; empty if the model reads bytes and so knows every character. */
  tokens: readonly Token[];
  /** The tokens that each stack has read, one per row. */
  pieces: Readonly<Partial<Record<StackName, readonly Piece[]>>>;
}

/** The indices of a token, of one of its keys, and of a head. */
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

/**
 * Returns row `token` of a tensor, its heads concatenated. A tensor without tokens is returned
 * whole.
 */
export function rowOf(run: Run, name: string, token: number): Float32Array {
  const { shape, data } = tensor(run, name);
  if (shape.length === 1) return data;
  const width = shape.slice(1).reduce((product, extent) => product * extent, 1);
  return data.subarray(token * width, (token + 1) * width);
}

/** Returns one head's part of such a row. */
export function headOf(run: Run, name: string, token: number, head: number): Float32Array {
  const width = tensor(run, name).shape[2]!;
  return rowOf(run, name, token).subarray(head * width, (head + 1) * width);
}

/** Returns a query's row in one head of scores or weights [heads, queries, keys]. */
export function keysOf(run: Run, name: string, token: number, head: number): Float32Array {
  const { shape, data } = tensor(run, name);
  const [, queries = 0, keys = 0] = shape;
  const start = (head * queries + token) * keys;
  return data.subarray(start, start + keys);
}

/** Returns the mean and the standard deviation of a vector as layer normalization uses them. */
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
