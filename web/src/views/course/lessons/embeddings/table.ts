/** The embedding table of a model, and the nearest neighbors of a token in it. */
import type { Classifier } from 'glassformer';
import { cosine, length } from '../../pictures/vectors.ts';

export interface Table {
  rows: readonly Float32Array[];
  lengths: Float32Array;
  names: readonly string[];
}

export interface Neighbor {
  id: number;
  name: string;
  cosine: number;
}

const tables = new WeakMap<Classifier, Promise<Table>>();

/** The number of rows that are requested at once. */
const part = 500;

async function fetched(model: Classifier): Promise<Table> {
  const names = await model.vocabulary();
  const rows: Float32Array[] = [];
  while (rows.length < names.length) {
    const some = Array.from({ length: Math.min(part, names.length - rows.length) }, (_, i) =>
      model.weights.row('encoder.embed_tokens.weight', rows.length + i),
    );
    rows.push(...(await Promise.all(some)));
  }
  return { rows, lengths: Float32Array.from(rows, length), names };
}

/** Returns the table, which is read once per model. */
export function tableOf(model: Classifier): Promise<Table> {
  let table = tables.get(model);
  if (!table) {
    table = fetched(model);
    tables.set(model, table);
    table.catch(() => tables.delete(model));
  }
  return table;
}

const plain = (name: string) => name.trim().toLowerCase();

// The neighbors of each token that was asked for: they take a few milliseconds.
const known = new WeakMap<Table, Map<number, readonly Neighbor[]>>();

/**
 * Returns all other words by their cosine with token `id`, the nearest first. Tokens without letters
 * and other spellings of the same word are left out.
 */
export function neighborsOf(table: Table, id: number): readonly Neighbor[] {
  let all = known.get(table);
  if (!all) known.set(table, (all = new Map()));
  let neighbors = all.get(id);
  if (!neighbors) all.set(id, (neighbors = sought(table, id)));
  return neighbors;
}

function sought({ rows, names }: Table, id: number): readonly Neighbor[] {
  const own = rows[id]!;
  const found: Neighbor[] = [];
  for (const [other, name] of names.entries()) {
    if (other === id || plain(name) === plain(names[id]!) || !/^ ?\p{L}/u.test(name)) continue;
    found.push({ id: other, name, cosine: cosine(own, rows[other]!) });
  }
  return found.sort((a, b) => b.cosine - a.cosine);
}
