import { checkOption } from '../base/checks.js';

/** A head's attention weights [queries, keys], row-major. */
export interface HeadWeights {
  weights: Float32Array;
  queries: number;
  keys: number;
  causal: boolean;
}

const steps = 256;

/** Returns 256 pixels with the colors between those of a list: CSS colors, separated by commas. */
export function rampOf(colors: string): Uint32Array {
  const stops = colors.match(/(?:[^,(]|\([^)]*\))+/g) ?? [];
  const name = '--glassformer-ramp';
  checkOption(stops.length > 1, name, `two colors or more, apart by commas, got "${colors}"`);
  const canvas = document.createElement('canvas');
  canvas.width = steps;
  canvas.height = 1;
  const context = canvas.getContext('2d')!;
  const gradient = context.createLinearGradient(0.5, 0, steps - 0.5, 0);
  for (const [index, stop] of stops.entries()) {
    const color = stop.trim();
    checkOption(CSS.supports('color', color), name, `colors, got "${color}"`);
    gradient.addColorStop(index / (stops.length - 1), color);
  }
  context.fillStyle = gradient;
  context.fillRect(0, 0, steps, 1);
  return new Uint32Array(context.getImageData(0, 0, steps, 1).data.buffer);
}

/**
 * Draws one pixel per weight. The color depends on the square root, so that small weights are visible.
 * If a row or column has more than `most` weights, a pixel is the largest of several, so that a thin
 * line stays visible.
 */
export function paint(
  canvas: HTMLCanvasElement,
  { weights, queries, keys, causal }: HeadWeights,
  ramp: Uint32Array,
  most: number,
): void {
  const rows = Math.min(queries, most);
  const columns = Math.min(keys, most);
  const largest = new Float32Array(rows * columns).fill(-1);
  let max = 0;
  for (let query = 0; query < queries; query++) {
    const row = Math.floor((query * rows) / queries) * columns;
    const seen = causal ? Math.min(keys, query + 1) : keys;
    for (let key = 0; key < seen; key++) {
      const weight = weights[query * keys + key]!;
      const at = row + Math.floor((key * columns) / keys);
      if (weight > largest[at]!) largest[at] = weight;
      if (weight > max) max = weight;
    }
  }
  canvas.width = columns;
  canvas.height = rows;
  const image = new ImageData(columns, rows);
  const pixels = new Uint32Array(image.data.buffer);
  for (const [index, weight] of largest.entries()) {
    if (weight < 0) continue; // not known yet
    pixels[index] = ramp[Math.round((steps - 1) * Math.sqrt(weight / (max || 1)))]!;
  }
  canvas.getContext('2d')!.putImageData(image, 0, 0);
}
