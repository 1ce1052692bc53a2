/** The middle of a film: vectors pass through the box of the present station, one row per token. */
import type { PictureRegion, Pixels, TracedTensor } from 'glassformer';
import { between, cut, eased, faded, fitted, rounded, write, type Brush } from './brush.ts';
import * as inside from './inside.ts';
import { laneMiddle, plateHeight, type Lanes } from './inside.ts';
import { drawPlate } from './plates.ts';
import type { Scene, Shot } from '../shot.ts';
import { drawPart } from './picture.ts';

/** How far a shot is, each from 0 to 1. */
interface Progress {
  /** The way from the box before to this one. */
  arrived: number;
  /** The way of the vectors through the box; not eased. */
  through: number;
  appeared: number;
}

function progressOf({ duration, station }: Shot, time: number): Progress {
  const fresh = station?.box.part === 'tokens' || station?.box.part === 'embedding';
  const pan = fresh ? 0 : Math.min(900, 0.3 * duration);
  const go = pan + Math.min(2400, 0.5 * duration);
  const through = Math.max(0, Math.min(1, (time - pan) / (go - pan)));
  return { arrived: fresh ? 1 : eased(time, 0, pan), through, appeared: eased(time, 0, 350) };
}

export function lanesIn({ layout }: Brush, count: number): Lanes {
  const head = layout.wide ? 40 : 34;
  const foot = layout.wide ? 34 : 26;
  const room = layout.bottom - layout.top - head - foot;
  const step = Math.min(layout.wide ? 50 : 46, room / Math.max(1, count));
  const top = layout.top + head + (room - step * count) / 2;
  return { top, step, count };
}

export function drawStage(brush: Brush, scene: Scene, at: number, time: number): void {
  const shot = scene.shots[at]!;
  const { context, layout } = brush;
  const lanes = lanesIn(brush, shot.lanes.length);
  const progress = progressOf(shot, time);
  if (shot.station?.box.part === 'tokens') return drawTokens(brush, scene, shot, lanes, time);
  // Boxes and vectors leave to the left below the labels.
  context.save();
  context.beginPath();
  const edge = layout.label.x + layout.label.width + 8;
  context.rect(edge, layout.top - 30, layout.width - edge, layout.bottom - layout.top + 60);
  context.clip();
  const pitch = layout.after.x - layout.before.x;
  const before = scene.shots[at - 1];
  if (before?.station && progress.arrived < 1 && before.station.box.part !== 'tokens') {
    context.save();
    context.translate(-pitch * progress.arrived, 0);
    drawStation(brush, before, { arrived: 1, through: 1, appeared: 1 }, 'leaving');
    context.restore();
  }
  context.save();
  context.translate(pitch * (1 - progress.arrived), 0);
  drawStation(brush, shot, progress, 'present');
  context.restore();
  if (progress.arrived < 1) {
    const shade = context.createLinearGradient(edge, 0, edge + 50, 0);
    shade.addColorStop(0, brush.look.page);
    shade.addColorStop(1, 'transparent');
    context.fillStyle = shade;
    context.fillRect(edge, layout.top - 30, 50, layout.bottom - layout.top + 60);
  }
  context.restore();
  drawLabels(brush, scene, shot, lanes);
}

type Role = 'present' | 'leaving';

/** Draws a station: the vectors before the box, the box, and the vectors after it. */
function drawStation(brush: Brush, shot: Shot, progress: Progress, role: Role): void {
  const { context, layout } = brush;
  const lanes = lanesIn(brush, shot.lanes.length);
  const { through } = progress;
  drawWires(brush, shot, lanes);
  if (shot.before) {
    const ghost = between(1, shot.inside?.kind === 'added' ? 0.85 : 0.45, eased(through, 0, 0.25));
    faded(context, ghost, () => drawColumn(brush, shot, lanes, shot.before!, layout.before.x));
  }
  // The next station draws them as its own, once this one leaves.
  if (role === 'present') drawMoving(brush, shot, lanes, through);
  drawBox(brush, shot, lanes, progress);
  drawOutcome(brush, shot, lanes, through);
}

function drawWires(brush: Brush, shot: Shot, lanes: Lanes): void {
  const { context, look, layout } = brush;
  const { kind } = shot.inside ?? {};
  const end = kind === 'answers' ? layout.box.x : kind === 'written' ? layout.after.x - 10 : layout.after.x + layout.after.width; // prettier-ignore
  context.strokeStyle = look.line;
  context.lineWidth = 1;
  context.beginPath();
  for (const i of shot.lanes.keys()) {
    const y = laneMiddle(lanes, i);
    context.moveTo(layout.before.x - layout.width, y);
    context.lineTo(end, y);
  }
  context.stroke();
  if (shot.station?.box.part !== 'add') return;
  // The residual connection, from before the norm.
  const top = lanes.top - (layout.wide ? 52 : 44);
  const x = layout.box.x + layout.box.width * 0.62;
  context.strokeStyle = look.soft;
  context.lineWidth = 1.75;
  context.beginPath();
  context.moveTo(layout.before.x - layout.width, top);
  context.lineTo(x - 8, top);
  context.quadraticCurveTo(x, top, x, top + 8);
  context.lineTo(x, lanes.top - 36);
  context.stroke();
}

function drawColumn(brush: Brush, shot: Shot, lanes: Lanes, tensor: TracedTensor, x: number): void {
  const { context, look, layout } = brush;
  const height = plateHeight(lanes);
  for (const [i, { row }] of shot.lanes.entries()) {
    const place = { x, y: laneMiddle(lanes, i) - height / 2, width: layout.before.width, height };
    drawPlate(context, tensor, row, place, look.theme);
  }
}

/** The share of the way of a lane's vector: the lanes start one after another. */
const ownShare = (through: number, i: number, count: number): number =>
  eased(through, (0.25 * i) / Math.max(1, count), 0.75 + (0.25 * i) / Math.max(1, count));

/** Draws the vectors on their way: they change below the box. */
function drawMoving(brush: Brush, shot: Shot, lanes: Lanes, through: number): void {
  const { context, look, layout } = brush;
  const { before, after } = layout;
  const height = plateHeight(lanes);
  const answers = shot.inside?.kind === 'answers' || shot.inside?.kind === 'written';
  for (const [i, { row }] of shot.lanes.entries()) {
    const share = ownShare(through, i, lanes.count);
    const tensor = share > 0.5 ? shot.after : shot.before;
    if (!tensor || share === 0 || (answers && share > 0.5)) continue;
    const x = between(before.x, after.x, share);
    const place = { x, y: laneMiddle(lanes, i) - height / 2, width: before.width, height };
    drawPlate(context, tensor, row, place, look.theme);
  }
}

function drawBox(brush: Brush, shot: Shot, lanes: Lanes, { through }: Progress): void {
  const { context, look, layout } = brush;
  const { box: column } = layout;
  const { box } = shot.station!;
  const hue = look.hueOf(box.part);
  const [head, foot] = layout.wide ? [36, 30] : [32, 24];
  const top = lanes.top - head;
  const height = lanes.count * lanes.step + head + foot;
  rounded(context, [column.x, top, column.width, height], 12);
  context.fillStyle = look.page;
  faded(context, 0.9, () => context.fill());
  context.fillStyle = hue;
  faded(context, look.theme === 'dark' ? 0.16 : 0.2, () => context.fill());
  context.strokeStyle = hue;
  context.lineWidth = 2;
  context.stroke();
  context.fillStyle = look.ink;
  context.textAlign = 'center';
  const title = fitted(brush, box.title, {
    ...{ family: look.sans, weight: 600, size: layout.wide ? 18 : 13, least: 10 },
    ...{ width: column.width - 12, lines: layout.wide ? 1 : 2, leading: 1.1 },
  });
  write(brush, title, column.x + column.width / 2, top + (head - title.height) / 2);
  const note = inside.footOf(shot);
  if (note) {
    context.font = `400 ${layout.wide ? 14 : 10.5}px ${look.sans}`;
    context.fillStyle = look.ink;
    const text = cut(context, note, column.width - 8);
    faded(context, 0.85, () => context.fillText(text, column.x + column.width / 2, top + height - foot / 2)); // prettier-ignore
  }
  context.save();
  rounded(context, [column.x, top, column.width, height], 12);
  context.clip();
  inside.drawInside({ brush, shot, lanes, box: column, done: through });
  context.restore();
}

/** Draws the answers to the right of the last box. */
function drawOutcome(brush: Brush, shot: Shot, lanes: Lanes, through: number): void {
  const { layout, context } = brush;
  const { x } = layout.after;
  const width = layout.width - x - (layout.wide ? 40 : 8);
  const grown = eased(through, 0.5, 1);
  faded(context, grown, () => {
    if (shot.inside?.kind === 'answers') {
      const height = lanes.count * lanes.step;
      const least = layout.wide ? 220 : 180;
      const own = Math.max(height, least);
      const column = { x, width, top: lanes.top - (own - height) / 2, height: own };
      inside.drawAnswers(brush, shot.inside.answers, column, grown);
    }
    if (shot.inside?.kind === 'written')
      inside.drawWritten(brush, shot.inside.answers, lanes, { x, width }, grown);
  });
}

function drawLabels(brush: Brush, scene: Scene, shot: Shot, lanes: Lanes): void {
  const { context, layout, look } = brush;
  const links = shot.inside?.kind === 'links' ? shot.inside : undefined;
  const { x, width } = layout.label;
  for (const [i, lane] of shot.lanes.entries()) {
    const y = laneMiddle(lanes, i);
    const next = shot.lanes[i + 1];
    const { strongest } = links?.links ?? {};
    const marked = strongest?.query === i || (links?.ownKeys === true && strongest?.key === i);
    const color = marked ? look.cobalt : look.ink;
    if (lane.place && scene.picture) {
      const place = { x: x + width, y, size: lanes.step * 0.72 };
      drawPatch(brush, scene.picture, lane.place, place, marked);
      continue;
    }
    drawLabel(brush, lane.label, { x: x + width, y, width, step: lanes.step }, color);
    if (next && next.row > lane.row + 1 && !scene.picture)
      drawGap(brush, x + width, y + lanes.step / 2);
  }
  context.textAlign = 'left';
}

interface LabelPlace {
  x: number;
  y: number;
  width: number;
  step: number;
}

/** Returns the size of a label: a long one is a little smaller. */
function labelSize(
  { context, look, layout }: Brush,
  label: string,
  { width, step, bold }: { width: number; step: number; bold: boolean },
): number {
  const size = Math.min(layout.wide ? 18 : 13, step * 0.7);
  context.font = `${bold ? 600 : 400} ${size}px ${look.sans}`;
  return Math.max(0.8 * size, Math.min(size, (size * width) / context.measureText(label).width));
}

function drawLabel(
  { context, look, layout }: Brush,
  label: string,
  { x, y, width, step }: LabelPlace,
  color: string,
): void {
  const bold = color === look.cobalt;
  const size = labelSize({ context, look, layout }, label, { width, step, bold });
  context.font = `${bold ? 600 : 400} ${size}px ${look.sans}`;
  context.fillStyle = color;
  context.textAlign = 'right';
  context.textBaseline = 'middle';
  context.fillText(cut(context, label, width), x, y);
}

/** Three dots where tokens are left out. */
function drawGap({ context, look }: Brush, x: number, y: number): void {
  context.fillStyle = look.soft;
  for (let i = 0; i < 3; i++) context.fillRect(x - 18 + i * 7, y - 1, 2.5, 2.5);
}

function drawPatch(
  brush: Brush,
  picture: Pixels,
  part: PictureRegion,
  { x, y, size }: { x: number; y: number; size: number },
  marked: boolean,
): void {
  const { context, look } = brush;
  drawPart(context, picture, part, { x: x - size, y: y - size / 2, width: size, height: size });
  context.strokeStyle = marked ? look.cobalt : look.line;
  context.lineWidth = marked ? 3 : 1;
  context.strokeRect(x - size, y - size / 2, size, size);
}

/** Draws the first station: the words of the text fly to their rows. */
function drawTokens(brush: Brush, scene: Scene, shot: Shot, lanes: Lanes, time: number): void {
  const { context, look, layout } = brush;
  if (scene.picture && shot.lanes.some(({ place }) => place)) return drawCutting(brush, scene, shot, lanes, time); // prettier-ignore
  const gap = layout.wide ? 16 : 9;
  const size = layout.wide ? 25 : 15;
  context.font = `400 ${size}px ${look.sans}`;
  // The text in lines, and where each of its tokens stands. It is right of the rows.
  const start = layout.before.x + (layout.wide ? 130 : 22);
  const room = layout.width - start - (layout.wide ? 60 : 14);
  const starts: { x: number; line: number }[] = [];
  const widths: number[] = [0];
  for (const [i, { label, row }] of shot.lanes.entries()) {
    if (i > 0 && row > shot.lanes[i - 1]!.row + 1) widths[widths.length - 1]! += 24;
    const own = Math.min(room, context.measureText(label).width);
    if (widths.at(-1)! > 0 && widths.at(-1)! + own > room) widths.push(0);
    starts.push({ x: widths.at(-1)!, line: widths.length - 1 });
    widths[widths.length - 1]! += own + gap;
  }
  const leading = size * 2;
  const top = (layout.top + layout.bottom - widths.length * leading) / 2;
  const { x, width } = layout.label;
  context.textBaseline = 'middle';
  for (const [i, { label, row }] of shot.lanes.entries()) {
    const share = eased(time, 900 + 70 * i, 1900 + 70 * i);
    const { x: along, line } = starts[i]!;
    const from = start + (room - widths[line]! + gap) / 2 + along;
    const y = top + (line + 0.5) * leading;
    context.font = `400 ${size}px ${look.sans}`;
    context.textAlign = 'left';
    const whole = cut(context, label, room);
    const wide = context.measureText(whole).width;
    context.strokeStyle = look.cobalt;
    context.lineWidth = 1.25;
    rounded(context, [from - 5, y - size * 0.8, wide + 10, size * 1.6], 5);
    faded(context, eased(time, 300 + 40 * i, 700 + 40 * i), () => context.stroke());
    context.fillStyle = look.ink;
    context.fillText(whole, from, y);
    if (i > 0 && row > shot.lanes[i - 1]!.row + 1) drawGap(brush, from - gap, y);
    if (share > 0) {
      const end = labelSize(brush, label, { width, step: lanes.step, bold: false });
      context.font = `400 ${between(size, end, share)}px ${look.sans}`;
      const text = cut(context, label, between(room, width, share));
      const own = context.measureText(text).width;
      const at = { x: between(from, x + width - own, share), y: between(y, laneMiddle(lanes, i), share) }; // prettier-ignore
      faded(context, share * share, () => context.fillText(text, at.x, at.y));
    }
    const next = shot.lanes[i + 1];
    if (next && next.row > row + 1) faded(context, share, () => drawGap(brush, x + width, laneMiddle(lanes, i) + lanes.step / 2)); // prettier-ignore
  }
}

/** Draws a picture whose patches fly to their rows. */
function drawCutting(brush: Brush, scene: Scene, shot: Shot, lanes: Lanes, time: number): void {
  const { context, look, layout } = brush;
  const picture = scene.picture!;
  const side = Math.min(layout.bottom - layout.top - 20, layout.width * 0.5);
  const left = layout.wide ? (layout.width - side) / 2 : layout.width - side - 16;
  const top = (layout.top + layout.bottom - side) / 2;
  const unit = side / Math.max(picture.width, picture.height);
  const whole = { left: 0, top: 0, width: picture.width, height: picture.height };
  drawPart(context, picture, whole, { x: left, y: top, width: picture.width * unit, height: picture.height * unit }); // prettier-ignore
  context.strokeStyle = look.cobalt;
  const { x, width } = layout.label;
  for (const [i, { place, label }] of shot.lanes.entries()) {
    const share = eased(time, 900 + 70 * i, 1900 + 70 * i);
    const y = laneMiddle(lanes, i);
    if (!place) {
      faded(context, share, () => drawLabel(brush, label, { x: x + width, y, width, step: lanes.step }, look.ink)); // prettier-ignore
      continue;
    }
    const from = { x: left + place.left * unit, y: top + place.top * unit };
    context.lineWidth = 1.5;
    context.strokeRect(from.x, from.y, place.width * unit, place.height * unit);
    const size = between(place.width * unit, lanes.step * 0.72, share);
    const to = { x: between(from.x, x + width - size, share), y: between(from.y, y - size / 2, share) }; // prettier-ignore
    drawPart(context, picture, place, { ...to, width: size, height: size });
  }
}
