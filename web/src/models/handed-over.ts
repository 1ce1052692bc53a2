/** Files of a model that one view made and “Your model” opens. */
import type { FoundFile } from './model-files.ts';

let files: readonly FoundFile[] | undefined;

export function handOver(made: readonly FoundFile[]): void {
  files = made;
}

/** Returns the files, once. */
export function handedOver(): readonly FoundFile[] | undefined {
  const made = files;
  files = undefined;
  return made;
}
