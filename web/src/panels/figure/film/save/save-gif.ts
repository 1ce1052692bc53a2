/** A film as an animated GIF. */
import { anotherTask } from '../../../../ui/frames.ts';
import { draw } from '../drawing/draw.ts';
import { paletteOf, type Color } from './gif-palette.ts';
import { canvasFor, type Recording } from './record.ts';
import { frameTimes, stillOf } from '../scene.ts';

/** The picture of a video, at half its size. */
const size = { width: 640, height: 360, ratio: 0.5 };
/** Milliseconds per frame; the format counts hundredths of a second. */
const delay = 120;

/** The index of the transparent color; the palette has one color fewer. */
const transparent = 255;

/** A picture of indices into the palette. */
interface Frame {
  index: Uint8Array;
  /** In frames. */
  lasts: number;
}

/** Encodes a film. Only what changes from frame to frame is stored. */
export async function encodeGif(recording: Recording): Promise<Blob> {
  const { scene, span, look, signal, onprogress } = recording;
  const { GIFEncoder, applyPalette } = await import('gifenc/dist/gifenc.esm.js');
  const { width, height } = size;
  const { context } = canvasFor(width, height, { willReadFrequently: true });
  const pixelsAt = (time: number) => {
    draw(context, scene, time, { ...size, look });
    return context.getImageData(0, 0, width, height).data;
  };
  const shots = scene.shots.filter(({ start, duration }) => start + duration > span.from && start < span.to); // prettier-ignore
  // One palette for all frames, of the pictures with the most in them.
  const samples = shots.slice(0, 10).concat(shots.slice(10).slice(-2));
  const palette = paletteOf(sampled(samples.map((shot) => () => pixelsAt(stillOf(shot)))), transparent); // prettier-ignore
  const encoder = GIFEncoder();
  let waiting: Frame | undefined;
  let first = true;
  const put = () => {
    if (!waiting) return;
    encoder.writeFrame(waiting.index, width, height, {
      ...(first && { palette: [...palette, [0, 0, 0] as Color] }),
      ...{ delay: delay * waiting.lasts, transparent: !first, transparentIndex: transparent },
      dispose: 1,
    });
    first = false;
  };
  let shown: Uint8Array | undefined;
  const times = frameTimes(span, 1000 / delay);
  for (const [i, time] of times.entries()) {
    const whole = applyPalette(pixelsAt(time), palette);
    const index = shown ? changesFrom(shown, whole) : whole;
    if (index) {
      put();
      waiting = { index, lasts: 1 };
      shown = whole;
    } else waiting!.lasts += 1;
    onprogress((i + 1) / times.length);
    await anotherTask();
    signal.throwIfAborted();
  }
  put();
  encoder.finish();
  return new Blob([encoder.bytes()], { type: 'image/gif' });
}

/** Returns the pixels that differ, the others transparent; undefined if none do. */
function changesFrom(before: Uint8Array, now: Uint8Array): Uint8Array | undefined {
  let differs = false;
  const index = now.map((color, i) => {
    if (color === before[i]) return transparent;
    differs = true;
    return color;
  });
  return differs ? index : undefined;
}

/** Returns every third pixel of some pictures, as one picture. */
function sampled(pictures: readonly (() => Uint8ClampedArray)[]): Uint8ClampedArray {
  const every = 3;
  const each = Math.floor((size.width * size.height) / every);
  const all = new Uint8ClampedArray(4 * each * pictures.length);
  for (const [i, pixels] of pictures.entries()) {
    const data = pixels();
    for (let at = 0; at < each; at++) {
      const from = 4 * every * at;
      all.set(data.subarray(from, from + 4), 4 * (i * each + at));
    }
  }
  return all;
}
