/** The figure of the paper at the top of a film: the present box is lit, and vectors move along it. */
import type { Box, Stack, Station } from '../../figure.ts';
import { between, clamp, eased, faded, fitted, rounded, write, type Brush } from './brush.ts';
import { drawPlate } from './plates.ts';
import type { Scene, Shot } from '../shot.ts';

interface Placed {
  box: Box;
  x: number;
  width: number;
}

interface Row {
  stack: Stack;
  boxes: readonly Placed[];
  /** The frame of the layer. */
  layer: { x: number; width: number };
  /** The parts of each residual connection: from before its first box to its sum. */
  arcs: readonly { from: number; to: number }[];
  width: number;
}

const boxHeight = 42;

/** Places the boxes of a stack in a row that starts at 0. */
function rowOf(stack: Stack, { unit, gap }: { unit: number; gap: number }): Row {
  let x = 0;
  const boxes: Placed[] = [];
  const put = (box: Box) => {
    const width = box.part === 'add' ? unit * 0.46 : unit;
    boxes.push({ box, x, width });
    x += width + gap;
  };
  stack.before.forEach(put);
  const start = x + gap * 0.2;
  x = start + gap;
  const arcs = stack.layer.map((sublayer) => {
    const from = x - gap * 0.6;
    sublayer.forEach(put);
    const sum = boxes.filter(({ box }) => box.part === 'add' && sublayer.includes(box)).at(-1);
    return { from, to: sum ? sum.x + sum.width / 2 : x };
  });
  const layer = { x: start, width: x - start };
  x += gap * 1.2;
  stack.after.forEach(put);
  return { stack, boxes, layer, arcs, width: x - gap };
}

/** Returns the width of a usual box with which the longest row fits. */
function unitFor(stacks: readonly Stack[], room: number, gap: number): number {
  const widths = stacks.map((stack) => {
    const empty = rowOf(stack, { unit: 0, gap }).width;
    return (room - empty) / (rowOf(stack, { unit: 1, gap }).width - empty);
  });
  return Math.min(96, ...widths);
}

const middle = ({ x, width }: Placed): number => x + width / 2;

/** Draws the figure at a time of the shot, in milliseconds since it began. */
export function drawMap(brush: Brush, scene: Scene, at: number, time: number): void {
  const { layout } = brush;
  const shot = scene.shots[at]!;
  const { station } = shot;
  if (!station || layout.map.rows === 0) return;
  const before = scene.shots[at - 1]?.station;
  const { left, right, top, rowHeight } = layout.map;
  const gap = layout.wide ? 13 : 12;
  const unit = layout.wide ? unitFor(scene.stacks, right - left, gap) : 82;
  const shown = layout.wide
    ? scene.stacks
    : scene.stacks.filter(({ name }) => name === station.stack);
  for (const [i, stack] of shown.entries()) {
    const row = rowOf(stack, { unit, gap });
    const own = row.boxes.find(({ box }) => box === station.box && stack.name === station.stack);
    const last = row.boxes.find(({ box }) => box === before?.box && stack.name === before.stack);
    const moved = eased(time, 0, Math.min(900, 0.3 * shot.duration));
    const from = last && own ? middle(last) : own && middle(own);
    const along = own && from !== undefined ? between(from, middle(own), moved) : undefined;
    let x = left + (right - left - row.width) / 2;
    if (row.width > right - left) {
      // A row that is too wide follows the vectors.
      const wanted = (left + right) / 2 - (along ?? 0);
      x = Math.min(left, Math.max(right - row.width, wanted));
    }
    const y = top + i * rowHeight + 18;
    faded(brush.context, own ? 1 : 0.45, () => drawRow(brush, row, { x, y }, own ? station : undefined)); // prettier-ignore
    if (along !== undefined) drawBundle(brush, shot, x + along, y + boxHeight + 5);
  }
}

interface At {
  x: number;
  y: number;
}

function drawRow(brush: Brush, row: Row, { x, y }: At, lit: Station | undefined): void {
  const { context, look, layout } = brush;
  const { layer, arcs, boxes, stack } = row;
  const middleY = y + boxHeight / 2;
  context.strokeStyle = look.line;
  context.lineWidth = 1;
  context.beginPath();
  context.moveTo(x, middleY);
  context.lineTo(x + row.width, middleY);
  context.stroke();
  rounded(context, [x + layer.x, y - 11, layer.width, boxHeight + 17], 8);
  context.stroke();
  context.strokeStyle = look.soft;
  for (const { from, to } of arcs) {
    context.beginPath();
    context.moveTo(x + from, middleY);
    context.lineTo(x + from, y - 1);
    context.quadraticCurveTo(x + from, y - 6, x + from + 5, y - 6);
    context.lineTo(x + to - 5, y - 6);
    context.quadraticCurveTo(x + to, y - 6, x + to, y - 1);
    context.lineTo(x + to, y + 4);
    faded(context, 0.7, () => context.stroke());
  }
  const count = stack.count ?? 1;
  const name = lit?.layer === undefined ? `${count} layers` : `Layer ${lit.layer + 1} of ${count}`;
  context.font = `600 11px ${look.sans}`;
  const wide = context.measureText(name).width;
  context.fillStyle = look.page;
  context.fillRect(x + layer.x + 9, y - 16, wide + 8, 10);
  context.fillStyle = lit?.layer === undefined ? look.soft : look.ink;
  context.textAlign = 'left';
  context.textBaseline = 'middle';
  context.fillText(name, x + layer.x + 13, y - 11);
  if (layout.wide && layout.map.rows > 1) {
    context.fillStyle = look.soft;
    context.fillText(stack.name === 'encoder' ? 'Encoder' : 'Decoder', x, y - 11);
  }
  for (const placed of boxes) drawBox(brush, placed, { x: x + placed.x, y }, lit?.box === placed.box); // prettier-ignore
}

function drawBox(brush: Brush, { box, width }: Placed, { x, y }: At, lit: boolean): void {
  const { context, look } = brush;
  const hue = look.hueOf(box.part);
  const add = box.part === 'add';
  const height = add ? Math.min(width, 32) : boxHeight;
  const top = y + (boxHeight - height) / 2;
  rounded(context, [x, top, width, height], add ? height / 2 : 5);
  context.fillStyle = look.page;
  context.fill();
  context.fillStyle = hue;
  faded(context, lit ? 0.5 : 0.2, () => context.fill());
  context.lineWidth = lit ? 2.5 : 1;
  context.strokeStyle = lit ? look.cobalt : hue;
  faded(context, lit ? 1 : 0.7, () => context.stroke());
  context.fillStyle = look.ink;
  context.textAlign = 'center';
  if (add) {
    context.font = `400 17px ${look.sans}`;
    context.textBaseline = 'middle';
    context.fillText('+', x + width / 2, top + height / 2 + 1);
    return;
  }
  const text = fitted(brush, box.title, {
    ...{ family: look.sans, weight: lit ? 600 : 400, size: 11.5, least: 8.5 },
    ...{ width: width - 6, lines: box.title.includes('ulti-head') ? 3 : 2, leading: 1.12 },
  });
  write(brush, text, x + width / 2, top + (height - text.height) / 2);
}

/** Draws the vectors small: they hang below the box that they are in. */
function drawBundle(brush: Brush, shot: Shot, x: number, y: number): void {
  const { context, look } = brush;
  const tensor = shot.before ?? shot.after;
  const lanes = shot.lanes.slice(0, 4);
  const [width, height] = [30, 4];
  const tall = lanes.length * height;
  context.fillStyle = look.page;
  context.strokeStyle = look.cobalt;
  context.lineWidth = 1.5;
  rounded(context, [x - width / 2 - 3, y - 3, width + 6, tall + 6], 4);
  context.fill();
  context.stroke();
  for (const [i, { row }] of lanes.entries()) {
    const place = { x: x - width / 2, y: y + i * height, width, height: height - 1 };
    if (tensor) drawPlate(context, tensor, row, place, look.theme);
    else {
      context.fillStyle = look.soft;
      faded(context, 0.5, () => context.fillRect(place.x, place.y, place.width * clamp(0.5 + 0.25 * (i % 3)), place.height)); // prettier-ignore
    }
  }
}
