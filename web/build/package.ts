import { fileURLToPath } from 'node:url';
import type { Plugin } from 'vite';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** The package's modules, as aliases: unlike dist/index.js, they can be spread over the chunks of the page. */
export const entries = ['chat', 'read', 'threads'].map((name) => ({
  find: new RegExp(`^glassformer/${name}$`),
  replacement: here(`../../wasm/src/${name}.ts`),
}));
entries.push({ find: /^glassformer$/, replacement: here('../../wasm/src/index.ts') });

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
      const [, engine, name = ''] = /\/wasm\/src\/(engine\/)?(\w+)\.ts$/.exec(id) ?? [];
      if (engine && name in leftOut) return { code: leftOut[name]!, map: null };
      if (engine ? name !== 'assets' : !/^(read|threads)$/.test(name)) return null;
      const dist = engine ? '../../../dist' : '../../dist';
      return { code: code.replaceAll("new URL('./", `new URL('${dist}/`), map: null };
    },
  };
}
