/** Draws a film: the same pixels for the same scene, time and stage. */
import { eased, faded, fitted, write, type Brush } from './brush.ts';
import { drawEnd, drawTitle } from './cards.ts';
import { layoutOf } from './layout.ts';
import type { Look } from './look.ts';
import { drawMap } from './map.ts';
import { shotAt } from '../scene.ts';
import { drawStage } from './stage.ts';
import type { Scene, Shot } from '../shot.ts';

/** The size of a film in pixels, and its look. */
export interface Screen {
  /** Pixels per CSS pixel. */
  ratio: number;
  width: number;
  height: number;
  look: Look;
}

/** Draws the picture of a film at a time, in milliseconds. */
export function draw(
  context: CanvasRenderingContext2D,
  scene: Scene,
  time: number,
  { look, ...size }: Screen,
): void {
  const layout = layoutOf(size, scene.stacks.length);
  const brush: Brush = { context, layout, look };
  const at = shotAt(scene, time);
  const shot = scene.shots[at]!;
  const own = time - shot.start;
  context.save();
  context.setTransform(layout.scale, 0, 0, layout.scale, 0, 0);
  context.globalAlpha = 1;
  // Otherwise letters are placed in whole pixels of another size.
  context.textRendering = 'geometricPrecision';
  context.fillStyle = look.page;
  context.fillRect(0, 0, layout.width, layout.height);
  if (shot.kind === 'title') drawTitle(brush, scene, own);
  else if (shot.kind === 'end') drawEnd(brush, scene, own);
  else {
    drawMap(brush, scene, at, own);
    drawStage(brush, scene, at, own);
    drawCaption(brush, shot, own);
  }
  context.restore();
}

function drawCaption(brush: Brush, { caption, station }: Shot, time: number): void {
  const { context, layout, look } = brush;
  const { top, width, title, text, lines } = layout.caption;
  const middle = layout.width / 2;
  context.font = `600 ${title}px ${look.sans}`;
  const wide = context.measureText(caption.title).width;
  context.fillStyle = look.hueOf(station!.box.part);
  context.beginPath();
  context.arc(middle - wide / 2 - 2, top + 9, 5, 0, 7);
  context.fill();
  context.fillStyle = look.soft;
  context.textAlign = 'center';
  context.textBaseline = 'middle';
  context.fillText(caption.title, middle + 8, top + 9);
  const block = fitted(brush, caption.text, {
    family: look.serif,
    weight: 500,
    size: text,
    least: text * 0.7,
    width,
    lines,
    balanced: true,
  });
  context.textAlign = 'center';
  context.fillStyle = look.ink;
  faded(context, 0.25 + 0.75 * eased(time, 0, 250), () => write(brush, block, middle, top + 24));
}
