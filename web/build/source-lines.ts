/**
 * Lets a module import the lines of a C++ function as they are in src:
 * `import lines from 'source:src/kernels/softmax.hpp#exponentials'`. The build fails if the function
 * is missing or if there are several.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Plugin } from 'vite';
import { definitionOf } from './cpp-definition.ts';

const prefix = 'source:';

export function sourceLines(): Plugin {
  return {
    name: 'source-lines',
    enforce: 'pre',
    resolveId: (id) => (id.startsWith(prefix) ? `\0${id}` : undefined),
    load(id) {
      if (!id.startsWith(`\0${prefix}`)) return undefined;
      const [path = '', name = ''] = id.slice(prefix.length + 1).split('#');
      const file = fileURLToPath(new URL(`../../${path}`, import.meta.url));
      this.addWatchFile(file);
      return `export default ${JSON.stringify(definitionOf(readFileSync(file, 'utf8'), path, name))};`;
    },
  };
}
