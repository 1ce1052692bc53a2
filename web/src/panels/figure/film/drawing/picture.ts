/** The picture that was read, and its patches. */
import type { PictureRegion, Pixels } from 'glassformer';
import type { Place } from './plates.ts';

const known = new WeakMap<object, HTMLCanvasElement>();

function canvasOf(pixels: Pixels): HTMLCanvasElement {
  const { width, height, data } = pixels;
  const found = known.get(data);
  if (found) return found;
  const canvas = document.createElement('canvas');
  canvas.width = width;
  canvas.height = height;
  const channels = data.length / (width * height);
  const image = new ImageData(width, height);
  for (let i = 0; i < width * height; i++) {
    for (let c = 0; c < 3; c++)
      image.data[4 * i + c] = data[i * channels + (channels < 3 ? 0 : c)] ?? 0;
    image.data[4 * i + 3] = 255;
  }
  canvas.getContext('2d')?.putImageData(image, 0, 0);
  known.set(data, canvas);
  return canvas;
}

/** Draws a part of a picture. */
export function drawPart(
  context: CanvasRenderingContext2D,
  pixels: Pixels,
  { left, top, width, height }: PictureRegion,
  place: Place,
): void {
  context.imageSmoothingEnabled = pixels.width > 64;
  const to = [place.x, place.y, place.width, place.height] as const;
  context.drawImage(canvasOf(pixels), left, top, width, height, ...to);
}
