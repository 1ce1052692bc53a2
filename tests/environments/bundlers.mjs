// Bundlers for browsers: an application of two files, built and served.
import { inline, judge, main, packaged } from './judge.mjs';

export const html = (script) =>
  `<!doctype html><meta charset="utf-8"><title>test</title><link rel="icon" href="data:,">${script}`;

export const viteProject = (app) => {
  app.write({
    'index.html': html('<script type="module" src="/main.js"></script>'),
    'main.js': main,
    'judge.js': judge(packaged),
  });
  app.addModel('public/weights/sentiment');
};

const vites = [5, 6, 7, 8].flatMap((version) => [
  {
    name: `Vite ${version}, dev server`,
    project: `vite${version}`,
    async run(app) {
      viteProject(app);
      return app.browse(await app.start('vite', ['--port', 'PORT', '--host', '127.0.0.1']));
    },
  },
  {
    name: `Vite ${version}, build and preview`,
    project: `vite${version}`,
    async run(app) {
      viteProject(app);
      await app.run('vite', ['build']);
      return app.browse(
        await app.start('vite', ['preview', '--port', 'PORT', '--host', '127.0.0.1']),
      );
    },
  },
]);

// Bundles main.js into dist/main.js with one command and serves dist from a static host.
const bundled = (
  name,
  project,
  command,
  args,
  { files, using = packaged, script, ...rest } = {},
) => ({
  name,
  project,
  async run(app) {
    app.write({ 'main.js': main, 'judge.js': judge(using), ...files });
    await app.run(command, args);
    app.addModel('dist/weights/sentiment');
    app.write({
      'dist/index.html': html(script ?? '<script type="module" src="main.js"></script>'),
    });
    return app.browse(await app.serve('dist'));
  },
  ...rest,
});

const config = `import { fileURLToPath } from 'node:url';
export default {
  mode: 'production',
  entry: './main.js',
  output: { path: fileURLToPath(new URL('dist', import.meta.url)) },
};
`;

const carried = { using: { from: 'glassformer/inline' }, how: inline };

export default [
  ...vites,
  bundled('webpack', 'webpack', 'webpack', [], {
    files: { 'webpack.config.js': config },
    script: '<script defer src="main.js"></script>',
  }),
  bundled('Rspack', 'rspack', 'rspack', ['build'], {
    files: { 'rspack.config.js': config },
    script: '<script defer src="main.js"></script>',
  }),
  {
    name: 'Parcel',
    project: 'parcel',
    async run(app) {
      app.write({
        'index.html': html('<script type="module" src="main.js"></script>'),
        'main.js': main,
        'judge.js': judge(packaged),
      });
      await app.run('parcel', ['build', 'index.html', '--no-cache']);
      app.addModel('dist/weights/sentiment');
      return app.browse(await app.serve('dist'));
    },
  },
  bundled('esbuild', 'esbuild', 'esbuild', ['main.js', '--bundle', '--outdir=dist'], carried),
  bundled('Rollup', 'rollup', 'rollup', ['main.js', '-p', 'node-resolve', '-d', 'dist'], carried),
];
