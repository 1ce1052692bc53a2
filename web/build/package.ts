import { fileURLToPath } from 'node:url';
import type { Plugin } from 'vite';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** The package's modules: unlike dist/index.js, they can be spread over the chunks of the page. */
export const packageEntry = here('../../wasm/src/index.ts');

/** Points the package's module of URLs at the files in dist/, and leaves out the add-on for Node. */
export function packageFiles(): Plugin {
  return {
    name: 'package-files',
    enforce: 'pre',
    transform(code, id) {
      if (id.endsWith('/wasm/src/engine/native.ts')) {
        return { code: 'export const findAddon = () => {}, openAddon = findAddon;', map: null };
      }
      if (!id.endsWith('/wasm/src/engine/assets.ts')) return null;
      return { code: code.replaceAll("'./", "'../../../dist/"), map: null };
    },
  };
}
