import { type Cell, type Matrix } from './attention.ts';
import type { Theme } from '../../ui/color/glasses.ts';
import { attentionPixels, attentionShades } from '../../ui/color/palette.ts';
import { shadeOf } from '../../ui/color/glasses.ts';

/** Returns the number of keys that are not masked for a query. */
const seen = ({ causal, keys }: Matrix, query: number) =>
  causal ? Math.min(keys, query + 1) : keys;

/** Draws one pixel per weight 0 … max, none for masked ones. Resizes the canvas to the matrix. */
export function paint(
  canvas: HTMLCanvasElement | OffscreenCanvas,
  matrix: Matrix,
  max: number,
  theme: Theme,
): void {
  const { weights, queries, keys } = matrix;
  canvas.width = keys;
  canvas.height = queries;
  const image = new ImageData(keys, queries);
  const from = new Uint32Array(attentionPixels(theme).buffer);
  const to = new Uint32Array(image.data.buffer);
  for (let query = 0; query < queries; query++) {
    const end = query * keys + seen(matrix, query);
    for (let i = query * keys; i < end; i++) to[i] = from[shadeOf(weights[i]!, max)]!;
  }
  contextOf(canvas)?.putImageData(image, 0, 0);
}

/**
 * Draws a matrix shrunk to at most `size` × `size`. Returns jobs that draw some rows each, because
 * drawing all at once would block the page.
 */
export function shrunkPainting(
  canvas: HTMLCanvasElement,
  matrix: Matrix,
  size: number,
  max: number,
  theme: Theme,
): (() => void)[] {
  const { weights, queries, keys, causal } = matrix;
  const rows = Math.min(queries, size);
  const columns = Math.min(keys, size);
  const bandRows = 24;
  const starting = () => {
    canvas.width = columns;
    canvas.height = rows;
  };
  const bands = Array.from({ length: Math.ceil(rows / bandRows) }, (_, band) => () => {
    const first = band * bandRows;
    const last = Math.min(rows, first + bandRows);
    // The queries that shrink into these rows; each block keeps its largest weight.
    const from = Math.ceil((first * queries) / rows);
    const to = Math.ceil((last * queries) / rows);
    const most = new Float32Array((last - first) * columns);
    for (let query = from; query < to; query++) {
      const start = (Math.floor((query * rows) / queries) - first) * columns;
      for (let key = 0; key < keys; key++) {
        const at = start + Math.floor((key * columns) / keys);
        const weight = weights[query * keys + key]!;
        if (weight > most[at]!) most[at] = weight;
      }
    }
    const image = new ImageData(columns, last - first);
    const colors = new Uint32Array(attentionPixels(theme).buffer);
    const pixels = new Uint32Array(image.data.buffer);
    for (let row = 0; row < last - first; row++) {
      const end = causal ? Math.min(columns, first + row + 1) : columns;
      for (let at = row * columns; at < row * columns + end; at++)
        pixels[at] = colors[shadeOf(most[at]!, max)]!;
    }
    contextOf(canvas)?.putImageData(image, 0, first);
  });
  return [starting, ...bands];
}

/** A part of a map: its first cell, its size in cells, and the cell size and gap in pixels. */
export interface CellPart {
  origin: Cell;
  rows: number;
  columns: number;
  size: number;
  gap: number;
}

/** Draws cells and resizes the canvas to them. Masked cells get outlines in its CSS color. */
export function paintCells(
  canvas: HTMLCanvasElement,
  matrix: Matrix,
  { origin, rows, columns, size, gap }: CellPart,
  max: number,
  theme: Theme,
): void {
  const sharp = devicePixelRatio;
  canvas.width = Math.round(columns * size * sharp);
  canvas.height = Math.round(rows * size * sharp);
  const context = contextOf(canvas);
  if (!context) return;
  context.setTransform(sharp, 0, 0, sharp, 0, 0);
  if (matrix.causal) context.strokeStyle = getComputedStyle(canvas).color;
  context.lineWidth = 0.5;
  const shades = attentionShades(theme);
  const side = size - gap;
  for (let row = 0; row < rows; row++) {
    const query = origin.query + row;
    const visible = seen(matrix, query) - origin.key;
    const weights = matrix.weights.subarray(query * matrix.keys + origin.key);
    const y = row * size + gap / 2;
    for (let column = 0; column < columns; column++) {
      const x = column * size + gap / 2;
      if (column < visible) {
        context.fillStyle = shades[shadeOf(weights[column]!, max)]!;
        context.fillRect(x, y, side, side);
      } else context.strokeRect(x, y, side, side);
    }
  }
}

const contextOf = (canvas: HTMLCanvasElement | OffscreenCanvas) =>
  canvas.getContext('2d') as CanvasRenderingContext2D | OffscreenCanvasRenderingContext2D | null;
