import { GlassformerError, messageOf } from './errors.js';
import { detectBinary } from './features.js';
import { fetchFile, readError } from './fetch.js';
import type { Urls } from './locate.js';
import { nodeModule } from './node.js';
import type { Binary } from './types.js';

// Compiled modules by URL: models share them.
const modules = new Map<string, Promise<WebAssembly.Module>>();

/** Compiles the binary at `url`, once for all models. */
export function compileBinary(url: string): Promise<WebAssembly.Module> {
  let module = modules.get(url);
  if (!module) {
    module = compile(url);
    modules.set(url, module);
    module.catch(() => modules.delete(url));
  }
  return module;
}

/** The binary to use and its URL. */
export function locateBinary(
  wanted: Binary | undefined,
  urls: Urls,
): { binary: Binary; url: string } {
  const simd = urls['glassformer.wasm'];
  const relaxed = urls['glassformer.relaxed.wasm'];
  let binary = detectBinary();
  if (wanted === 'relaxed' && binary === 'simd') {
    throw new GlassformerError('unsupported_runtime', 'This runtime has no relaxed SIMD');
  }
  // Who hosts plain SIMD elsewhere, and says nothing of relaxed SIMD, has only that.
  if (wanted === 'simd' || (wanted === undefined && simd && !relaxed)) binary = 'simd';
  // Each URL is one literal expression: bundlers look for it.
  const url =
    binary === 'simd'
      ? (simd ?? new URL('./glassformer.wasm', import.meta.url).href)
      : (relaxed ?? new URL('./glassformer.relaxed.wasm', import.meta.url).href);
  return { binary, url };
}

async function compile(url: string): Promise<WebAssembly.Module> {
  const fs = url.startsWith('file:') ? nodeModule('node:fs') : undefined;
  try {
    if (fs) return await WebAssembly.compile(await fs.promises.readFile(new URL(url)));
    const response = await fetchFile(url);
    return response.headers.get('content-type') === 'application/wasm'
      ? await WebAssembly.compileStreaming(response)
      : await WebAssembly.compile(await response.arrayBuffer());
  } catch (error) {
    if (error instanceof WebAssembly.CompileError) {
      throw new GlassformerError(
        'unsupported_runtime',
        `${url} does not compile: ${messageOf(error)}`,
        { cause: error },
      );
    }
    throw readError(url, error);
  }
}
