import { createHash } from 'node:crypto';
import { createReadStream, existsSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig, type Plugin } from 'vite';
import { answersBeforehand } from './beforehand.ts';
import { headersFor, policy } from './csp.ts';
import { cardFiles } from './docs/cards.mjs';

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

/** Nothing is drawn before the page's code has run: an empty page's first frame would hold it up. */
function codeFirst(): Plugin {
  return {
    name: 'code-first',
    apply: 'build',
    transformIndexHtml: {
      order: 'post',
      handler: (html) => {
        const script = '<script type="module"';
        if (!html.includes(script)) throw new Error(`The page has no ${script}`);
        return html.replace(script, `${script} blocking="render"`);
      },
    },
  };
}

/** Puts the answers that were computed beforehand into the page, or beside it. */
function beforehand(): Plugin {
  const fileOf = (json: string) => {
    const hash = createHash('sha256').update(json).digest('hex').slice(0, 8);
    return `assets/beforehand-${hash}.json`;
  };
  return {
    name: 'beforehand',
    configureServer(server) {
      server.middlewares.use((request, response, next) => {
        if (!/^\/assets\/beforehand-\w+\.json$/.test(request.url ?? '')) return next();
        void answersBeforehand().then(({ translation }) => {
          response.setHeader('Content-Type', 'application/json');
          response.end(translation);
        });
      });
    },
    async transformIndexHtml() {
      const { sentiment, translation } = await answersBeforehand();
      const attrs = {
        type: 'application/json',
        id: 'beforehand',
        ...(translation !== undefined && { 'data-translation': fileOf(translation) }),
      };
      // Nothing in it may end the element.
      const children = (sentiment ?? '').replaceAll('<', '\\u003c');
      return [{ tag: 'script', attrs, children, injectTo: 'head' }];
    },
    async generateBundle() {
      const { translation: source } = await answersBeforehand();
      if (source !== undefined) this.emitFile({ type: 'asset', fileName: fileOf(source), source });
    },
  };
}

/**
 * Leaves out the code with which Svelte takes over a page that a server has drawn, and its modes that
 * no component of ours uses. Svelte guards both with variables that never change here.
 */
function clientOnly(): Plugin {
  const never = (code: string, name: string) => {
    const variable = `export let ${name} = false;`;
    if (!code.includes(variable)) throw new Error(`Svelte has no ${name}`);
    return code
      .replace(variable, `export const ${name} = false;`)
      .replace(new RegExp(`\\t${name} = .*;`, 'g'), '');
  };
  return {
    name: 'client-only',
    apply: 'build',
    enforce: 'post',
    transform(code, id) {
      // A component's own part in it: `$.reset(element)` and `$.next()` only follow the drawn page.
      if (id.endsWith('.svelte')) return code.replace(/^\t+\$\.(reset|next)\(.*\);\n/gm, '');
      if (id.endsWith('svelte/src/internal/client/dom/hydration.js'))
        return never(code, 'hydrating');
      if (id.endsWith('svelte/src/internal/flags/index.js'))
        return ['async_mode_flag', 'legacy_mode_flag', 'tracing_mode_flag'].reduce(never, code);
      return undefined;
    },
  };
}

/** What draws the page and its first view. */
const firstView = /src\/(app\/page\.ts|views\/sentiment\/index\.ts)$/;

/**
 * The code and styles that the first verdict takes come at once, not each when the one before it has
 * asked for it.
 */
function firstViewAtOnce(): Plugin {
  return {
    name: 'first-view-at-once',
    apply: 'build',
    transformIndexHtml: {
      order: 'post',
      handler(html, { bundle = {} }) {
        const scripts = new Set<string>();
        const styles = new Set<string>();
        const add = (name: string) => {
          const chunk = bundle[name];
          if (scripts.has(name) || chunk?.type !== 'chunk') return;
          scripts.add(name);
          for (const style of chunk.viteMetadata?.importedCss ?? []) styles.add(style);
          chunk.imports.forEach(add);
        };
        for (const chunk of Object.values(bundle))
          if (chunk.type === 'chunk' && chunk.moduleIds.some((id) => firstView.test(id)))
            add(chunk.fileName);
        if (scripts.size === 0) throw new Error('The build has no code of the first view');
        const links = (rel: string, files: ReadonlySet<string>) =>
          [...files]
            .filter((file) => !html.includes(file))
            .map((file) => ({
              tag: 'link',
              attrs: { rel, href: `./${file}`, crossorigin: true },
              injectTo: 'head' as const,
            }));
        return [...links('modulepreload', scripts), ...links('stylesheet', styles)];
      },
    },
  };
}

/** In place of heads.json for a model whose heads were not measured: the page asks for it. */
const unmeasured = 'null\n';

/** Serves weights/NAME as models/NAME, with its card as a page, and puts it into the build. */
function models(names: readonly string[]): Plugin {
  const files = [
    'config.json',
    'generation_config.json',
    'heads.json',
    'manifest.json',
    'model.safetensors',
    'tokenizer.json',
    'tokenizer.model',
    'tokenizer_config.json',
    'LICENSE',
  ];
  const paths = new Map(
    names
      .flatMap((name) =>
        files.map((file) => [`${name}/${file}`, here(`../weights/${name}/${file}`)]),
      )
      .filter((entry): entry is [string, string] => existsSync(entry[1]!)),
  );
  const missing = names.map((name) => `${name}/heads.json`).filter((file) => !paths.has(file));
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

/** The licenses that must travel with the build: ours, and those of the typefaces. */
function licenses(): Plugin {
  const require = createRequire(import.meta.url);
  const fonts = ['instrument-sans', 'newsreader'].map((font) =>
    require.resolve(`@fontsource-variable/${font}/LICENSE`),
  );
  return {
    name: 'licenses',
    generateBundle() {
      const files = [here('../LICENSE'), here('../THIRD_PARTY_NOTICES'), ...fonts];
      const texts = files
        .filter((file) => existsSync(file))
        .map((file) => readFileSync(file, 'utf8'));
      this.emitFile({ type: 'asset', fileName: 'licenses.txt', source: texts.join('\n\n') });
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
          // A model is kept once a page has loaded it. Pictures are for a page without JavaScript.
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

const components = readdirSync(here('src'), { recursive: true, encoding: 'utf8' })
  .map((path) => path.replaceAll('\\', '/'))
  .filter((path) => path.endsWith('.svelte'))
  .sort();

/**
 * A short class name per component, which every element with a scoped style carries. It is the
 * component's place in the sorted list of files: a shortened hash gave two components one name.
 */
function scopeOf(file: string): string {
  const path = file
    .replaceAll('\\', '/')
    .split('/src/')
    .at(-1)!
    .replace(/^src\//, '');
  if (!components.includes(path)) components.push(path); // A file added while the server runs.
  return `s-${components.indexOf(path).toString(36)}`;
}

export default defineConfig({
  root: here('.'),
  base: './',
  // Not 'spa': a file that is missing must answer 404, not the page.
  appType: 'mpa',
  plugins: [
    svelte({
      compilerOptions: {
        cssHash: ({ filename }) => scopeOf(filename),
        discloseVersion: false,
      },
    }),
    clientOnly(),
    contentSecurityPolicy(),
    codeFirst(),
    firstViewAtOnce(),
    beforehand(),
    models(['sentiment', 'en-de', 'en-fr', 'writer']),
    licenses(),
    precache(),
  ],
  resolve: { alias: [{ find: /^glassformer$/, replacement: here('../dist/index.js') }] },
  worker: { format: 'es' },
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    // The oldest browsers of web/docs/browsers.md read all of it. Named for scripts, too, Chrome 95
    // would have every private field rewritten, for a mistake that it makes with `static name = …`.
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
        entryFileNames: (chunk) =>
          chunk.name === 'service-worker' ? 'service-worker.js' : 'assets/[name]-[hash].js',
      },
    },
  },
  preview: { headers: headersFor(process.env.FRAME_ANCESTORS) },
});
