// The add-on in the package @glassformer/native: the engine as machine code, for Node.

import { GlassformerError, messageOf } from '../base/errors.js';
import { isServer, nodeModule, permits, variable } from '../base/node.js';
import type { NodeRequire } from '../base/node.js';
import { home } from './assets.js';

/** How a model runs: as machine code, by the package @glassformer/native, or as WebAssembly. */
export type Backend = 'native' | 'wasm';

/** The add-on, in place of a WebAssembly module. */
export interface Addon {
  /** The path of its script. */
  addon: string;
}

/** The version of this package, inserted by tools/package.mjs. */
declare const version: string;

const name = '@glassformer/native';

function requireFrom(script: string): NodeRequire {
  return nodeModule('node:module')!.createRequire(script);
}

/**
 * Returns the path of the add-on's script, or undefined if WebAssembly is to be used. Throws
 * `unsupported_runtime` if the add-on is `wanted` but not installed.
 */
export function findAddon(wanted?: string): string | undefined {
  try {
    if (wanted !== 'wasm' && isServer()) {
      const addon = requireFrom(home()).resolve(name);
      const may = permits({ name: 'ffi' }) && variable('GLASSFORMER_BACKEND') !== 'wasm';
      if (wanted || may) return addon;
    }
  } catch {
    // It is not installed, or the runtime forbids to look.
  }
  if (wanted === 'native') {
    throw new GlassformerError('unsupported_runtime', `${name} is not installed`);
  }
  return undefined;
}

/**
 * Returns the functions of the add-on for a new model. Throws `unsupported_runtime` if it does not
 * run here or has another version.
 */
export function openAddon({ addon }: Addon): object {
  try {
    return requireFrom(addon)(addon).open(version);
  } catch (error) {
    throw new GlassformerError('unsupported_runtime', messageOf(error));
  }
}
