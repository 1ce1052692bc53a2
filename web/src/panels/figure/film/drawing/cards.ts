/** The first and the last picture of a film. */
import { percent, wholePercent } from '../../../../ui/text/format.ts';
import { eased, faded, fitted, write, type Brush } from './brush.ts';
import { drawBar } from './inside.ts';
import { drawPart } from './picture.ts';
import type { Scene } from '../shot.ts';

const inQuotes = (text: string): string => `“${text.trim().replace(/\s+/g, ' ')}”`;

type Writing = Parameters<typeof fitted>[2] & { color: string };

/** Draws lines in the middle of the width from `top`, or from where their height puts it, and returns where they end. */
function centered(
  brush: Brush,
  text: string,
  top: number | ((height: number) => number),
  { color, ...writing }: Writing,
): number {
  const { context, layout } = brush;
  const block = fitted(brush, text, writing);
  const from = typeof top === 'number' ? top : top(block.height);
  context.textAlign = 'center';
  context.fillStyle = color;
  write(brush, block, layout.width / 2, from);
  return from + block.height;
}

/** Draws the sentence, and what will read it. */
export function drawTitle(brush: Brush, scene: Scene, time: number): void {
  const { context, layout, look } = brush;
  const { wide, height } = layout;
  const width = layout.width * (wide ? 0.78 : 0.88);
  const small = {
    family: look.sans,
    size: wide ? 19 : 14,
    width,
    lines: 2,
    balanced: true,
    color: look.soft,
  };
  faded(context, eased(time, 0, 500), () => {
    const what = scene.picture ? 'A picture' : 'A text';
    centered(brush, `${what} on its way through a Transformer`, height * 0.13, small);
    if (scene.picture) drawWhole(brush, scene, height * 0.28, height * 0.44);
  });
  if (!scene.picture)
    faded(context, eased(time, 250, 900), () => {
      const writing = { family: look.serif, weight: 500, size: wide ? 52 : 30, least: wide ? 22 : 15, width, lines: wide ? 8 : 13,
        height: height * 0.48, leading: 1.25, balanced: true }; // prettier-ignore
      centered(brush, inQuotes(scene.text), (own) => height * 0.46 - own / 2, { ...writing, color: look.ink }); // prettier-ignore
    });
  faded(context, eased(time, 700, 1300), () => {
    centered(brush, sizesOf(scene), height * (wide ? 0.76 : 0.8), small);
    centered(brush, 'Every color is a number that the model computed.', height * 0.87, small);
  });
}

function drawWhole({ context, layout }: Brush, { picture }: Scene, y: number, side: number): void {
  const { width, height } = picture!;
  const unit = side / Math.max(width, height);
  const place = { x: (layout.width - width * unit) / 2, y, width: width * unit, height: height * unit }; // prettier-ignore
  drawPart(context, picture!, { left: 0, top: 0, width, height }, place);
}

function sizesOf({ stacks, shots }: Scene): string {
  const layers = stacks.map(({ name, count }) => stacks.length > 1 ? `${count} layers in the ${name}` : `${count} layers`); // prettier-ignore
  const links = shots.find(({ inside }) => inside?.kind === 'links')?.inside;
  const heads = links?.kind === 'links' ? [`${links.links.heads} heads per layer`] : [];
  const width = shots.find(({ after }) => after)?.after?.shape.at(-1);
  const numbers = width ? [`${width} numbers per ${shots.some(({ lanes }) => lanes.some(({ place }) => place)) ? 'patch' : 'token'}`] : []; // prettier-ignore
  return [...layers, ...heads, ...numbers].join(' · ');
}

/** Draws the answer with its probability. */
export function drawEnd(brush: Brush, scene: Scene, time: number): void {
  const { context, layout, look } = brush;
  const { wide, height } = layout;
  const { answer, translation, doubtful } = scene;
  const width = layout.width * (wide ? 0.78 : 0.88);
  const small = {
    family: look.sans,
    size: wide ? 19 : 14,
    width,
    lines: 3,
    balanced: true,
    color: look.soft,
  };
  const continues = scene.stacks.length === 1 && scene.stacks[0]!.name === 'decoder';
  faded(context, eased(time, 0, 500), () => {
    if (scene.picture) drawWhole(brush, scene, height * 0.08, height * 0.26);
    else {
      const source = { family: look.serif, weight: 500, size: wide ? 28 : 19, least: wide ? 18 : 13, width, lines: wide ? 3 : 6, balanced: true, color: look.soft }; // prettier-ignore
      centered(brush, inQuotes(scene.text), (own) => height * 0.25 - own / 2, source);
    }
  });
  const large = { family: look.serif, weight: 500, size: wide ? 64 : 38, least: wide ? 26 : 17, width, lines: wide ? 4 : 8, leading: 1.2, balanced: true, color: look.ink }; // prettier-ignore
  faded(context, eased(time, 500, 1200), () => {
    const lead = translation
      ? 'The translation'
      : continues
        ? 'The most probable next token'
        : 'The model’s answer';
    centered(brush, lead, height * 0.42, small);
    const text =
      translation ?? (continues && answer ? inQuotes(answer.text) : (answer?.text ?? ''));
    const end = centered(brush, text, (own) => height * 0.58 - Math.min(own, height * 0.24) / 2, large); // prettier-ignore
    const below = Math.max(end + 14, height * 0.7);
    if (answer) {
      const bar = { width: Math.min(420, layout.width * 0.6), height: 10, y: below };
      const share = answer.probability * eased(time, 900, 1900);
      drawBar(brush, { ...bar, x: (layout.width - bar.width) / 2 }, share);
      centered(brush, percent(answer.probability), below + 20, { ...small, size: wide ? 26 : 19, color: look.ink }); // prettier-ignore
    } else if (doubtful && Number.isFinite(doubtful.probability)) {
      const least = `Least certain of ${inQuotes(doubtful.text)}: ${wholePercent(doubtful.probability)}.`;
      centered(brush, least, below, small);
    }
    centered(brush, 'Made with Glassformer, in the browser.', height * 0.9, small);
  });
}
