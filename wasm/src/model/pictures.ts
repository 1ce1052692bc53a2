import { checkOption, isA } from '../base/checks.js';
import { GlassformerError } from '../base/errors.js';
import { fetchFile } from '../base/fetch.js';
import type { InputKind, Picture } from '../engine/input.js';
import { absoluteUrl } from '../loading/locate.js';

/** Decoded pixels, such as an ImageData. */
export interface Pixels {
  readonly width: number;
  readonly height: number;
  /**
   * [height, width, channels], row by row from the top. The channels are gray (1); red, green, blue
   * (3); or those and alpha (4), which is ignored.
   */
  readonly data: Uint8Array | Uint8ClampedArray;
}

/**
 * A picture: its pixels; in tabs and workers that have OffscreenCanvas also a file (a Blob), its URL,
 * an ImageBitmap or a canvas.
 */
export type PictureSource =
  Pixels | string | URL | Blob | ImageBitmap | OffscreenCanvas | HTMLCanvasElement;

/** The largest number of pixels. The engine has the same limit. */
const mostPixels = 2 ** 26;

async function takePicture(source: unknown, place = 'picture'): Promise<Picture> {
  if (isPixels(source)) return fromPixels(source, place);
  if (typeof source === 'string' || isA(source, 'URL')) {
    const { href } = absoluteUrl(source as string | URL);
    expectDecoder(place);
    return decode(await (await fetchFile(href)).blob(), href);
  }
  if (isA(source, 'Blob') || isA(source, 'File')) {
    expectDecoder(place);
    return decode(source as Blob, place);
  }
  checkOption(
    isDrawable(source),
    place,
    'pixels { width, height, data }, a Blob, a URL or a canvas',
  );
  return drawn(source as Drawable, place);
}

/**
 * Decodes a picture as models read it: the bytes of a file, turned as its EXIF data says, without any
 * other change; of an animation, the first frame.
 */
export async function readPicture(
  source: PictureSource,
): Promise<Pixels & { readonly data: Uint8Array }> {
  const { width, height, bytes } = await takePicture(source);
  return { width, height, data: bytes };
}

export const pictureKind: InputKind = { several: 'pictures', take: takePicture };

/** A picture that a canvas can draw. */
type Drawable = ImageBitmap | OffscreenCanvas | HTMLCanvasElement;

function isPixels(source: unknown): source is Pixels {
  const { data } = (source ?? {}) as Partial<Pixels>;
  return isA(data, 'Uint8Array') || isA(data, 'Uint8ClampedArray');
}

function isDrawable(source: unknown): boolean {
  const names = ['ImageBitmap', 'OffscreenCanvas', 'HTMLCanvasElement'] as const;
  return names.some((name) => isA(source, name));
}

function fromPixels({ width, height, data }: Pixels, place: string): Picture {
  const channels = data.length / (width * height);
  const valid =
    [width, height].every((side) => Number.isInteger(side) && side > 0) &&
    [1, 3, 4].includes(channels);
  const bytes = `${width} x ${height} times 1, 3 or 4 bytes, got ${data.length}`;
  checkOption(valid, `${place}.data`, bytes);
  const view = new Uint8Array(data.buffer, data.byteOffset, data.length);
  return { width, height, channels: channels as 1 | 3 | 4, bytes: view };
}

function expectDecoder(place: string): void {
  if (typeof OffscreenCanvas !== 'function') throw cannotDraw(place);
}

// The bytes of the file, turned as its EXIF data says, without any other change.
async function decode(file: Blob, place: string): Promise<Picture> {
  let bitmap;
  try {
    const plain = { colorSpaceConversion: 'none', premultiplyAlpha: 'none' } as const;
    bitmap = await createImageBitmap(file, { ...plain, imageOrientation: 'from-image' });
  } catch (error) {
    const message = `${place}: expected a picture, got something else`;
    throw new GlassformerError('invalid_picture', message, { cause: error });
  }
  try {
    return drawn(bitmap, place);
  } finally {
    bitmap.close();
  }
}

function drawn(source: Drawable, place: string): Picture {
  const { width, height } = source;
  if (width * height === 0) {
    throw new GlassformerError('empty_input', `${place}: expected at least one pixel`);
  }
  if (width * height > mostPixels) {
    const what = `expected at most ${mostPixels} pixels, got ${width} x ${height}`;
    throw new GlassformerError('too_large', `${place}: ${what}`);
  }
  let data: Pixels['data'] = flat(source, width, height, place);
  // A flat canvas multiplies colors by alpha, which loses some of them.
  if (data.some((byte, i) => i % 4 === 3 && byte < 255)) data = exact(source, width, height, place);
  return fromPixels({ width, height, data }, place);
}

function flat(source: Drawable, width: number, height: number, place: string): Uint8ClampedArray {
  const context = new OffscreenCanvas(width, height).getContext('2d', { willReadFrequently: true });
  if (!context) throw cannotDraw(place);
  context.drawImage(source, 0, 0);
  try {
    return context.getImageData(0, 0, width, height).data;
  } catch (error) {
    const what = 'expected a picture of this origin';
    throw new GlassformerError('invalid_option', `${place}: ${what}`, { cause: error });
  }
}

function exact(source: Drawable, width: number, height: number, place: string): Uint8Array {
  const gl = new OffscreenCanvas(width, height).getContext('webgl2');
  if (!gl) throw cannotDraw(place);
  gl.pixelStorei(gl.UNPACK_PREMULTIPLY_ALPHA_WEBGL, false);
  gl.pixelStorei(gl.UNPACK_COLORSPACE_CONVERSION_WEBGL, gl.NONE);
  const texture = gl.createTexture();
  gl.bindTexture(gl.TEXTURE_2D, texture);
  gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, gl.RGBA, gl.UNSIGNED_BYTE, source);
  gl.bindFramebuffer(gl.FRAMEBUFFER, gl.createFramebuffer());
  gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, texture, 0);
  const data = new Uint8Array(width * height * 4);
  gl.readPixels(0, 0, width, height, gl.RGBA, gl.UNSIGNED_BYTE, data);
  const failed = gl.getError() !== gl.NO_ERROR;
  gl.getExtension('WEBGL_lose_context')?.loseContext();
  if (failed) throw cannotDraw(place);
  return data;
}

function cannotDraw(place: string): GlassformerError {
  const what = 'expected pixels { width, height, data }: this runtime does not decode pictures';
  return new GlassformerError('unsupported_runtime', `${place}: ${what}`);
}
