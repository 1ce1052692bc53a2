/** Helpers of all drawings of a film: text that fits its place, round boxes, and eased motion. */
import type { Layout } from './layout.ts';
import type { Look } from './look.ts';

/** A canvas to draw on, in units of the layout, with the look of the page. */
export interface Brush {
  context: CanvasRenderingContext2D;
  layout: Layout;
  look: Look;
}

export const clamp = (value: number): number => Math.max(0, Math.min(1, value));

/** Returns the share of a motion from `from` to `to` that is done: slow at both ends. */
export function eased(time: number, from: number, to: number): number {
  const share = to > from ? clamp((time - from) / (to - from)) : time >= to ? 1 : 0;
  return share * share * (3 - 2 * share);
}

export const between = (from: number, to: number, share: number): number =>
  from + (to - from) * share;

/** Draws with an opacity on top of the present one. */
export function faded(context: CanvasRenderingContext2D, alpha: number, draw: () => void): void {
  if (alpha <= 0) return;
  const before = context.globalAlpha;
  context.globalAlpha = before * Math.min(1, alpha);
  draw();
  context.globalAlpha = before;
}

export function rounded(
  context: CanvasRenderingContext2D,
  [x, y, width, height]: readonly [number, number, number, number],
  radius: number,
): void {
  context.beginPath();
  // Chrome before 99, Firefox before 112 and Safari before 16 have no roundRect.
  if (typeof context.roundRect === 'function') context.roundRect(x, y, width, height, radius);
  else context.rect(x, y, width, height);
}

/** Returns the text, or its beginning with an ellipsis, as wide as there is room. */
export function cut(context: CanvasRenderingContext2D, text: string, width: number): string {
  if (context.measureText(text).width <= width) return text;
  const letters = [...text];
  while (letters.length > 1 && context.measureText(`${letters.join('')}…`).width > width)
    letters.pop();
  return `${letters.join('').trimEnd()}…`;
}

/** Returns the text in lines, at most `most`; what does not fit is cut. */
export function linesOf(
  context: CanvasRenderingContext2D,
  text: string,
  width: number,
  most: number,
): string[] {
  const lines: string[] = [];
  let line = '';
  // A line may also end after a hyphen, but not at a space that forbids it.
  for (const [, part = '', space = ''] of text.trim().matchAll(/([^ \n\t\r-]*-*)([ \n\t\r]*)/g)) {
    const longer = line + part;
    if (line && context.measureText(longer).width > width) {
      lines.push(line.trimEnd());
      line = part;
    } else line = longer;
    if (space) line += ' ';
  }
  lines.push(line.trimEnd());
  const kept = lines.slice(0, most);
  if (lines.length > most) kept[most - 1] += ` ${lines[most]}…`;
  return kept.map((each) => cut(context, each, width));
}

interface Writing {
  /** In CSS, without the size. */
  weight?: number;
  family: string;
  /** The largest size; the text shrinks to `least` so that it fits. */
  size: number;
  least?: number;
  width: number;
  lines: number;
  /** The most height of all lines. */
  height?: number;
  /** The height of a line in sizes. */
  leading?: number;
  /** Whether lines are about as long as each other. */
  balanced?: boolean;
}

/** Sets the font and returns the lines of a text with their size. */
export function fitted(
  { context }: Brush,
  text: string,
  {
    weight = 400,
    family,
    size,
    least = size,
    width,
    lines,
    height = Infinity,
    leading = 1.3,
    balanced,
  }: Writing,
): { lines: string[]; size: number; height: number; step: number } {
  let at = size;
  for (; ; at = Math.max(least, at - 1)) {
    context.font = `${weight} ${at}px ${family}`;
    const whole = linesOf(context, text, width, Infinity);
    const tall = whole.length * at * leading;
    if ((whole.length <= lines && tall <= height) || at <= least) {
      let kept = linesOf(context, text, width, lines);
      for (let narrow = 0.96 * width; balanced && kept.length > 1; narrow *= 0.96) {
        const other = linesOf(context, text, narrow, Infinity);
        if (other.length > kept.length || whole.length > lines) break;
        kept = other;
      }
      return { lines: kept, size: at, step: at * leading, height: kept.length * at * leading };
    }
  }
}

/** Writes lines from `top`, each in the middle of a line's height. */
export function write(
  { context }: Brush,
  { lines, step }: { lines: readonly string[]; step: number },
  x: number,
  top: number,
): void {
  context.textBaseline = 'middle';
  for (const [i, line] of lines.entries()) context.fillText(line, x, top + (i + 0.5) * step);
}
