// Access to the page's modules in web/src.
import { join } from 'node:path';
import { build } from 'esbuild';
import { root } from '../../tools/build.mjs';

/** Leaves out the modules of views and lessons, because they need a browser. */
const leaveViews = {
  name: 'leave-views',
  setup({ onResolve }) {
    onResolve({ filter: /\/(index|lesson)\.ts$/ }, ({ kind, path }) =>
      kind === 'dynamic-import' ? { path, external: true } : undefined,
    );
  },
};

// A module in a `data:` URL has no folder, so it has no addresses of binaries either.
const thePackage = {
  name: 'the-package',
  setup({ onResolve, onLoad }) {
    const index = join(root, 'wasm/src/index.ts');
    onResolve({ filter: /^glassformer$/ }, () => ({ path: index }));
    onResolve({ filter: /^glassformer\/(read|threads)$/ }, ({ path }) => ({
      path,
      namespace: 'addresses',
    }));
    onLoad({ filter: /./, namespace: 'addresses' }, () => ({ contents: 'export default {};' }));
  },
};

/**
 * Resolves to the exports of web/src/NAME.ts, for one name or several; the name glassformer stands
 * for the package. The modules must not need a browser.
 */
export async function source(...names) {
  const from = (name) => (name === 'glassformer' ? name : `./${name}.ts`);
  const contents = names.map((name) => `export * from '${from(name)}';`).join('\n');
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: join(root, 'web/src') },
    plugins: [leaveViews, thePackage],
    bundle: true,
    format: 'esm',
    platform: 'neutral',
    mainFields: ['module', 'main'],
    write: false,
  });
  const code = Buffer.from(outputFiles[0].contents).toString('base64');
  return import(`data:text/javascript;base64,${code}`);
}

/** The table of views, with the hash that opens each view. */
export async function viewTable() {
  const { views } = await source('views/index');
  return views.map((view, i) => ({ ...view, hash: i === 0 ? '' : `#view=${view.name}` }));
}
