import type { Binary } from './compute.js';

/**
 * The contents of a binary: everything, only the models that read texts, or everything but training,
 * with threads.
 */
export type Scope = 'all' | 'read' | 'threads';

/** Returns the name of the package's file. */
export function fileName(scope: Scope, binary: Binary): string {
  return `glassformer${scope === 'all' ? '' : `.${scope}`}${binary === 'simd' ? '' : '.relaxed'}.wasm`;
}
