let context: CanvasRenderingContext2D | OffscreenCanvasRenderingContext2D | null | undefined;

/** A worker has no document. */
const canvas = () =>
  typeof document === 'undefined' ? new OffscreenCanvas(1, 1) : document.createElement('canvas');

/** Width in pixels of a label in the page's sans at `size` pixels, bold so that emphasis fits. */
export function textWidth(text: string, size: number): number {
  context ??= canvas().getContext('2d') as CanvasRenderingContext2D | null;
  if (!context) return text.length * size * 0.6;
  context.font = `600 ${size}px 'Instrument Sans', system-ui, sans-serif`;
  return context.measureText(text).width;
}
