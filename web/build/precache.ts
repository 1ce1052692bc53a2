import { createHash } from 'node:crypto';
import type { Plugin } from 'vite';

/** Gives the service worker the list of the build's files, and a version: their hash. */
export function precache(): Plugin {
  return {
    name: 'precache',
    apply: 'build',
    generateBundle: {
      order: 'post',
      handler(_, bundle) {
        const hash = createHash('sha256');
        const files: string[] = [];
        for (const [name, file] of Object.entries(bundle).sort(([a], [b]) => (a < b ? -1 : 1))) {
          hash.update(file.type === 'asset' ? file.source : file.code);
          // Models are cached when a page loads them. Pictures are for pages without JavaScript.
          if (!/^(index\.html|service-worker\.js|licenses\.txt|models\/.*|.*\.webp)$/.test(name))
            files.push(name);
        }
        const worker = bundle['service-worker.js'];
        if (worker?.type !== 'chunk') throw new Error('The build has no service worker');
        const version = hash.digest('hex').slice(0, 12);
        worker.code = `const build = ${JSON.stringify({ version, files })};\n${worker.code}`;
      },
    },
  };
}
