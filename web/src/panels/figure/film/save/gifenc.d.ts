/** The parts of gifenc that the film uses. Its other file is no module: the page would need code for it. */
declare module 'gifenc/dist/gifenc.esm.js' {
  type Color = [red: number, green: number, blue: number];

  interface FrameOptions {
    /** With the first frame, the palette of all frames. */
    palette?: Color[];
    /** In milliseconds. */
    delay?: number;
    transparent?: boolean;
    transparentIndex?: number;
    /** 1: the next frame is drawn over this one. */
    dispose?: number;
  }

  export function GIFEncoder(): {
    writeFrame(index: Uint8Array, width: number, height: number, options?: FrameOptions): void;
    finish(): void;
    bytes(): Uint8Array<ArrayBuffer>;
  };
  export function applyPalette(rgba: Uint8ClampedArray, palette: Color[]): Uint8Array;
}
