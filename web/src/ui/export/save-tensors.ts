/** Saves traced tensors as a file. */
import type { TracedTensor } from 'glassformer';
import { save } from '../save.ts';
import { lensName } from './lens-names.ts';
import { toSafetensors } from './safetensors.ts';
import { toCsv, type Table } from './table.ts';

export type Trace = Readonly<Record<string, TracedTensor>>;

/**
 * Returns TransformerLens's names of tensors. `plain`: the model has one stack of pre-norm layers, in
 * which both libraries mean the same.
 */
export function namesOf(tensors: Trace, plain: boolean): Record<string, string> {
  const names: Record<string, string> = {};
  for (const name of Object.keys(tensors)) {
    const hook = plain ? lensName(name) : undefined;
    if (hook) names[name] = hook;
  }
  return names;
}

/** Saves all tensors in one safetensors file, whose header has the text and both libraries' names. */
export function saveTrace(tensors: Trace, text: string, plain: boolean): void {
  const metadata = {
    made_by: 'Glassformer',
    text,
    counts_from: '0',
    transformer_lens: JSON.stringify(namesOf(tensors, plain)),
  };
  save('trace.safetensors', toSafetensors(tensors, metadata));
}

/** Returns a tensor as a table: a row per number, with its indices. */
export function tableOf({ shape, data }: TracedTensor, dimensions: readonly string[]): Table {
  const rows = Array.from(data, (value, at) => {
    const indices: number[] = [];
    let left = at;
    for (let i = shape.length - 1; i >= 0; i--) {
      indices.unshift(left % shape[i]!);
      left = Math.floor(left / shape[i]!);
    }
    return [...indices, value];
  });
  const columns = shape.map((_, i) => dimensions[i] ?? `index ${i}`);
  return { columns: [...columns, 'value'], rows };
}

export function saveCsv(name: string, table: Table): void {
  save(`${name}.csv`, new Blob([toCsv(table)], { type: 'text/csv' }));
}
