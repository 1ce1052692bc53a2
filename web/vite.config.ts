import { fileURLToPath } from 'node:url';
import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig, type InlineConfig } from 'vite';
import { beforehand } from './build/beforehand.ts';
import { chunkList, codeFirst, startChunk } from './build/chunks.ts';
import { compression } from './build/compression.ts';
import { contentSecurityPolicy, headersFor } from './build/csp.ts';
import { licenses } from './build/licenses.ts';
import { modelTypes } from './build/model-types.ts';
import { models } from './build/models.ts';
import { entries, packageFiles } from './build/package.ts';
import { precache } from './build/precache.ts';
import { sourceLines } from './build/source-lines.ts';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

const sources: InlineConfig = {
  root: here('.'),
  plugins: [packageFiles(), svelte({ compilerOptions: { discloseVersion: false } })],
  resolve: {
    alias: entries,
  },
};
const start = startChunk(sources);

export default defineConfig({
  ...sources,
  base: './',
  // Not 'spa': a missing file must give 404, not the page.
  appType: 'mpa',
  plugins: [
    sourceLines(),
    modelTypes(),
    ...sources.plugins!,
    start.plugin,
    contentSecurityPolicy(),
    compression(),
    codeFirst(),
    chunkList(),
    beforehand(),
    models(['sentiment', 'en-de', 'en-fr', 'writer', 'digits']),
    licenses(),
    precache(),
  ],
  worker: { format: 'es' },
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    // The oldest browsers of web/docs/browsers.md support es2022. Naming Chrome 95 here, too, would
    // rewrite every private field because of its bug with `static name = …`.
    target: 'es2022',
    cssTarget: ['chrome95', 'firefox100', 'safari16.4'],
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      input: {
        page: here('index.html'),
        'service-worker': here('service-worker/service-worker.ts'),
      },
      output: {
        codeSplitting: { groups: [{ name: start.nameOf }] },
        // The first view names most files, and hashes do not compress.
        entryFileNames: (chunk) =>
          chunk.name === 'service-worker' ? 'service-worker.js' : 'assets/[name]-[hash:7].js',
        chunkFileNames: 'assets/[name]-[hash:7].js',
        assetFileNames: 'assets/[name]-[hash:7][extname]',
      },
    },
  },
  preview: { headers: headersFor(process.env.FRAME_ANCESTORS) },
});
