/** Which files of the build the start and each view need. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type InlineConfig, type Plugin, type Rollup } from 'vite';

type Bundle = Rollup.OutputBundle;

const firstView = 'sentiment';
/** The modules that the first verdict needs. */
const start = new RegExp(`/src/(app/main\\.ts|views/${firstView}/index\\.ts)$`);
/** The module of a view. */
const view = /\/src\/views\/([^/]+)\/index\.ts$/;

/** Returns the chunks with modules that match `test`, and their static imports. */
function chunksOf(bundle: Bundle, test: RegExp): Rollup.OutputChunk[] {
  const found = new Map<string, Rollup.OutputChunk>();
  const add = (name: string) => {
    const chunk = bundle[name];
    if (found.has(name) || chunk?.type !== 'chunk') return;
    found.set(name, chunk);
    chunk.imports.forEach(add);
  };
  for (const chunk of Object.values(bundle))
    if (chunk.type === 'chunk' && chunk.moduleIds.some((id) => test.test(id))) add(chunk.fileName);
  if (found.size === 0) throw new Error(`The build has no chunk of ${test}`);
  return [...found.values()];
}

/**
 * Puts the modules that the first verdict needs into one chunk: visitors wait for one file, which is
 * smaller than several files with exports. They are found by building only them, with `sources`.
 */
export function startChunk(sources: InlineConfig): {
  plugin: Plugin;
  /** Returns the name of a module's chunk; null: the bundler decides. */
  nameOf: (id: string) => string | null;
} {
  let needed: ReadonlySet<string> = new Set();
  return {
    plugin: {
      name: 'start-chunk',
      apply: 'build',
      async buildStart() {
        needed = await startModules(sources);
      },
    },
    nameOf: (id) => (needed.has(id) ? 'start' : null),
  };
}

async function startModules(sources: InlineConfig): Promise<ReadonlySet<string>> {
  const later: Plugin = {
    name: 'later',
    enforce: 'pre',
    resolveDynamicImport: (id) => ({ id: String(id), external: true }),
  };
  const input = ['app/main.ts', `views/${firstView}/index.ts`].map((file) =>
    fileURLToPath(new URL(`../src/${file}`, import.meta.url)),
  );
  const built = await build({
    ...sources,
    configFile: false,
    logLevel: 'warn',
    plugins: [...(sources.plugins ?? []), later],
    build: { write: false, minify: false, rolldownOptions: { input } },
  });
  const { output } = built as Rollup.RollupOutput;
  const modules = output.flatMap((each) =>
    each.type === 'chunk' ? Object.entries(each.modules) : [],
  );
  return new Set(modules.filter(([, { renderedLength }]) => renderedLength > 0).map(([id]) => id));
}

/**
 * Writes build/page_chunks.json, for the limits on sizes: the files that the first verdict needs, and
 * the files that each further view adds to those of the first view. A view's files include its panels,
 * which the page fetches by itself.
 */
export function chunkList(): Plugin {
  return {
    name: 'chunk-list',
    apply: 'build',
    writeBundle(_, bundle) {
      const names = (chunks: readonly Rollup.OutputChunk[]) =>
        chunks.map(({ fileName }) => fileName);
      const filesOf = (name: string) => {
        const modules = new RegExp(`/src/views/${name}/(index\\.ts|\\w+Panels\\.svelte)$`);
        return names(chunksOf(bundle, modules));
      };
      const first = names(chunksOf(bundle, start));
      const known = new Set([...first, ...filesOf(firstView)]);
      const views: Record<string, string[]> = {};
      for (const chunk of Object.values(bundle)) {
        if (chunk.type !== 'chunk') continue;
        for (const id of chunk.moduleIds) {
          const name = view.exec(id)?.[1];
          if (name === undefined || name === firstView) continue;
          views[name] = filesOf(name).filter((file) => !known.has(file));
        }
      }
      const file = fileURLToPath(new URL('../../build/page_chunks.json', import.meta.url));
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, JSON.stringify({ start: first, views }, null, 2));
    },
  };
}

/** Blocks rendering until the page's code has run: drawing an empty page first would delay it. */
export function codeFirst(): Plugin {
  return {
    name: 'code-first',
    apply: 'build',
    transformIndexHtml: {
      order: 'post',
      handler: (html) => {
        const script = '<script type="module"';
        if (!html.includes(script)) throw new Error(`The page has no ${script}`);
        return html.replaceAll(script, `${script} blocking="render"`);
      },
    },
  };
}
