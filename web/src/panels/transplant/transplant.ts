/** The table of activation patching as the page shows it: its columns, and the meaning of a cell. */
import type { Classification, Explanations } from 'glassformer';
import type { Table } from '../../ui/export/table.ts';
import { percent, signed } from '../../ui/text/format.ts';
import { shownTokens } from '../words/tokens.ts';

export type TransplantTable = Omit<Explanations['activation_patching'], 'label'>;

/** The kinds of vectors that are replaced. Each belongs to a layer and a token. */
export const sites = [
  'residual',
  'attention',
  'feed_forward',
  'head',
  'query',
  'key',
  'value',
] as const;
export type Site = (typeof sites)[number];

/** A site and, for "head", the head in each layer, from 0. */
export interface Part {
  site: Site;
  head: number;
}

/** A vector that is replaced; both count from 0. */
export interface Carried {
  row: number;
  cell: number;
}

/** Tokens of the two texts in the same column, with a cell between them for each row. */
export interface Column {
  /** Empty if the text has no token here. */
  base: string;
  donor: string;
  /** Undefined if only the donor has a token here. */
  cell: number | undefined;
}

/** Returns the columns in the order of the alignment. `base` and `donor` are the texts. */
export function columnsOf(table: TransplantTable, base: string, donor: string): Column[] {
  const labelOf = (text: string, tokens: TransplantTable['tokens']) => {
    const labels = shownTokens(text, tokens).map(({ label }) => label);
    return (first: number, last: number) =>
      first === last ? labels[first]! : text.slice(tokens[first]!.start, tokens[last]!.end).trim();
  };
  const baseLabel = labelOf(base, table.tokens);
  const donorLabel = labelOf(donor, table.donorTokens);

  /** The donor's tokens that have a cell. */
  const under = new Set<number>();
  const placed: (Column & { at: number })[] = table.cells.map(({ tokens }, cell) => {
    const from = tokens.map((token) => table.donorOf[token]!).filter((token) => token !== null);
    const [first, last] = [Math.min(...from), Math.max(...from)];
    for (let token = first; token <= last; token++) under.add(token);
    return {
      at: Math.min(...tokens.map((token) => table.baseColumns[token]!)),
      base: baseLabel(tokens[0]!, tokens.at(-1)!),
      donor: from.length === 0 ? '' : donorLabel(first, last),
      cell,
    };
  });
  table.donorTokens.forEach((_, token) => {
    if (under.has(token)) return;
    const at = table.donorColumns[token]!;
    placed.push({ at, base: '', donor: donorLabel(token, token), cell: undefined });
  });
  return placed.sort((a, b) => a.at - b.at).map(({ at: _, ...column }) => column);
}

/** Returns the change at a cell; NaN if nothing can be replaced there. */
export const deltaAt = ({ delta }: TransplantTable, { row, cell }: Carried): number =>
  row < delta.shape[0]! && cell < delta.shape[1]! ? delta.data[row * delta.shape[1]! + cell]! : NaN;

/** Returns whether the change at a cell is measured, not only estimated. */
export const isMeasured = ({ delta, done = Infinity }: TransplantTable, at: Carried): boolean =>
  at.row * delta.shape[1]! + at.cell < done;

/** Returns a text's number and, if it differs, the number without the alignment's positions. */
export const alignedNumber = (aligned: number, plain: number): string =>
  Math.abs(aligned - plain) < 0.005
    ? signed(plain)
    : `${signed(aligned)} aligned, ${signed(plain)} unaligned`;

/** Returns the answer of a model with two labels, given the log-odds of the second. */
export function answerOf(
  logOdds: number,
  labels: readonly string[],
): Pick<Classification, 'label' | 'score' | 'scores'> {
  const scores = labels.map((label, id) => {
    const odds = id === 0 ? -logOdds : logOdds;
    // Each has its own exponential, so that a probability near 0 keeps its digits.
    return { id, label, score: 1 / (1 + Math.exp(-odds)), logit: odds / 2 };
  });
  const { label, score } = scores[logOdds > 0 ? 1 : 0]!;
  return { label, score, scores };
}

/** Returns the place of a row in the model. */
export function rowName(site: Site, row: number, layers: number): string {
  if (site !== 'residual') return `in layer ${row + 1}`;
  return row < layers ? `before layer ${row + 1}` : `after layer ${layers}`;
}

/** Describes a replaced vector in a few words. */
export function carriedName({ site, head }: Part, { base, donor }: Column, where: string): string {
  if (donor === '') return `“${base}” removed ${where}`;
  const of = {
    residual: '',
    attention: 'the attention’s output for ',
    feed_forward: 'the feed-forward’s output for ',
    head: `head ${head + 1}’s output for `,
    query: 'the queries of ',
    key: 'the keys of ',
    value: 'the values of ',
  };
  const to = donor === base ? '' : ` into “${base}”`;
  return `${of[site]}“${donor}” patched${to} ${where}`;
}

/** Describes the effect of replacing a vector. */
export function meaning(
  table: TransplantTable,
  at: Carried,
  column: Column,
  labels: readonly string[],
): string {
  const delta = deltaAt(table, at);
  const after = table.base + delta;
  if (delta === 0) {
    return 'Both texts have exactly the same vector here, so nothing changes: their difference has not reached this point.';
  }
  const [was, is] = [table.base, after].map((value) => answerOf(value, labels).label);
  const cells = table.delta.shape[1]!;
  const share = table.share?.data[at.row * cells + at.cell];
  const parts = [
    `The log-odds of “${labels.at(-1)}” change from ${signed(table.base)} to ${signed(after)}`,
  ];
  if (share !== undefined) parts.push(`, ${shareOf(share)}`);
  parts.push(was === is ? `. The verdict stays ${is}.` : `. The verdict becomes ${is}.`);
  if (column.donor === '')
    parts.push(' This token has no counterpart, so it is removed from that layer onward.');
  return parts.join('');
}

function shareOf(share: number): string {
  const way = percent(Math.abs(share)).replace(/\.0%$/, '%');
  return share < 0
    ? `${way} of the way, but away from the other text’s`
    : `${way} of the way to the other text’s`;
}

/** Two texts and the table of their vectors' effects. */
export interface PairReading extends Part {
  base: string;
  donor: string;
  table: TransplantTable;
  /** The table of the estimates that came before the measured effects, if there were any. */
  estimates?: TransplantTable | undefined;
}

/** Returns the table of the effects: a row per place, and its cells. */
export function patchingTable(
  { table, site }: PairReading,
  columns: readonly Column[],
  layers: number,
): Table {
  const cells = columns.filter((column) => column.cell !== undefined);
  return {
    columns: ['place', ...cells.map(({ base, donor }) => `${base} <- ${donor || 'removed'}`)],
    rows: Array.from({ length: table.delta.shape[0]! }, (_, row) => [
      rowName(site, row, layers),
      ...cells.map(({ cell }) => deltaAt(table, { row, cell: cell! })),
    ]),
  };
}
