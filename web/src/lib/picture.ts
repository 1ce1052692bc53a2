/** Pictures of a head, as files: made in picture-worker.ts, so that no page need wait. */
import { largestWeight, unseen, weightAt } from './attention.ts';
import { attentionShades, shadeOf } from './palette.ts';
import { textWidth } from './text-width.ts';
import type { Picture, PictureKind } from './save.ts';
import { shorten } from './tokens.ts';

const escape = (text: string) =>
  text
    .replace(/[<>&"]/g, (c) => `&#${c.charCodeAt(0)};`)
    .replace(/[^\t\n\r\x20-\ud7ff\ue000-\u{10ffff}]/gu, '\ufffd');

/** Where a picture's parts lie, in pixels. */
function layoutOf({ matrix, queryLabels, keyLabels, caption }: Picture) {
  const { queries, keys } = matrix;
  const size = Math.max(2, Math.min(32, Math.floor(1200 / Math.max(queries, keys))));
  const widest = (labels: readonly string[]) =>
    Math.ceil(Math.max(0, ...labels.map((label) => textWidth(shorten(label, 16), fontSize)))) + 16;
  const left = widest(queryLabels);
  const top = widest(keyLabels);
  return {
    size,
    left,
    top,
    gap: size > 8 ? 1 : 0,
    /** Labels that would overlap are left out: one of so many is there. */
    every: Math.ceil(fontSize / size),
    width: Math.max(left + keys * size + 8, Math.ceil(textWidth(caption, fontSize)) + 16),
    height: top + queries * size + 32,
  };
}

const fontSize = 12;
const fonts = 'Instrument Sans, Helvetica, Arial, sans-serif';
const ink = '#13201e';

const svgOf = (width: number, height: number, parts: readonly string[]) =>
  `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" ` +
  `font-family="${fonts}" font-size="${fontSize}" fill="${ink}">` +
  `<rect width="100%" height="100%" fill="#fff"/>${parts.join('')}</svg>`;

/** A heat map that stands alone, on white, in SVG. */
function heatmapSvg(picture: Picture): string {
  const { matrix, queryLabels, keyLabels, caption } = picture;
  const { queries, keys } = matrix;
  const { size, left, top, gap, every, width, height } = layoutOf(picture);
  const max = largestWeight(matrix);
  const shades = attentionShades('light');
  const parts: string[] = [];
  keyLabels.forEach((label, key) => {
    if (key % every > 0) return;
    const at = `translate(${left + (key + 0.5) * size} ${top - 6}) rotate(-90)`;
    parts.push(
      `<text transform="${at}" dominant-baseline="central">${escape(shorten(label, 16))}</text>`,
    );
  });
  queryLabels.forEach((label, query) => {
    if (query % every > 0) return;
    const at = `x="${left - 6}" y="${top + (query + 0.5) * size}"`;
    parts.push(
      `<text ${at} text-anchor="end" dominant-baseline="central">${escape(shorten(label, 16))}</text>`,
    );
  });
  for (let query = 0; query < queries; query++) {
    for (let key = 0; key < keys; key++) {
      const value = weightAt(matrix, { query, key });
      const at = `x="${left + key * size}" y="${top + query * size}"`;
      const fill = unseen(matrix, { query, key }) ? 'none' : shades[shadeOf(value, max)]!;
      parts.push(
        `<rect ${at} width="${size - gap}" height="${size - gap}" fill="${fill}" data-value="${value}"/>`,
      );
    }
  }
  parts.push(`<text x="8" y="${height - 12}">${escape(caption)}</text>`);
  return svgOf(width, height, parts);
}

/** A white bitmap, two pixels to each of the SVG's. */
function bitmap(
  canvas: OffscreenCanvas,
  width: number,
  height: number,
): OffscreenCanvasRenderingContext2D {
  const scale = 2;
  canvas.width = width * scale;
  canvas.height = height * scale;
  const context = canvas.getContext('2d');
  if (!context) throw new Error('No picture was made');
  context.scale(scale, scale);
  context.fillStyle = '#fff';
  context.fillRect(0, 0, width, height);
  context.font = `${fontSize}px ${fonts}`;
  return context;
}

/** The same as a bitmap. */
function drawHeatmap(canvas: OffscreenCanvas, picture: Picture): void {
  const { matrix, queryLabels, keyLabels, caption } = picture;
  const { size, left, top, gap, every, width, height } = layoutOf(picture);
  const context = bitmap(canvas, width, height);
  const max = largestWeight(matrix);
  const shades = attentionShades('light');
  for (let query = 0; query < matrix.queries; query++) {
    for (let key = 0; key < matrix.keys; key++) {
      if (unseen(matrix, { query, key })) continue;
      context.fillStyle = shades[shadeOf(weightAt(matrix, { query, key }), max)]!;
      context.fillRect(left + key * size, top + query * size, size - gap, size - gap);
    }
  }
  context.fillStyle = ink;
  context.fillText(caption, 8, height - 12);
  context.textBaseline = 'middle';
  const labels = (names: readonly string[], write: (name: string, at: number) => void) =>
    names.forEach((name, i) => i % every === 0 && write(shorten(name, 16), (i + 0.5) * size));
  context.textAlign = 'right';
  labels(queryLabels, (name, at) => context.fillText(name, left - 6, top + at));
  context.textAlign = 'left';
  context.rotate(-Math.PI / 2);
  labels(keyLabels, (name, at) => context.fillText(name, 6 - top, left + at));
}

/** The same of lines: two columns of tokens, and what runs between them, in the order of drawing. */
function lineLayoutOf({ matrix, queryLabels, keyLabels, caption, lines }: Picture) {
  const { queries, keys, lines: links } = lines!;
  const row = 20;
  const top = 12;
  const widest = (labels: readonly string[], shown: readonly number[]) =>
    Math.ceil(Math.max(0, ...shown.map((i) => textWidth(shorten(labels[i] ?? '', 24), fontSize)))) +
    16;
  const left = widest(queryLabels, queries);
  const right = left + 240;
  const middleOf = (shown: readonly number[]) =>
    new Map(shown.map((token, i) => [token, top + (i + 0.5) * row]));
  const [from, to] = [middleOf(queries), middleOf(keys)];
  const named = (labels: readonly string[], places: ReadonlyMap<number, number>) =>
    [...places].map(([token, y]) => ({ label: shorten(labels[token] ?? '', 24), y }));
  const most = largestWeight(matrix);
  return {
    left,
    right,
    width: Math.max(right + widest(keyLabels, keys), Math.ceil(textWidth(caption, fontSize)) + 16),
    height: top + Math.max(queries.length, keys.length) * row + 32,
    queries: named(queryLabels, from),
    keys: named(keyLabels, to),
    links: links.map(({ query, key, weight }) => ({
      ...{ query, key, weight, from: from.get(query)!, to: to.get(key)! },
      ...{ width: 0.75 + (3.25 * weight) / most, opacity: 0.1 + (0.9 * weight) / most },
    })),
  };
}

const lineColor = '#2b50c8';

function linesSvg(picture: Picture): string {
  const { left, right, width, height, queries, keys, links } = lineLayoutOf(picture);
  const bend = (right - left) * 0.4;
  const parts = links.map((link) => {
    const path = `M${left} ${link.from}C${left + bend} ${link.from} ${right - bend} ${link.to} ${right} ${link.to}`;
    const stroke = `stroke="${lineColor}" stroke-width="${link.width.toFixed(2)}" stroke-opacity="${link.opacity.toFixed(3)}"`;
    return `<path d="${path}" fill="none" ${stroke} data-value="${link.weight}"/>`;
  });
  const text = (x: number, y: number, label: string, anchor: string) =>
    `<text x="${x}" y="${y}" text-anchor="${anchor}" dominant-baseline="central">${escape(label)}</text>`;
  for (const { label, y } of queries) parts.push(text(left - 6, y, label, 'end'));
  for (const { label, y } of keys) parts.push(text(right + 6, y, label, 'start'));
  parts.push(`<text x="8" y="${height - 12}">${escape(picture.caption)}</text>`);
  return svgOf(width, height, parts);
}

function drawLines(canvas: OffscreenCanvas, picture: Picture): void {
  const { left, right, width, height, queries, keys, links } = lineLayoutOf(picture);
  const context = bitmap(canvas, width, height);
  const bend = (right - left) * 0.4;
  context.strokeStyle = lineColor;
  for (const link of links) {
    context.globalAlpha = link.opacity;
    context.lineWidth = link.width;
    context.beginPath();
    context.moveTo(left, link.from);
    context.bezierCurveTo(left + bend, link.from, right - bend, link.to, right, link.to);
    context.stroke();
  }
  context.globalAlpha = 1;
  context.fillStyle = ink;
  context.fillText(picture.caption, 8, height - 12);
  context.textBaseline = 'middle';
  context.textAlign = 'right';
  for (const { label, y } of queries) context.fillText(label, left - 6, y);
  context.textAlign = 'left';
  for (const { label, y } of keys) context.fillText(label, right + 6, y);
}

/** The file of a picture. */
export async function pictureFile(kind: PictureKind, picture: Picture): Promise<Blob> {
  if (kind === 'svg') {
    const svg = picture.lines ? linesSvg : heatmapSvg;
    return new Blob([svg(picture)], { type: 'image/svg+xml' });
  }
  const canvas = new OffscreenCanvas(1, 1);
  (picture.lines ? drawLines : drawHeatmap)(canvas, picture);
  return canvas.convertToBlob();
}
