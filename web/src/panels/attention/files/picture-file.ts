/** Files of an attention map: a worker makes them. */
import type { Matrix } from '../attention.ts';
import type { Lines } from '../head-lines.ts';
import { attentionShades } from '../../../ui/color/palette.ts';

export interface Picture {
  matrix: Matrix;
  queryLabels: readonly string[];
  keyLabels: readonly string[];
  /** Printed under the map. */
  caption: string;
  /** Where these are to be drawn in place of the map. */
  lines?: Lines;
}

/** What the worker is sent with it. */
export interface Shaded {
  /** Attention's colors, on white. */
  shades: readonly string[];
}

export type PictureKind = 'svg' | 'png';

/** What is asked for: a picture, or the text of what is told in JSON. */
export type FileAsked<Asked = Picture> =
  { kind: PictureKind; picture: Asked } | { kind: 'json'; told: object };

/** The file, made in a worker of its own. */
export async function fileOf(asked: FileAsked): Promise<Blob> {
  // Firefox before 105 has no OffscreenCanvas: the page paints what the worker wrote as SVG.
  if (asked.kind === 'png' && typeof OffscreenCanvas === 'undefined')
    return painted(await fileOf({ ...asked, kind: 'svg' }));
  const worker = new Worker(new URL('./picture-worker.ts', import.meta.url), { type: 'module' });
  try {
    return await new Promise((resolve, reject) => {
      worker.onmessage = ({ data }: MessageEvent<Blob>) => resolve(data);
      worker.onerror = (event) => reject(new Error(event.message || 'No file was made'));
      worker.postMessage(
        asked.kind === 'json' ? asked : { ...asked, picture: alone(asked.picture) },
      );
    });
  } finally {
    worker.terminate();
  }
}

/** Of the weights only this head's: they lie in one array with all the others'. */
function alone(picture: Picture): Picture & Shaded {
  const { matrix } = picture;
  const shades = attentionShades('light');
  return { ...picture, matrix: { ...matrix, weights: matrix.weights.slice() }, shades };
}

/** An SVG as a bitmap, two pixels to each of its own. */
async function painted(svg: Blob): Promise<Blob> {
  const image = new Image();
  image.src = URL.createObjectURL(svg);
  await image.decode();
  const canvas = document.createElement('canvas');
  [canvas.width, canvas.height] = [2 * image.width, 2 * image.height];
  canvas.getContext('2d')?.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve, reject) => {
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error('No file was made'))));
  });
}
