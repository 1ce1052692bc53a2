/** Files of attention weights, created in a worker. */
import type { Matrix } from '../attention.ts';
import type { Lines } from '../head-lines.ts';
import { attentionShades } from '../../../ui/color/palette.ts';

export interface Picture {
  matrix: Matrix;
  queryLabels: readonly string[];
  keyLabels: readonly string[];
  /** Printed below the picture. */
  caption: string;
  /** Drawn instead of the map, if given. */
  lines?: Lines;
}

/** Additional data that the worker needs. */
export interface Shaded {
  /** The attention colors on white. */
  shades: readonly string[];
}

export type PictureKind = 'svg' | 'png';

/** A requested file: a picture, or the JSON of `told`. */
export type FileAsked<Asked = Picture> =
  { kind: PictureKind; picture: Asked } | { kind: 'json'; told: object };

/** Creates the file in its own worker. */
export async function fileOf(asked: FileAsked): Promise<Blob> {
  // Firefox before 105 has no OffscreenCanvas: the page paints the worker's SVG.
  if (asked.kind === 'png' && typeof OffscreenCanvas === 'undefined')
    return painted(await fileOf({ ...asked, kind: 'svg' }));
  const worker = new Worker(new URL('./picture-worker.ts', import.meta.url), { type: 'module' });
  try {
    return await new Promise((resolve, reject) => {
      worker.onmessage = ({ data }: MessageEvent<Blob>) => resolve(data);
      worker.onerror = (event) =>
        reject(new Error(event.message || 'The file could not be created'));
      worker.postMessage(
        asked.kind === 'json' ? asked : { ...asked, picture: alone(asked.picture) },
      );
    });
  } finally {
    worker.terminate();
  }
}

/** Copies only this head's weights, which are part of one array with those of all heads. */
function alone(picture: Picture): Picture & Shaded {
  const { matrix } = picture;
  const shades = attentionShades('light');
  return { ...picture, matrix: { ...matrix, weights: matrix.weights.slice() }, shades };
}

/** Renders an SVG as a bitmap at twice its size. */
async function painted(svg: Blob): Promise<Blob> {
  const image = new Image();
  image.src = URL.createObjectURL(svg);
  await image.decode();
  const canvas = document.createElement('canvas');
  [canvas.width, canvas.height] = [2 * image.width, 2 * image.height];
  canvas.getContext('2d')?.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve, reject) => {
    canvas.toBlob((blob) =>
      blob ? resolve(blob) : reject(new Error('The file could not be created')),
    );
  });
}
