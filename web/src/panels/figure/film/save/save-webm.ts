/** A film as a WebM video, which the browser records while the film plays on a canvas. */
import { draw } from '../drawing/draw.ts';
import { canvasFor, type Recording } from './record.ts';
import { withDuration } from './webm-duration.ts';

const size = { width: 1280, height: 720, ratio: 1 };
const perSecond = 30;

const types = ['video/webm;codecs=vp9', 'video/webm;codecs=vp8', 'video/webm'];

/** Returns the kind of video that the browser can record; undefined if it can't. */
export function webmType(): string | undefined {
  if (typeof MediaRecorder === 'undefined' || !HTMLCanvasElement.prototype.captureStream)
    return undefined;
  return types.find((type) => MediaRecorder.isTypeSupported(type));
}

/** Records a film. It takes as long as the film; while the page is hidden, recording pauses. */
export async function recordWebm(recording: Recording): Promise<Blob> {
  const { scene, span, look, signal, onprogress } = recording;
  const { canvas, context } = canvasFor(size.width, size.height);
  const stream = canvas.captureStream(perSecond);
  const recorder = new MediaRecorder(stream, {
    mimeType: webmType()!,
    videoBitsPerSecond: 4_000_000,
  });
  const parts: Blob[] = [];
  recorder.ondataavailable = ({ data }) => parts.push(data);
  const ended = new Promise<void>((resolve, reject) => {
    recorder.onstop = () => resolve();
    recorder.onerror = () => reject(new Error('The browser could not record the film'));
  });
  const pause = () => {
    if (recorder.state === 'inactive') return;
    if (document.hidden) recorder.pause();
    else recorder.resume();
  };
  document.addEventListener('visibilitychange', pause);
  try {
    draw(context, scene, span.from, { ...size, look });
    recorder.start(1000);
    await playOn(span.to - span.from, signal, (time) => {
      draw(context, scene, span.from + time, { ...size, look });
      onprogress(time / (span.to - span.from));
    });
  } finally {
    document.removeEventListener('visibilitychange', pause);
    if (recorder.state !== 'inactive') recorder.stop();
  }
  await ended;
  stream.getTracks().forEach((track) => track.stop());
  const bytes = new Uint8Array(await new Blob(parts).arrayBuffer());
  return new Blob([withDuration(bytes, span.to - span.from)], { type: 'video/webm' });
}

/** Calls `show` for the frames of a film as time passes, to its end. Hidden time does not count. */
function playOn(
  duration: number,
  signal: AbortSignal,
  show: (time: number) => void,
): Promise<void> {
  const frame = 1000 / perSecond;
  return new Promise((resolve, reject) => {
    let passed = 0;
    let before: number | undefined;
    let shown = -1;
    const next = (now: number) => {
      if (signal.aborted) return reject(signal.reason as Error);
      // After a pause, the first frame only takes the time.
      passed += before === undefined ? 0 : Math.min(now - before, 250);
      before = now;
      const index = Math.floor(passed / frame);
      if (passed >= duration) return resolve();
      try {
        if (index > shown) show(index * frame);
      } catch (error) {
        return reject(error as Error);
      }
      shown = index;
      requestAnimationFrame(next);
    };
    requestAnimationFrame(next);
  });
}
