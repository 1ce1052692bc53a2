type Context = CanvasRenderingContext2D | OffscreenCanvasRenderingContext2D;
let context: Context | null | undefined;

/** Returns a drawing context. A worker has no document, and some have no canvas. */
function contextHere(): Context | null {
  if (typeof document !== 'undefined') return document.createElement('canvas').getContext('2d');
  return typeof OffscreenCanvas === 'undefined' ? null : new OffscreenCanvas(1, 1).getContext('2d');
}

/** Returns the width of a label at `size` pixels in the page's sans, bold so that emphasis fits. */
export function textWidth(text: string, size: number): number {
  if (context === undefined) context = contextHere();
  if (!context) return text.length * size * 0.6;
  context.font = `600 ${size}px 'Instrument Sans', system-ui, sans-serif`;
  return context.measureText(text).width;
}
