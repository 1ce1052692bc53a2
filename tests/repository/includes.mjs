// The C++ sources and what they include, for the rules about them.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { filesIn, root } from '../../tools/build.mjs';

/** Returns the C++ files in some folders. */
export const sourcesIn = (...folders) =>
  folders.flatMap((folder) => filesIn(folder)).filter((file) => /\.[ch]pp$/.test(file));

/** Returns the names in the `#include` lines of a file. */
export function includes(file) {
  const text = readFileSync(join(root, file), 'utf8');
  return [...text.matchAll(/^\s*#\s*include\s*[<"]([^>"]+)[>"]/gm)].map((match) => match[1]);
}
