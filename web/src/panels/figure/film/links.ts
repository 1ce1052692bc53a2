/** The attention weights that a film shows: those of the head that is the clearest to look at. */
import type { TracedTensor } from 'glassformer';

interface Row {
  row: number;
  label: string;
}

/** Whether a token is a word or a part of one: no punctuation, and no token such as </s>. */
const isWord = ({ label }: Row): boolean => /[\p{L}\p{N}]/u.test(label) && !/^[<‹[].*[>›\]]$/u.test(label); // prettier-ignore

export interface HeadLinks {
  /** From 0. */
  head: number;
  heads: number;
  /** The weights between the rows on the screen: [queries, keys]. */
  weights: Float32Array;
  /** The strongest link, as indices of the rows on the screen. */
  strongest: { query: number; key: number; weight: number };
}

interface Shown {
  queries: readonly Row[];
  keys: readonly Row[];
}

/**
 * Returns the head whose queries attend most to a single word: that with the largest mean, over the
 * queries, of the largest weight. A query's own token does not count, unless the keys are those of another text.
 */
export function clearestHead(
  { shape, data }: TracedTensor,
  { queries, keys }: Shown,
  cross: boolean,
): HeadLinks | undefined {
  const [heads = 0, rows = 0, columns = 0] = shape;
  // Links between words say more than those of punctuation.
  const counts = (rows: readonly Row[]) => (rows.some(isWord) ? rows.map(isWord) : rows.map(() => true)); // prettier-ignore
  const [asking, asked] = [counts(queries), counts(keys)];
  let best: (HeadLinks & { score: number }) | undefined;
  for (let head = 0; head < heads; head++) {
    const weights = new Float32Array(queries.length * keys.length);
    let strongest = { query: 0, key: 0, weight: -1 };
    let sum = 0;
    for (const [q, query] of queries.entries()) {
      let most = 0;
      for (const [k, key] of keys.entries()) {
        const weight = data[(head * rows + query.row) * columns + key.row] ?? 0;
        weights[q * keys.length + k] = weight;
        if ((!cross && query.row === key.row) || !asked[k]) continue;
        most = Math.max(most, weight);
        if (asking[q] && weight > strongest.weight) strongest = { query: q, key: k, weight };
      }
      sum += most;
    }
    if (!best || sum > best.score) best = { head, heads, weights, strongest, score: sum };
  }
  if (!best || best.strongest.weight < 0) return undefined;
  const { score: _, ...links } = best;
  return links;
}
