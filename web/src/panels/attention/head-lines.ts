/** One head as lines between tokens: which tokens stand in the two columns, and which lines are drawn. */
import { unseen, weightAt, type Cell, type Matrix } from './attention.ts';

export interface Line extends Cell {
  weight: number;
}

/** Whose lines are drawn. */
export type End = 'query' | 'key';

export interface Lines {
  /** The tokens that look, from the top down, and those that are looked at. */
  queries: readonly number[];
  keys: readonly number[];
  lines: readonly Line[];
  /** Of the token that is pointed at, the weight on keys that have no place. */
  rest: number;
}

/** Up to this many tokens all have a place; of more, some around the token that is looked from. */
export const mostWhole = 40;
/** So many of them, and so many that it looks at. */
export const mostPart = 24;

/** Thinner lines are not drawn: of all tokens at once, and of one. */
const least = { all: 0.02, one: 0.002 };

const range = (first: number, count: number) => Array.from({ length: count }, (_, i) => first + i);

export const isWhole = ({ queries, keys }: Matrix): boolean => Math.max(queries, keys) <= mostWhole;

/** `least` and heavier, in the order of the weights, so that the heaviest lie on top. */
function linesAmong(
  matrix: Matrix,
  queries: readonly number[],
  keys: readonly number[],
  thinnest: number,
): Line[] {
  return queries
    .flatMap((query) =>
      keys.map((key) => ({ query, key, weight: weightAt(matrix, { query, key }) })),
    )
    .filter((line) => line.weight >= thinnest && !unseen(matrix, line))
    .sort((a, b) => a.weight - b.weight);
}

/**
 * Of a text with a place for every token: `pointed`'s lines, or all. Of a longer one: those from the
 * query to the keys that it looks at most. `first` is the first query that has a place there.
 */
export function linesOf(
  matrix: Matrix,
  { query, key }: Cell,
  pointed: End | undefined,
  first: number,
): Lines {
  const whole = { queries: range(0, matrix.queries), keys: range(0, matrix.keys), rest: 0 };
  if (isWhole(matrix)) {
    const from = pointed === 'query' ? [query] : whole.queries;
    const to = pointed === 'key' ? [key] : whole.keys;
    return { ...whole, lines: linesAmong(matrix, from, to, pointed ? least.one : least.all) };
  }
  const weightOf = (at: number) => weightAt(matrix, { query, key: at });
  const seen = whole.keys.filter((at) => !unseen(matrix, { query, key: at }));
  const keys = seen
    .sort((a, b) => weightOf(b) - weightOf(a))
    .slice(0, mostPart)
    .sort((a, b) => a - b);
  return {
    queries: range(first, Math.min(mostPart, matrix.queries - first)),
    keys,
    lines: linesAmong(matrix, [query], keys, least.one),
    rest: Math.max(0, 1 - keys.reduce((sum, at) => sum + weightOf(at), 0)),
  };
}

/** The first query with a place: as little as possible away from where it was. */
export function firstOf({ queries }: Matrix, first: number, query: number): number {
  const last = Math.max(0, queries - mostPart);
  return Math.max(0, Math.min(Math.max(first, query - mostPart + 1), query, last));
}
