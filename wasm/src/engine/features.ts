import { GlassformerError } from '../base/errors.js';
import type { Binary } from './compute.js';

// Returns whether the runtime knows the instructions of a function's body: it validates a module with
// that function, `() -> ()`, without running it.
function knows(...body: number[]): boolean {
  return WebAssembly.validate(
    Uint8Array.of(
      ...[0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00], // magic, version 1
      ...[0x01, 0x04, 0x01, 0x60, 0x00, 0x00], // one type: () -> ()
      ...[0x03, 0x02, 0x01, 0x00], // one function of it
      ...[0x0a, body.length + 4, 0x01, body.length + 2, 0x00, ...body, 0x0b], // its code
    ),
  );
}

const splat = [0x41, 0x00, 0xfd, 0x0f]; // i32.const 0, i8x16.splat
const relaxedMadd = [0xfd, 0x85, 0x02]; // f32x4.relaxed_madd
const drop = 0x1a;
const tryCatchAll = [0x06, 0x40, 0x19, 0x0b]; // try catch_all end: the exceptions of Emscripten

/** Throws if this runtime lacks something that the package needs. */
export function checkRuntime(): void {
  for (const name of ['WebAssembly', 'TextEncoder', 'AbortController']) {
    if (name in globalThis) continue;
    throw new GlassformerError(
      'unsupported_runtime',
      `This runtime has no ${name}. In Jest, choose testEnvironment: 'node'`,
    );
  }
}

/** Returns the best binary for this runtime. */
export function detectBinary(): Binary {
  if (!knows(...splat, drop, ...tryCatchAll)) {
    throw new GlassformerError(
      'unsupported_runtime',
      'Glassformer needs WebAssembly with SIMD and exceptions: ' +
        'Chrome 95, Firefox 100, Safari 16.4, Node 20.16 or newer',
    );
  }
  return knows(...splat, ...splat, ...splat, ...relaxedMadd, drop) ? 'relaxed' : 'simd';
}
