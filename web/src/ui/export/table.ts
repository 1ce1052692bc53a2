/** Tables as files. */

export type Cell = string | number | boolean | undefined;

export interface Table {
  columns: readonly string[];
  rows: readonly (readonly Cell[])[];
}

const quoted = (cell: Cell): string => {
  const text = cell === undefined ? '' : String(cell);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};

/** Returns comma-separated values with a header line (RFC 4180). */
export const toCsv = ({ columns, rows }: Table): string =>
  [columns, ...rows].map((row) => `${row.map(quoted).join(',')}\r\n`).join('');

/** Returns a JSON array with an object per row. */
export const toJson = ({ columns, rows }: Table): string =>
  `${JSON.stringify(
    rows.map((row) => Object.fromEntries(columns.map((column, i) => [column, row[i] ?? null]))),
    null,
    2,
  )}\n`;
