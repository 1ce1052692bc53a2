// The recipes of web/docs/frameworks.md, word for word, in the frameworks themselves.
import { of } from '../repository/snippets.mjs';
import { html } from './bundlers.mjs';
import { angular, at, framework, next, react, sveltekit, vite } from './frameworks.mjs';
import { inline, look } from './judge.mjs';

const recipe = (language, kind = 'recipe') => of(language, kind)[0].code;
const model = recipe('js');
const text = 'A gripping film.';

const inReact = (app) => {
  react(app);
  app.write({
    'model.js': model,
    'verdict.jsx': recipe('jsx'),
    'main.jsx': `import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import Verdict from './verdict.jsx';
${look}
createRoot(document.getElementById('root')).render(
  <StrictMode><Verdict text="${text}" /></StrictMode>,
);
look();
`,
  });
};

/** A layout whose script looks for the answer. */
const nextLayout = {
  'app/look.js': `'use client';
import { useEffect } from 'react';
${look}
export default function Look() {
  useEffect(look, []);
  return null;
}
`,
  'app/layout.js': `import Look from './look.js';

export default function Layout({ children }) {
  return <html><head><link rel="icon" href="data:," /></head><body>{children}<Look /></body></html>;
}
`,
};

const inNext = (app) => {
  next(app);
  app.write({
    ...nextLayout,
    'app/model.js': model,
    'app/verdict.js': `'use client';\n${recipe('jsx')}`,
    'app/page.js': `import Verdict from './verdict.js';

export default function Page() {
  return <Verdict text="${text}" />;
}
`,
  });
};

const onNextServer = (app) => {
  next(app);
  app.addModel('models/sentiment');
  app.write({ ...nextLayout, 'app/page.js': recipe('jsx', 'recipe server') });
};

const inSvelteKit = (app) => {
  sveltekit(app);
  app.write({
    'src/routes/model.js': model,
    'src/routes/+page.svelte': recipe('svelte'),
    'src/routes/+layout.svelte': `<script>
  import { onMount } from 'svelte';
  const { children } = $props();
${look}
  onMount(look);
</script>

{@render children()}
`,
  });
};

const inAngular = (app) => {
  angular(app);
  app.addModel('public/models/sentiment');
  app.write({
    'src/verdict.ts': recipe('ts'),
    'src/index.html': html('<base href="/"><app-verdict></app-verdict>'),
    'src/main.ts': `import { bootstrapApplication } from '@angular/platform-browser';
import { Verdict } from './verdict';
import { look } from './look';

bootstrapApplication(Verdict);
look();
`,
    'src/look.js': `export ${look}`,
  });
};

const built = vite.slice(-1);
const nextBuilt = [
  {
    name: 'build and start',
    build: [['next', 'build']],
    start: at('next', 'start', '-H', '127.0.0.1'),
  },
];

export default [
  ...framework('Recipe for React', 'react', inReact, built),
  ...framework('Recipe for Next', 'next', inNext, nextBuilt),
  ...framework('Recipe for Next’s server', 'next', onNextServer, nextBuilt, { workers: 0 }),
  ...framework('Recipe for SvelteKit', 'sveltekit', inSvelteKit, built, { node: 24 }),
  ...framework(
    'Recipe for Angular',
    'angular',
    inAngular,
    [{ name: 'production build', build: [['ng', 'build']], serve: 'dist/app/browser' }],
    { node: 24, how: inline },
  ),
];
