/** Lists of texts: counting, sorting, filtering and saving. */
import type { Entry } from '../../../panels/verdict/entries.ts';

/** A text with its verdict, or with the problem that prevented one. */
export interface Judged extends Entry {
  verdict?: string;
  /** The probability of the last label. */
  probability?: number;
  problem?: string;
}

export type Order = 'list' | 'probability' | 'doubt' | 'length';
/** All texts, the model's mistakes, or the texts with one verdict. */
export type Filter = 'all' | 'wrong' | `verdict:${string}`;

const isWrong = ({ label, verdict }: Judged): boolean =>
  label !== undefined && verdict !== undefined && label !== verdict;

export interface Summary {
  judged: number;
  failed: number;
  /** The number of classified texts with a label, and of those classified as labeled. */
  labeled: number;
  right: number;
  /** The number of texts per verdict. */
  verdicts: Record<string, number>;
}

export function summaryOf(rows: readonly Judged[]): Summary {
  const summary: Summary = { judged: 0, failed: 0, labeled: 0, right: 0, verdicts: {} };
  for (const row of rows) {
    const { label, verdict } = row;
    if (verdict === undefined) {
      summary.failed += 1;
      continue;
    }
    summary.judged += 1;
    summary.verdicts[verdict] = (summary.verdicts[verdict] ?? 0) + 1;
    if (label === undefined) continue;
    summary.labeled += 1;
    if (!isWrong(row)) summary.right += 1;
  }
  return summary;
}

/** Returns the filtered rows in the given order; texts without a verdict come last. */
export function arranged(rows: readonly Judged[], order: Order, filter: Filter): Judged[] {
  const wanted = rows.filter(
    (row) =>
      filter === 'all' || (filter === 'wrong' ? isWrong(row) : `verdict:${row.verdict}` === filter),
  );
  if (order === 'list') return wanted;
  const keys = {
    probability: ({ probability }: Judged) => -probability!,
    doubt: ({ probability }: Judged) => Math.abs(probability! - 0.5),
    length: ({ text }: Judged) => -text.length,
  };
  const keyOf = (row: Judged) => (row.verdict === undefined ? Infinity : keys[order](row));
  return wanted
    .map((row) => ({ row, key: keyOf(row) }))
    .sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
    .map(({ row }) => row);
}

/** Returns the rows as tab-separated values with a header line. */
export function toTsv(rows: readonly Judged[], last: string): string {
  const lines = rows.map(({ text, label, verdict, probability, problem }) =>
    [verdict ?? `error: ${problem}`, probability?.toFixed(6) ?? '', label ?? '', text].join('\t'),
  );
  return [`verdict\t${last}\tlabel\ttext`, ...lines, ''].join('\n');
}
