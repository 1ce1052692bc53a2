/** Many texts at once: what a list says, what was made of it, and how that is set out. */

/** A line of a list: a text, and the label that somebody gave it. */
export interface Entry {
  text: string;
  label?: string;
}

/** What a text was judged to be, or why it was not. */
export interface Judged extends Entry {
  verdict?: string;
  /** Of the last label. */
  probability?: number;
  problem?: string;
}

export type Order = 'list' | 'probability' | 'doubt' | 'length';
/** All, those judged otherwise than their label says, or those of one verdict. */
export type Filter = 'all' | 'wrong' | `verdict:${string}`;

/** The texts of a list, a line each. What stands before a tab is the label, where it is one. */
export function entriesOf(list: string, labels: readonly string[]): Entry[] {
  const entries: Entry[] = [];
  for (const line of list.split(/\r?\n/)) {
    const tab = line.indexOf('\t');
    const named = tab < 0 ? undefined : line.slice(0, tab).trim().toLowerCase();
    const label = labels.find((each) => each.toLowerCase() === named);
    const text = (label === undefined ? line : line.slice(tab + 1)).trim();
    if (text !== '') entries.push(label === undefined ? { text } : { text, label });
  }
  return entries;
}

const isWrong = ({ label, verdict }: Judged): boolean =>
  label !== undefined && verdict !== undefined && label !== verdict;

export interface Summary {
  judged: number;
  failed: number;
  /** Of those that were judged, those with a label, and those that were judged as it says. */
  labeled: number;
  right: number;
  /** Of each verdict. */
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

/** The rows that are wanted, in the order that is wanted; what was not judged comes last. */
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

/** A table for other programs, with a line of names. */
export function toTsv(rows: readonly Judged[], last: string): string {
  const lines = rows.map(({ text, label, verdict, probability, problem }) =>
    [verdict ?? `error: ${problem}`, probability?.toFixed(6) ?? '', label ?? '', text].join('\t'),
  );
  return [`verdict\t${last}\tlabel\ttext`, ...lines, ''].join('\n');
}
