let context: CanvasRenderingContext2D | null | undefined;

/** Width in pixels of a label in the page's sans at `size` pixels, bold so that emphasis fits. */
export function textWidth(text: string, size: number): number {
  context ??= document.createElement('canvas').getContext('2d');
  if (!context) return text.length * size * 0.6;
  context.font = `600 ${size}px 'Instrument Sans', system-ui, sans-serif`;
  return context.measureText(text).width;
}
