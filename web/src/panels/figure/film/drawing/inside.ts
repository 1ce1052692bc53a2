/** What happens in a box, drawn next to the vectors that it reads and writes. */
import { percent, wholePercent } from '../../../../ui/text/format.ts';
import { clamp, cut, eased, faded, rounded, type Brush } from './brush.ts';
import type { Column } from './layout.ts';
import { drawPlate } from './plates.ts';
import type { Answer, Inside, Lane, Shot } from '../shot.ts';

/** The rows of vectors on the screen. */
export interface Lanes {
  top: number;
  /** The height of a row. */
  step: number;
  count: number;
}

export const laneMiddle = ({ top, step }: Lanes, i: number): number => top + (i + 0.5) * step;
/** The height of a vector. */
export const plateHeight = ({ step }: Lanes): number => Math.min(32, step * 0.66);

interface Drawing {
  brush: Brush;
  shot: Shot;
  lanes: Lanes;
  box: Column;
  /** From 0, when the vectors enter, to 1. */
  done: number;
}

type Drawn<Kind extends Inside['kind']> = Drawing & { inside: Extract<Inside, { kind: Kind }> };

export function drawInside(drawing: Drawing): void {
  const { inside } = drawing.shot;
  if (!inside) return;
  switch (inside.kind) {
    case 'table':
      return drawTable(drawing);
    case 'spread':
      return drawSpread(drawing);
    case 'added':
      return drawAdded({ ...drawing, inside });
    case 'hidden':
      return drawHidden({ ...drawing, inside });
    case 'links':
      return drawLinks({ ...drawing, inside });
    case 'answers':
      return drawRead({ ...drawing, inside });
    case 'written':
      return drawBest({ ...drawing, inside });
  }
}

/** A table of vectors, in which the rows of the tokens are lit. */
function drawTable({ brush: { context, look }, lanes, box, done }: Drawing): void {
  const lines = lanes.count * 4;
  const height = (lanes.count * lanes.step) / lines;
  const x = box.x + 0.14 * box.width;
  const width = 0.72 * box.width;
  for (let line = 0; line < lines; line++) {
    const chosen = line % 4 === 1;
    context.fillStyle = chosen ? look.hueOf('embedding') : look.soft;
    const top = lanes.top + line * height + height * 0.15;
    const light = chosen ? 0.18 + 0.82 * eased(done, 0.15, 0.5) : 0.16;
    faded(context, light, () => context.fillRect(x, top, width, height * 0.7));
  }
}

const bins = 28;

/** Returns how many numbers of a vector are in each bin from −range to range, at most 1. */
function histogram(values: Float32Array, range: number): number[] {
  const counts = new Array<number>(bins).fill(0);
  for (const value of values) {
    const bin = Math.floor(((value / range + 1) / 2) * bins);
    counts[Math.max(0, Math.min(bins - 1, bin))]! += 1;
  }
  const most = Math.max(...counts);
  return counts.map((count) => count / most);
}

const deviation = (values: Float32Array): number =>
  Math.sqrt(values.reduce((sum, value) => sum + value * value, 0) / values.length);

/** The numbers of each vector as a hill: before in outline, and after. */
function drawSpread({ brush: { context, look }, shot, lanes, box, done }: Drawing): void {
  const { before, after } = shot;
  if (!before || !after) return;
  const size = before.shape.at(-1)!;
  const x = box.x + 0.1 * box.width;
  const width = 0.8 * box.width;
  const height = lanes.step * 0.76;
  const after_ = eased(done, 0.35, 0.8);
  for (const [i, { row }] of shot.lanes.entries()) {
    const old = before.data.subarray(row * size, (row + 1) * size);
    const own = after.data.subarray(row * size, (row + 1) * size);
    const range = 3.2 * Math.max(deviation(old), deviation(own));
    const [from, to] = [histogram(old, range), histogram(own, range)];
    const base = laneMiddle(lanes, i) + height / 2;
    const path = (values: readonly number[]) => {
      context.beginPath();
      context.moveTo(x, base);
      for (const [bin, value] of values.entries())
        context.lineTo(x + ((bin + 0.5) / bins) * width, base - value * height);
      context.lineTo(x + width, base);
    };
    context.lineWidth = 1.25;
    context.strokeStyle = look.ink;
    path(from);
    faded(context, 0.55, () => context.stroke());
    context.fillStyle = look.hueOf('norm');
    path(from.map((value, bin) => value + (to[bin]! - value) * after_));
    faded(context, 0.75 * clamp(done * 4), () => context.fill());
  }
}

/** A plus sign and the vector that is added. */
function drawAdded({ brush: { context, look }, shot, lanes, box, done, inside }: Drawn<'added'>) {
  const height = plateHeight(lanes);
  const width = 0.56 * box.width;
  for (const [i, { row }] of shot.lanes.entries()) {
    const y = laneMiddle(lanes, i);
    const come = eased(done, 0.05 + 0.02 * i, 0.35 + 0.02 * i);
    const x = box.x + 0.34 * box.width;
    context.fillStyle = look.ink;
    context.textAlign = 'center';
    context.textBaseline = 'middle';
    context.font = `400 ${Math.min(22, lanes.step * 0.7)}px ${look.sans}`;
    faded(context, come, () => {
      context.fillText('+', box.x + 0.2 * box.width, y + 1);
      const place = { x, y: y - height / 2 - (1 - come) * 26, width, height };
      drawPlate(context, inside.tensor, row, place, look.theme);
    });
  }
}

/** The hidden units of a feed-forward network. */
function drawHidden({ brush: { context, look }, shot, lanes, box, done, inside }: Drawn<'hidden'>) {
  const height = Math.min(44, lanes.step * 0.82);
  const inset = 0.07 * box.width;
  for (const [i, { row }] of shot.lanes.entries()) {
    const open = eased(done, 0.12 + 0.02 * i, 0.45 + 0.02 * i);
    const width = (box.width - 2 * inset) * open;
    if (width < 1) continue;
    const place = { x: box.x + (box.width - width) / 2, y: laneMiddle(lanes, i) - height / 2, width, height }; // prettier-ignore
    drawPlate(context, inside.tensor, row, place, look.theme);
  }
}

/** The vector that the answer is read from, with lines from the rows that are in it. */
function drawRead({ brush: { context, look }, shot, lanes, box, done, inside }: Drawn<'answers'>) {
  const { read } = inside;
  if (!read) return;
  const width = 0.62 * box.width;
  const height = 1.25 * plateHeight(lanes);
  const x = box.x + 0.28 * box.width;
  const y = read.row === undefined ? lanes.top + (lanes.count * lanes.step) / 2 : laneMiddle(lanes, Math.max(0, shot.lanes.findIndex(({ row }) => row === read.row))); // prettier-ignore
  const grown = eased(done, 0.1, 0.55);
  context.lineWidth = 1.75;
  context.strokeStyle = look.ink;
  for (const [i, { row }] of shot.lanes.entries()) {
    if (read.row !== undefined && row !== read.row) continue;
    const from = laneMiddle(lanes, i);
    const middle = (box.x + x) / 2;
    context.beginPath();
    context.moveTo(box.x, from);
    context.bezierCurveTo(middle, from, middle, y, x, y);
    const length = 1.5 * Math.hypot(x - box.x, y - from);
    context.setLineDash([length * grown, length * 2]);
    faded(context, 0.5, () => context.stroke());
  }
  context.setLineDash([]);
  const come = eased(done, 0.4, 0.7);
  faded(context, come, () =>
    drawPlate(context, read.vector, 0, { x, y: y - height / 2, width, height }, look.theme),
  );
  context.lineWidth = 2;
  context.beginPath();
  context.moveTo(x + width, y);
  context.lineTo(box.x + box.width, y);
  faded(context, 0.5 * come, () => context.stroke());
}

/** Each row's best probabilities, as bars that stand next to each other. */
function drawBest({ brush: { context, look }, lanes, box, done, inside }: Drawn<'written'>): void {
  const height = lanes.step * 0.72;
  const x = box.x + 0.12 * box.width;
  const width = 0.76 * box.width;
  context.fillStyle = look.ink;
  for (const [i, best] of inside.best.entries()) {
    const base = laneMiddle(lanes, i) + height / 2;
    const grown = eased(done, 0.1 + (0.3 * i) / lanes.count, 0.5 + (0.3 * i) / lanes.count);
    const step = width / 12;
    for (const [at, probability] of best.entries()) {
      const tall = Math.max(1, probability * height) * grown;
      faded(context, at === 0 ? 0.85 : 0.5, () =>
        context.fillRect(x + at * step, base - tall, step * 0.72, tall),
      );
    }
  }
}

/** Lines from the tokens that are read, on the left, to those that read them, on the right. */
function drawLinks({ brush, shot, lanes, box, done, inside }: Drawn<'links'>): void {
  const { context, look, layout } = brush;
  const { links, keys, ownKeys } = inside;
  const keyLanes: Lanes = ownKeys
    ? lanes
    : { top: lanes.top, step: (lanes.count * lanes.step) / keys.length, count: keys.length };
  const labels = ownKeys ? 0 : layout.wide ? 118 : 46;
  const left = box.x + (ownKeys ? 8 : labels + 14);
  const right = box.x + box.width - 8;
  const { strongest, weights } = links;
  context.lineCap = 'round';
  for (const [query] of shot.lanes.entries()) {
    const grown = eased(done, 0.15 + (0.3 * query) / lanes.count, 0.45 + (0.3 * query) / lanes.count); // prettier-ignore
    if (grown <= 0) continue;
    for (const [key] of keys.entries()) {
      const weight = weights[query * keys.length + key]!;
      if (weight < 0.02) continue;
      const chosen = query === strongest.query && key === strongest.key;
      const [from, to] = [laneMiddle(keyLanes, key), laneMiddle(lanes, query)];
      const bend = (right - left) * 0.5;
      context.beginPath();
      context.moveTo(left, from);
      context.bezierCurveTo(left + bend, from, right - bend, to, right, to);
      context.strokeStyle = chosen ? look.cobalt : look.ink;
      context.lineWidth = chosen ? 2 + 5 * weight : 0.75 + 4.5 * weight;
      const length = 1.3 * Math.hypot(right - left, to - from);
      context.setLineDash([length * grown, length * 2]);
      faded(context, chosen ? 1 : 0.12 + 0.5 * weight, () => context.stroke());
    }
  }
  context.setLineDash([]);
  context.lineCap = 'butt';
  if (!ownKeys) drawKeys(brush, { keys, keyLanes, strongest: strongest.key, x: box.x + labels + 8, width: labels }); // prettier-ignore
}

interface Keys {
  keys: readonly Lane[];
  keyLanes: Lanes;
  strongest: number;
  /** Where the labels end. */
  x: number;
  width: number;
}

function drawKeys({ context, look }: Brush, { keys, keyLanes, strongest, x, width }: Keys): void {
  context.textAlign = 'right';
  context.textBaseline = 'middle';
  for (const [i, { label }] of keys.entries()) {
    const size = Math.min(15, Math.max(9.5, width / 6), keyLanes.step * 0.8);
    context.font = `${i === strongest ? 600 : 400} ${size}px ${look.sans}`;
    context.fillStyle = i === strongest ? look.cobalt : look.ink;
    context.fillText(cut(context, label, width), x, laneMiddle(keyLanes, i));
  }
}

/** Returns what stands below a box. */
export function footOf({ inside, before }: Shot): string | undefined {
  switch (inside?.kind) {
    case 'written':
      return 'The 12 best tokens';
    case 'answers':
      return inside.read?.row === undefined
        ? 'The mean'
        : inside.read.row > 0
          ? 'The last vector'
          : 'The first vector';
    case 'links':
      return `Head ${inside.links.head + 1} of ${inside.links.heads}`;
    case 'hidden':
      return `${inside.tensor.shape.at(-1)} hidden units`;
    case 'spread':
      return before && 'Line: before. Filled: after.';
    default:
      return undefined;
  }
}

/** Draws answers as bars, in the height of the lanes. */
export function drawAnswers(
  { context, look }: Brush,
  answers: readonly Answer[],
  { x, width, top, height }: Column & { top: number; height: number },
  grown: number,
): void {
  // In a narrow column, the probability stands below the bar.
  const narrow = width < 150;
  const step = Math.min(64, height / Math.max(1, answers.length));
  const size = narrow ? Math.min(13, step * 0.26) : Math.min(19, step * 0.34);
  const first = top + (height - step * answers.length) / 2;
  context.textBaseline = 'alphabetic';
  for (const [i, { text, probability }] of answers.entries()) {
    const y = first + i * step;
    const line = y + step * (narrow ? 0.34 : 0.5);
    const bar = { x, width, y: line + step * 0.12, height: Math.min(9, step * 0.16) };
    context.font = `${i === 0 ? 600 : 400} ${size}px ${look.sans}`;
    context.fillStyle = look.ink;
    const share = percent(probability);
    const below = bar.y + bar.height + size * 1.15;
    context.textAlign = narrow ? 'left' : 'right';
    context.fillText(share, narrow ? x : x + width, narrow ? below : line);
    const room = narrow ? width : width - context.measureText(share).width - 10;
    context.textAlign = 'left';
    context.fillText(cut(context, text, room), x, line);
    drawBar({ context, look }, bar, probability * grown);
  }
}

/** Draws the token that each row writes, next to its lane. */
export function drawWritten(
  { context, look }: Brush,
  answers: readonly Answer[],
  lanes: Lanes,
  { x, width }: Column,
  grown: number,
): void {
  const size = Math.min(17, lanes.step * 0.5, width / 6.5);
  for (const [i, { text, probability }] of answers.entries()) {
    const y = laneMiddle(lanes, i);
    context.font = `600 ${size}px ${look.sans}`;
    context.textBaseline = 'middle';
    context.textAlign = 'right';
    context.fillStyle = look.soft;
    const share = Number.isFinite(probability) ? wholePercent(probability) : '';
    context.fillText(share, x + width, y);
    const room = width - context.measureText('100%').width - 8;
    context.textAlign = 'left';
    context.fillStyle = look.ink;
    context.fillText(cut(context, text.trim() || '␣', room), x, y);
    const bar = { x, width, y: y + size * 0.72, height: Math.min(4, lanes.step * 0.1) };
    if (Number.isFinite(probability)) drawBar({ context, look }, bar, probability * grown);
  }
}

export function drawBar(
  { context, look }: Pick<Brush, 'context' | 'look'>,
  { x, y, width, height }: { x: number; y: number; width: number; height: number },
  share: number,
): void {
  context.fillStyle = look.line;
  rounded(context, [x, y, width, height], height / 2);
  context.fill();
  context.fillStyle = look.cobalt;
  rounded(context, [x, y, Math.max(height, width * clamp(share)), height], height / 2);
  context.fill();
}
