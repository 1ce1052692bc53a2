/** One head as lines between tokens: the tokens shown in the two columns, and the lines. */
import { unseen, weightAt, type Cell, type Matrix } from './attention.ts';

export interface Line extends Cell {
  weight: number;
}

/** The side of the token whose lines are drawn. */
export type End = 'query' | 'key';

export interface Lines {
  /** The query tokens from top to bottom, and the key tokens. */
  queries: readonly number[];
  keys: readonly number[];
  lines: readonly Line[];
  /** The selected token's attention to keys that are not shown. */
  rest: number;
}

/** Up to this number of tokens, all are shown; for more, only some around the selected query. */
export const mostWhole = 40;
/** The number of queries and keys shown of a longer text. */
export const mostPart = 24;

/** The smallest weights drawn: when all lines are shown, and for those of one token. */
const least = { all: 0.02, one: 0.002 };

const range = (first: number, count: number) => Array.from({ length: count }, (_, i) => first + i);

export const isWhole = ({ queries, keys }: Matrix): boolean => Math.max(queries, keys) <= mostWhole;

/** Returns the lines of at least `thinnest`, sorted so that the heaviest are drawn on top. */
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
 * Returns the lines to draw. If all tokens are shown: those of the `pointed` side's token, or all.
 * In a longer text: those from the query to its largest keys; `first` is the first query shown.
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

/** Returns the first query to show. The list scrolls as little as possible. */
export function firstOf({ queries }: Matrix, first: number, query: number): number {
  const last = Math.max(0, queries - mostPart);
  return Math.max(0, Math.min(Math.max(first, query - mostPart + 1), query, last));
}
