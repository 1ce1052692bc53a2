/** Lets the page import the `model_type`s that src/families reads: `import types from 'model-types'`. */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Plugin } from 'vite';

const name = 'model-types';
const folder = fileURLToPath(new URL('../../src/families/', import.meta.url));

export function modelTypes(): Plugin {
  return {
    name,
    enforce: 'pre',
    resolveId: (id) => (id === name ? `\0${name}` : undefined),
    load(id) {
      if (id !== `\0${name}`) return undefined;
      const files = readdirSync(folder).filter((file) => file.endsWith('.cpp'));
      const types = files.flatMap((file) => {
        this.addWatchFile(`${folder}${file}`);
        const code = readFileSync(`${folder}${file}`, 'utf8');
        return [...code.matchAll(/Family::Type\{"([^"]+)"/g)].map(([, type]) => type!);
      });
      return `export default ${JSON.stringify(types.sort())};`;
    },
  };
}
