/** Taking a picture away: files made here and handed to the browser to save. */
import { largestWeight, unseen, weightAt, type Matrix } from './attention.ts';
import { attentionScale } from './palette.ts';
import { textWidth } from './text-width.ts';
import { shorten } from './tokens.ts';

export interface Picture {
  matrix: Matrix;
  queryLabels: readonly string[];
  keyLabels: readonly string[];
  /** Printed under the map. */
  caption: string;
}

const escape = (text: string) =>
  text
    .replace(/[<>&"]/g, (c) => `&#${c.charCodeAt(0)};`)
    .replace(/[^\t\n\r\x20-\ud7ff\ue000-\u{10ffff}]/gu, '\ufffd');

/** A heat map that stands alone, on white, in SVG. Labels that would overlap are left out. */
export function heatmapSvg({ matrix, queryLabels, keyLabels, caption }: Picture): string {
  const { queries, keys } = matrix;
  const fontSize = 12;
  const size = Math.max(2, Math.min(32, Math.floor(1200 / Math.max(queries, keys))));
  const every = Math.ceil(fontSize / size);
  const widest = (labels: readonly string[]) =>
    Math.ceil(Math.max(0, ...labels.map((label) => textWidth(shorten(label, 16), fontSize)))) + 16;
  const left = widest(queryLabels);
  const top = widest(keyLabels);
  const width = Math.max(left + keys * size + 8, textWidth(caption, fontSize) + 16);
  const height = top + queries * size + 32;
  const color = attentionScale('light', largestWeight(matrix));
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
  const gap = size > 8 ? 1 : 0;
  for (let query = 0; query < queries; query++) {
    for (let key = 0; key < keys; key++) {
      const value = weightAt(matrix, { query, key });
      const at = `x="${left + key * size}" y="${top + query * size}"`;
      parts.push(
        `<rect ${at} width="${size - gap}" height="${size - gap}" fill="${unseen(matrix, { query, key }) ? 'none' : color(value)}" data-value="${value}"/>`,
      );
    }
  }
  parts.push(`<text x="8" y="${height - 12}">${escape(caption)}</text>`);
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" ` +
    `font-family="Instrument Sans, Helvetica, Arial, sans-serif" font-size="${fontSize}" fill="#13201e">` +
    `<rect width="100%" height="100%" fill="#fff"/>${parts.join('')}</svg>`
  );
}

/** The same as a bitmap, two pixels to each of the SVG's. */
export async function heatmapPng(picture: Picture): Promise<Blob> {
  const url = URL.createObjectURL(new Blob([heatmapSvg(picture)], { type: 'image/svg+xml' }));
  try {
    const image = new Image();
    image.src = url;
    await image.decode();
    const canvas = document.createElement('canvas');
    canvas.width = image.naturalWidth * 2;
    canvas.height = image.naturalHeight * 2;
    canvas.getContext('2d')?.drawImage(image, 0, 0, canvas.width, canvas.height);
    return await new Promise((resolve, reject) => {
      canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error('No picture was made'))));
    });
  } finally {
    URL.revokeObjectURL(url);
  }
}

/** Hands a file to the browser to save. */
export function save(name: string, content: Blob): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
