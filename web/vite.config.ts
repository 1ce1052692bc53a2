import { createHash } from 'node:crypto';
import { createReadStream, existsSync, readFileSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig, type Plugin } from 'vite';
import { headers, policy } from './csp.ts';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** Sets the policy in the built page; the development server injects styles, so not there. */
function contentSecurityPolicy(): Plugin {
  return {
    name: 'content-security-policy',
    apply: 'build',
    transformIndexHtml: () => [
      {
        tag: 'meta',
        attrs: { 'http-equiv': 'Content-Security-Policy', content: policy },
        injectTo: 'head-prepend',
      },
    ],
  };
}

/** Serves weights/NAME as models/NAME, and puts it into the build. */
function model(name: string): Plugin {
  const files = ['config.json', 'model.safetensors', 'tokenizer.model', 'README.md', 'LICENSE'];
  const source = (file: string) => here(`../weights/${name}/${file}`);
  const sizes = files
    .slice(0, 3)
    .filter((file) => existsSync(source(file)))
    .map((file) => [file, statSync(source(file)).size]);
  return {
    name: 'model',
    // A server that compresses does not say how long a file will be.
    config: () => ({ define: { modelSizes: JSON.stringify(Object.fromEntries(sizes)) } }),
    configureServer(server) {
      server.middlewares.use(`/models/${name}`, (request, response) => {
        const file = request.url?.slice(1).split('?')[0] ?? '';
        if (!files.includes(file) || !existsSync(source(file))) {
          response.writeHead(404).end();
          return;
        }
        const type = file.endsWith('.json') ? 'application/json' : 'application/octet-stream';
        response.setHeader('Content-Type', type);
        createReadStream(source(file)).pipe(response);
      });
    },
    configurePreviewServer(server) {
      server.middlewares.use((request, response, next) => {
        if (/\.(safetensors|model)$/.test(request.url ?? '')) {
          response.setHeader('Content-Type', 'application/octet-stream');
        }
        next();
      });
    },
    generateBundle() {
      for (const file of files.filter((file) => existsSync(source(file)))) {
        const fileName = `models/${name}/${file}`;
        this.emitFile({ type: 'asset', fileName, source: readFileSync(source(file)) });
      }
    },
  };
}

/** The licences that must travel with the build: ours, and those of the typefaces. */
function licences(): Plugin {
  const require = createRequire(import.meta.url);
  const fonts = ['instrument-sans', 'newsreader'].map((font) =>
    require.resolve(`@fontsource-variable/${font}/LICENSE`),
  );
  return {
    name: 'licences',
    generateBundle() {
      const files = [here('../LICENSE'), here('../THIRD_PARTY_NOTICES'), ...fonts];
      const texts = files
        .filter((file) => existsSync(file))
        .map((file) => readFileSync(file, 'utf8'));
      this.emitFile({ type: 'asset', fileName: 'licences.txt', source: texts.join('\n\n') });
    },
  };
}

/** Tells the service worker which files make up the build, and a version that is their hash. */
function precache(): Plugin {
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
          if (
            !/^(index\.html|service-worker\.js|licences\.txt|.*\/(README\.md|LICENSE))$/.test(name)
          )
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

export default defineConfig({
  root: here('.'),
  base: './',
  // Not 'spa': a file that is missing must answer 404, not the page.
  appType: 'mpa',
  plugins: [svelte(), contentSecurityPolicy(), model('sentiment'), licences(), precache()],
  resolve: { alias: [{ find: /^glassformer$/, replacement: here('../dist/index.js') }] },
  worker: { format: 'es' },
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    target: ['chrome91', 'firefox89', 'safari16.4'],
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      input: {
        page: here('index.html'),
        'service-worker': here('service-worker/service-worker.ts'),
      },
      output: {
        entryFileNames: (chunk) =>
          chunk.name === 'service-worker' ? 'service-worker.js' : 'assets/[name]-[hash].js',
      },
    },
  },
  preview: { headers },
});
