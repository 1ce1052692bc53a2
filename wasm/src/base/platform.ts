// Types of the platform that a project may not have: those of browsers, in a program for Node. Where
// they exist, these declarations add nothing to them.

export {};

declare global {
  namespace WebAssembly {
    interface Module {}
    interface Memory {}
  }
  interface ImageBitmap {}
  interface OffscreenCanvas {}
  interface HTMLCanvasElement {}
}
