import { fileURLToPath } from 'node:url';
import type { Plugin } from 'vite';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** The package's modules: unlike dist/index.js, they can be spread over the chunks of the page. */
export const packageEntry = here('../../wasm/src/index.ts');
export const chatEntry = here('../../wasm/src/chat.ts');

// What the page has in place of the package's add-on for Node, and of threads: its models run in
// workers, whose script has all of it. The page itself only counts.
const leftOut: Record<string, string> = {
  native: 'export const findAddon = () => {}, openAddon = findAddon;',
  threads: `export const countThreads = ({ threads }) => ({
      threads: threads || !crossOriginIsolated ? 1 : Math.min(navigator.hardwareConcurrency, 8),
    });
    export const sharedMemory = () => {};
    export { sharedMemory as checkThreads, sharedMemory as startThreads, sharedMemory as threadsOf };`,
};

/** Points the package's module of URLs at the files in dist/, and leaves out what the page does not use. */
export function packageFiles(): Plugin {
  return {
    name: 'package-files',
    enforce: 'pre',
    transform(code, id) {
      const [, name = ''] = /\/wasm\/src\/engine\/(\w+)\.ts$/.exec(id) ?? [];
      if (name in leftOut) return { code: leftOut[name]!, map: null };
      if (name !== 'assets') return null;
      return { code: code.replaceAll("'./", "'../../../dist/"), map: null };
    },
  };
}
