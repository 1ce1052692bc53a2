/** Pictures of a head as files. They are created in picture-worker.ts, so that no page waits. */
import { scaleLinear } from 'd3-scale';
import { linkHorizontal } from 'd3-shape';
import type { Line } from '../head-lines.ts';
import { largestWeight, unseen, weightAt } from '../attention.ts';
import { shadeOf } from '../../../ui/color/glasses.ts';
import { textWidth } from '../../../ui/text/text-width.ts';
import type { Picture, PictureKind, Shaded } from './picture-file.ts';
import { shorten } from '../../words/tokens.ts';

/** The parts of a picture. Positions and sizes are in pixels. */
type Mark =
  | { kind: 'cell'; x: number; y: number; side: number; color: string | undefined; value: number }
  | { kind: 'line'; path: string; width: number; opacity: number; value: number }
  | { kind: 'label'; text: string; x: number; y: number; ends?: boolean; turned?: boolean };

/** The marks in drawing order, on white. */
interface Drawing {
  width: number;
  height: number;
  marks: Iterable<Mark>;
}

const fontSize = 12;
const fonts = 'Instrument Sans, Helvetica, Arial, sans-serif';
const ink = '#13201e';
const lineColor = '#2b50c8';

const widest = (labels: readonly string[]) =>
  Math.ceil(Math.max(0, ...labels.map((label) => textWidth(label, fontSize)))) + 16;

/** Returns a drawing of at least this size with a caption at the bottom. */
function captioned(
  caption: string,
  size: { width: number; height: number },
  marks: Iterable<Mark>,
): Drawing {
  const width = Math.max(size.width, widest([caption]));
  const height = size.height + 32;
  function* all(): Iterable<Mark> {
    yield* marks;
    yield { kind: 'label', text: caption, x: 8, y: height - 16 };
  }
  return { width, height, marks: all() };
}

/** Draws a heat map. */
function heatmap({ matrix, queryLabels, keyLabels, caption, shades }: Picture & Shaded): Drawing {
  const { queries, keys } = matrix;
  const size = Math.max(2, Math.min(32, Math.floor(1200 / Math.max(queries, keys))));
  const gap = size > 8 ? 1 : 0;
  /** Labels would overlap in small cells, so only every n-th is drawn. */
  const every = Math.ceil(fontSize / size);
  const rows = queryLabels.map((label) => shorten(label, 16));
  const columns = keyLabels.map((label) => shorten(label, 16));
  const left = widest(rows);
  const top = widest(columns);
  const max = largestWeight(matrix);
  function* marks(): Iterable<Mark> {
    for (let query = 0; query < queries; query++) {
      for (let key = 0; key < keys; key++) {
        const value = weightAt(matrix, { query, key });
        const color = unseen(matrix, { query, key }) ? undefined : shades[shadeOf(value, max)]!;
        const at = { x: left + key * size, y: top + query * size };
        yield { kind: 'cell', ...at, side: size - gap, color, value };
      }
    }
    for (let i = 0; i < columns.length; i += every)
      yield {
        kind: 'label',
        text: columns[i]!,
        x: left + (i + 0.5) * size,
        y: top - 6,
        turned: true,
      };
    for (let i = 0; i < rows.length; i += every)
      yield { kind: 'label', text: rows[i]!, x: left - 6, y: top + (i + 0.5) * size, ends: true };
  }
  return captioned(
    caption,
    { width: left + keys * size + 8, height: top + queries * size },
    marks(),
  );
}

/** Draws two columns of tokens and the lines between them. */
function lines({ matrix, queryLabels, keyLabels, caption, lines }: Picture): Drawing {
  const { queries, keys, lines: links } = lines!;
  const row = 20;
  const top = 12;
  const named = (labels: readonly string[], shown: readonly number[]) =>
    shown.map((token) => shorten(labels[token] ?? '', 24));
  const middleOf = (place: number) => top + (place + 0.5) * row;
  const from = named(queryLabels, queries);
  const to = named(keyLabels, keys);
  const left = widest(from);
  const right = left + 240;
  const most = largestWeight(matrix);
  const widthOf = scaleLinear([0, most], [0.75, 4]);
  const opacityOf = scaleLinear([0, most], [0.1, 1]);
  const link = linkHorizontal<unknown, Line, [number, number]>()
    .source(({ query }) => [left, middleOf(queries.indexOf(query))])
    .target(({ key }) => [right, middleOf(keys.indexOf(key))]);
  function* marks(): Iterable<Mark> {
    for (const line of links) {
      const { weight: value } = line;
      const path = link(line)!;
      yield { kind: 'line', path, width: widthOf(value), opacity: opacityOf(value), value };
    }
    for (const [i, text] of from.entries())
      yield { kind: 'label', text, x: left - 6, y: middleOf(i), ends: true };
    for (const [i, text] of to.entries())
      yield { kind: 'label', text, x: right + 6, y: middleOf(i) };
  }
  const height = top + Math.max(queries.length, keys.length) * row;
  return captioned(caption, { width: right + widest(to), height }, marks());
}

const escape = (text: string) =>
  text
    .replace(/[<>&"]/g, (c) => `&#${c.charCodeAt(0)};`)
    .replace(/[^\t\n\r\x20-\ud7ff\ue000-\u{10ffff}]/gu, '\ufffd');

function svgOf({ width, height, marks }: Drawing): string {
  const parts = Array.from(marks, (mark) => {
    if (mark.kind === 'cell') {
      const { x, y, side, color, value } = mark;
      return `<rect x="${x}" y="${y}" width="${side}" height="${side}" fill="${color ?? 'none'}" data-value="${value}"/>`;
    }
    if (mark.kind === 'line') {
      const { path, width, opacity, value } = mark;
      const stroke = `stroke="${lineColor}" stroke-width="${width.toFixed(2)}" stroke-opacity="${opacity.toFixed(3)}"`;
      return `<path d="${path}" fill="none" ${stroke} data-value="${value}"/>`;
    }
    const { text, x, y, ends, turned } = mark;
    const at = `transform="translate(${x} ${y})${turned ? ' rotate(-90)' : ''}"`;
    return `<text ${at} text-anchor="${ends ? 'end' : 'start'}" dominant-baseline="central">${escape(text)}</text>`;
  });
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" ` +
    `font-family="${fonts}" font-size="${fontSize}" fill="${ink}">` +
    `<rect width="100%" height="100%" fill="#fff"/>${parts.join('')}</svg>`
  );
}

/** Renders a bitmap at twice the SVG's size. */
function bitmapOf({ width, height, marks }: Drawing): Promise<Blob> {
  const scale = 2;
  const canvas = new OffscreenCanvas(width * scale, height * scale);
  const context = canvas.getContext('2d');
  if (!context) throw new Error('The picture could not be created');
  context.scale(scale, scale);
  context.fillStyle = '#fff';
  context.fillRect(0, 0, width, height);
  context.font = `${fontSize}px ${fonts}`;
  context.textBaseline = 'middle';
  context.strokeStyle = lineColor;
  for (const mark of marks) {
    if (mark.kind === 'cell') {
      if (mark.color === undefined) continue;
      context.fillStyle = mark.color;
      context.fillRect(mark.x, mark.y, mark.side, mark.side);
    } else if (mark.kind === 'line') {
      context.globalAlpha = mark.opacity;
      context.lineWidth = mark.width;
      context.stroke(new Path2D(mark.path));
    } else {
      context.save();
      context.globalAlpha = 1;
      context.fillStyle = ink;
      context.textAlign = mark.ends ? 'right' : 'left';
      context.translate(mark.x, mark.y);
      if (mark.turned) context.rotate(-Math.PI / 2);
      context.fillText(mark.text, 0, 0);
      context.restore();
    }
  }
  return canvas.convertToBlob();
}

/** Creates a picture file. */
export async function pictureFile(kind: PictureKind, picture: Picture & Shaded): Promise<Blob> {
  const drawing = picture.lines ? lines(picture) : heatmap(picture);
  if (kind === 'png') return bitmapOf(drawing);
  return new Blob([svgOf(drawing)], { type: 'image/svg+xml' });
}
