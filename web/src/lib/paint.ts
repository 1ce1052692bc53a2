import { unseen, type Matrix } from './attention.ts';
import type { Theme } from './glasses.ts';
import { attentionPixels } from './palette.ts';

/** Draws one pixel per weight, 0 … max, none for the unseen, resizing the canvas to the matrix. */
export function paint(canvas: HTMLCanvasElement, matrix: Matrix, max: number, theme: Theme): void {
  const { weights, queries, keys } = matrix;
  canvas.width = keys;
  canvas.height = queries;
  const image = new ImageData(keys, queries);
  const from = new Uint32Array(attentionPixels(theme).buffer);
  const to = new Uint32Array(image.data.buffer);
  for (let i = 0; i < weights.length; i++) {
    if (unseen(matrix, { query: Math.floor(i / keys), key: i % keys })) continue;
    to[i] = from[Math.round(255 * Math.sqrt(Math.min(1, weights[i]! / (max || 1))))]!;
  }
  canvas.getContext('2d')?.putImageData(image, 0, 0);
}
