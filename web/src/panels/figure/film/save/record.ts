/** What both kinds of files share. */
import type { Look } from '../drawing/look.ts';
import type { Scene } from '../shot.ts';
import type { Span } from '../scene.ts';

export interface Recording {
  scene: Scene;
  /** The part of the film. */
  span: Span;
  look: Look;
  signal: AbortSignal;
  /** Called with the share that is done, from 0 to 1. */
  onprogress: (done: number) => void;
}

/** Returns a canvas with its context. */
export function canvasFor(
  width: number,
  height: number,
  options?: CanvasRenderingContext2DSettings,
) {
  const canvas = document.createElement('canvas');
  canvas.width = width;
  canvas.height = height;
  const context = canvas.getContext('2d', { alpha: false, ...options });
  if (!context) throw new Error('The browser has no canvas');
  return { canvas, context };
}
