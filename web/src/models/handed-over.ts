/** Files of a model that one view made and another opens. */
import type { FoundFile } from './model-files.ts';

/** The views that open such files. */
export type Opener = 'model' | 'digits';

let handed: { files: readonly FoundFile[]; to: Opener } | undefined;

export function handOver(files: readonly FoundFile[], to: Opener): void {
  handed = { files, to };
}

/** Returns the files for a view, once. */
export function handedOver(to: Opener): readonly FoundFile[] | undefined {
  if (handed?.to !== to) return undefined;
  const { files } = handed;
  handed = undefined;
  return files;
}
