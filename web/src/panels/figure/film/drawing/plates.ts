/** Vectors as plates of colored cells, folded into a few rows. The colors are those of all vectors. */
import type { TracedTensor } from 'glassformer';
import { largestOf, stripColor } from '../../../numbers/strip.ts';
import type { Theme } from '../../../../ui/color/glasses.ts';

interface Plates {
  canvas: HTMLCanvasElement;
  columns: number;
  rows: number;
}

const known = { light: new WeakMap<object, Plates>(), dark: new WeakMap<object, Plates>() };

/** Returns the number of rows that a vector is folded into. */
const rowsFor = (size: number): number => (size > 300 ? 8 : size > 40 ? 4 : 1);

/** Returns a picture with a pixel per number, in which the vectors stand below each other. */
function platesOf(tensor: TracedTensor, theme: Theme): Plates {
  const found = known[theme].get(tensor);
  if (found) return found;
  const size = tensor.shape.at(-1)!;
  const count = tensor.data.length / size;
  const rows = rowsFor(size);
  const columns = Math.ceil(size / rows);
  const canvas = document.createElement('canvas');
  canvas.width = columns;
  canvas.height = rows * count;
  const context = canvas.getContext('2d');
  const most = largestOf(tensor.data);
  for (let row = 0; row < count && context; row++)
    for (let i = 0; i < size; i++) {
      context.fillStyle = stripColor(theme, tensor.data[row * size + i]!, most);
      context.fillRect(i % columns, row * rows + Math.floor(i / columns), 1, 1);
    }
  const plates = { canvas, columns, rows };
  known[theme].set(tensor, plates);
  return plates;
}

export interface Place {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** Draws the vector of a row. */
export function drawPlate(
  context: CanvasRenderingContext2D,
  tensor: TracedTensor,
  row: number,
  { x, y, width, height }: Place,
  theme: Theme,
): void {
  const { canvas, columns, rows } = platesOf(tensor, theme);
  context.imageSmoothingEnabled = false;
  context.drawImage(canvas, 0, row * rows, columns, rows, x, y, width, height);
}
