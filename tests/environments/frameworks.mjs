// Frameworks that also render on a server or ahead of time, and import the package there.
import { html, viteProject } from './bundlers.mjs';
import { inline, judge, main, packaged } from './judge.mjs';

// The same sources, tested with each of the framework's servers.
export const framework = (name, project, prepare, modes, rest) =>
  modes.map(({ name: mode, build = [], start, serve }) => ({
    name: `${name}, ${mode}`,
    project,
    ...rest,
    async run(app) {
      app.addModel('public/weights/sentiment');
      prepare(app);
      for (const [command, ...args] of build) await app.run(command, args);
      return app.browse(serve ? await app.serve(serve) : await app.start(...start));
    },
  }));

export const angular = (app) => {
  app.write({
    'angular.json': {
      version: 1,
      cli: { analytics: false },
      projects: {
        app: {
          projectType: 'application',
          root: '',
          architect: {
            build: {
              builder: '@angular/build:application',
              options: {
                browser: 'src/main.ts',
                index: 'src/index.html',
                tsConfig: 'tsconfig.json',
                assets: [{ glob: '**/*', input: 'public' }],
              },
            },
            serve: { builder: '@angular/build:dev-server', options: { buildTarget: 'app:build' } },
          },
        },
      },
    },
    'tsconfig.json': {
      compilerOptions: {
        strict: true,
        target: 'ES2022',
        module: 'preserve',
        moduleResolution: 'bundler',
        allowJs: true,
        experimentalDecorators: true,
      },
      files: ['src/main.ts'],
    },
    'src/index.html': html('<base href="/"><app-root></app-root>'),
    'src/judge.js': judge({ from: 'glassformer/inline' }),
    'src/main.ts': `import { Component } from '@angular/core';
import { bootstrapApplication } from '@angular/platform-browser';
import { judge, report } from './judge';

@Component({ selector: 'app-root', template: '' })
class App {
  ngOnInit(): void {
    void judge().then(report);
  }
}

bootstrapApplication(App);
`,
  });
};

export const next = (app) =>
  app.write({
    'app/layout.js': `export default function Layout({ children }) {
  return <html><head><link rel="icon" href="data:," /></head><body>{children}</body></html>;
}
`,
    'app/page.js': `'use client';
import { useEffect } from 'react';
import { judge, report } from './judge.js';

export default function Page() {
  useEffect(() => void judge().then(report), []);
  return null;
}
`,
    'app/judge.js': judge(packaged),
    'next.config.js': 'export default { reactStrictMode: false };\n',
  });

// A component that runs the model on the server, without configuration: only its answer is sent.
const nextServer = (app) => {
  next(app);
  app.write({
    'app/page.js': `import { judge } from './judge.js';

export const dynamic = 'force-dynamic';

export default async function Page() {
  const outcome = JSON.stringify(await judge());
  const __html = 'console.log("outcome " + ' + JSON.stringify(outcome) + ')';
  return <script dangerouslySetInnerHTML={{ __html }} />;
}
`,
    'app/judge.js': judge({ models: ["process.cwd() + '/public/weights/sentiment'"] }),
  });
};

export const sveltekit = (app) => {
  app.copy('public', 'static');
  app.write({
    'vite.config.js': `import adapter from '@sveltejs/adapter-static';
import { sveltekit } from '@sveltejs/kit/vite';
export default { plugins: [sveltekit({ adapter: adapter() })] };
`,
    'src/app.html': html('%sveltekit.head%<body>%sveltekit.body%</body>'),
    'src/routes/+layout.js': 'export const prerender = true;\n',
    'src/routes/judge.js': judge(packaged),
    'src/routes/+page.svelte': `<script>
  import { onMount } from 'svelte';
  import { judge, report } from './judge.js';
  onMount(() => void judge().then(report));
</script>
`,
  });
};

const astro = (app) =>
  app.write({
    'src/pages/index.astro': html("<script>import '../main.js';</script>"),
    'src/main.js': main,
    'src/judge.js': judge(packaged),
  });

// A component whose effect runs twice: the first load is aborted.
export const react = (app) => {
  viteProject(app);
  app.write({
    'vite.config.js': `import react from '@vitejs/plugin-react';
export default { plugins: [react()] };
`,
    'index.html': html('<div id="root"></div><script type="module" src="/main.jsx"></script>'),
    'main.jsx': `import { StrictMode, useEffect } from 'react';
import { createRoot } from 'react-dom/client';
import { judge, report } from './judge.js';

function Verdict() {
  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    judge({ signal }).then((outcome) => signal.aborted || report(outcome));
    return () => controller.abort();
  }, []);
  return null;
}

createRoot(document.getElementById('root')).render(<StrictMode><Verdict /></StrictMode>);
`,
  });
};

export const at = (command, ...args) => [command, [...args, '--port', 'PORT']];
export const vite = [
  { name: 'dev server', start: at('vite', 'dev', '--host', '127.0.0.1') },
  {
    name: 'build and preview',
    build: [['vite', 'build']],
    start: at('vite', 'preview', '--host', '127.0.0.1'),
  },
];
const nextModes = [
  { name: 'dev server', start: at('next', 'dev', '-H', '127.0.0.1') },
  {
    name: 'build and start',
    build: [['next', 'build']],
    start: at('next', 'start', '-H', '127.0.0.1'),
  },
];

export default [
  ...framework(
    'Angular',
    'angular',
    angular,
    [
      { name: 'dev server', start: at('ng', 'serve', '--host', '127.0.0.1') },
      { name: 'production build', build: [['ng', 'build']], serve: 'dist/app/browser' },
    ],
    { node: 24, how: inline },
  ),
  ...framework('Next', 'next', next, nextModes),
  ...framework('Next server component', 'next', nextServer, nextModes, { workers: 0 }),
  ...framework('SvelteKit', 'sveltekit', sveltekit, vite, { node: 24 }),
  ...[6, 7].flatMap((version) =>
    framework(
      `Astro ${version}`,
      `astro${version}`,
      astro,
      [
        { name: 'dev server', start: at('astro', 'dev', '--host', '127.0.0.1') },
        { name: 'build', build: [['astro', 'build']], serve: 'dist' },
      ],
      { node: 24 },
    ),
  ),
  ...framework('React StrictMode', 'react', react, vite.slice(0, 1)),
];
