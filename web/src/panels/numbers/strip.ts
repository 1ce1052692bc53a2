/** Layout and drawing of a strip's cells. */
import type { Theme } from '../../ui/color/glasses.ts';
import { evidenceColor } from '../../ui/color/palette.ts';

export interface StripLayout {
  columns: number;
  rows: number;
  /** The size of a cell in CSS pixels. */
  width: number;
  height: number;
}

/** The smallest and largest width of a cell. */
const narrowest = 7;
const widest = 26;

/** Returns one row of cells if they fit, else the fewest rows of a half, a quarter, … each. */
export function stripLayout(count: number, room: number): StripLayout {
  let columns = count;
  while (room / columns < narrowest && columns % 2 === 0 && columns > 16) columns /= 2;
  const rows = Math.ceil(count / columns);
  const width = Math.min(widest, room / columns);
  return { columns, rows, width, height: rows === 1 ? 24 : Math.min(14, Math.max(11, width)) };
}

const shades = 64;
const tables = new Map<Theme, readonly string[]>();

/** Returns the colors from the most negative to the most positive, in 2 · `shades` steps. */
function colorsOf(theme: Theme): readonly string[] {
  let colors = tables.get(theme);
  if (!colors) {
    colors = Array.from({ length: 2 * shades + 1 }, (_, i) =>
      evidenceColor(theme, (i - shades) / shades),
    );
    tables.set(theme, colors);
  }
  return colors;
}

/** Returns a number's color, scaled by a square root so that small numbers are visible. */
export function stripColor(theme: Theme, value: number, most: number): string {
  const share = most > 0 ? Math.sign(value) * Math.sqrt(Math.min(1, Math.abs(value) / most)) : 0;
  return colorsOf(theme)[shades + Math.round(share * shades)]!;
}

export function largestOf(values: ArrayLike<number>): number {
  let most = 0;
  for (let i = 0; i < values.length; i++)
    if (Number.isFinite(values[i]!)) most = Math.max(most, Math.abs(values[i]!));
  return most;
}

export function paintStrip(
  canvas: HTMLCanvasElement,
  values: ArrayLike<number>,
  { columns, rows, width, height }: StripLayout,
  theme: Theme,
): void {
  const scale = Math.max(1, devicePixelRatio);
  canvas.width = Math.round(columns * width * scale);
  canvas.height = Math.round(rows * height * scale);
  const context = canvas.getContext('2d');
  if (!context) return;
  context.scale(scale, scale);
  const most = largestOf(values);
  for (let i = 0; i < values.length; i++) {
    context.fillStyle = stripColor(theme, values[i]!, most);
    const x = (i % columns) * width;
    const y = Math.floor(i / columns) * height;
    context.fillRect(x, y, width - 1, height - 1);
  }
}
