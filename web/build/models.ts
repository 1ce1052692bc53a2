import { createReadStream, existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Plugin } from 'vite';
import { cardFiles } from '../docs/cards.mjs';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** Measurements that the page requests of any model, and what it gets if there are none. */
const measurements = ['heads.json', 'methods.json'];
const unmeasured = 'null\n';

/** A model's dictionaries, if it has some: its features. */
const inFeatures = (file: string) => `features/${file}`;
const mostDictionaries = 12;

/** Serves weights/NAME as models/NAME, with its card as HTML, and adds it to the build. */
export function models(names: readonly string[]): Plugin {
  const files = [
    'config.json',
    ...measurements,
    'manifest.json',
    'model.safetensors',
    'preprocessor_config.json',
    'tokenizer.json',
    'tokenizer.model',
    'tokenizer_config.json',
    'LICENSE',
    ...['config.json', 'model.safetensors', 'report.json', 'graphs.json', 'texts.json'].map(inFeatures),
    ...Array.from({ length: mostDictionaries }, (_, i) => inFeatures(`features-${i}.json`)),
  ];
  const paths = new Map(
    names
      .flatMap((name) =>
        files.map((file) => [`${name}/${file}`, here(`../../weights/${name}/${file}`)]),
      )
      .filter((entry): entry is [string, string] => existsSync(entry[1]!)),
  );
  const missing = names
    .flatMap((name) => measurements.map((file) => `${name}/${file}`))
    .filter((file) => !paths.has(file));
  const types: Record<string, string> = {
    json: 'application/json',
    html: 'text/html; charset=utf-8',
    css: 'text/css',
    svg: 'image/svg+xml',
    woff2: 'font/woff2',
  };
  return {
    name: 'models',
    configureServer(server) {
      server.middlewares.use('/models', (request, response) => {
        const wanted = request.url?.split('?')[0]?.slice(1) ?? '';
        const path = paths.get(wanted);
        const made = missing.includes(wanted) ? unmeasured : cardFiles(names).get(wanted);
        if (path === undefined && made === undefined) {
          response.writeHead(404).end();
          return;
        }
        const type = types[wanted.split('.').at(-1)!] ?? 'application/octet-stream';
        response.setHeader('Content-Type', type);
        if (path !== undefined) createReadStream(path).pipe(response);
        else response.end(made);
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
      const emit = (file: string, source: string | Uint8Array) =>
        this.emitFile({ type: 'asset', fileName: `models/${file}`, source });
      for (const [file, path] of paths) emit(file, readFileSync(path));
      for (const file of missing) emit(file, unmeasured);
      for (const [file, contents] of cardFiles(names)) emit(file, contents);
    },
  };
}
