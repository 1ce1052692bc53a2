// Pages without a bundler, with each restriction that a host, a policy or a frame can impose.
import { join } from 'node:path';
import { html } from './bundlers.mjs';
import { browseExtension } from './browsers.mjs';
import { inline, judge, main } from './judge.mjs';

const dist = '/node_modules/glassformer/dist';
const entry = `${dist}/index.js`;
const inlineEntry = `${dist}/inline.js`;
const script = html('<script type="module" src="/main.js"></script>');

// The sources of a page that imports the package by its address, with replacements.
const sources = (replaced) => ({
  'index.html': script,
  'main.js': main,
  'judge.js': judge({ from: entry }),
  ...replaced,
});

const page = (name, files, { headers, ...rest } = {}) => ({
  name,
  project: 'plain',
  async run(app) {
    app.write(sources(files));
    app.addModel('weights/sentiment');
    return app.browse(await app.serve('.', headers));
  },
  ...rest,
});

// A worker of the application that classifies and posts the outcome to the page.
const dedicated = {
  'main.js': `import { report } from './judge.js';
new Worker('worker.js', { type: 'module' }).onmessage = ({ data }) => report(data);
`,
  'worker.js': `import { judge } from './judge.js';
judge().then((outcome) => postMessage(outcome));
`,
};

const shared = {
  'main.js': `import { report } from './judge.js';
new SharedWorker('worker.js', { type: 'module' }).port.onmessage = ({ data }) => report(data);
`,
  'worker.js': `import { judge } from './judge.js';
onconnect = async ({ ports: [port] }) => port.postMessage(await judge());
`,
};

const service = {
  'main.js': `import { report } from './judge.js';
navigator.serviceWorker.onmessage = ({ data }) => report(data);
await navigator.serviceWorker.register('worker.js', { type: 'module' });
(await navigator.serviceWorker.ready).active.postMessage('judge');
`,
  'worker.js': `import { judge } from './judge.js';
onmessage = (event) => event.waitUntil(judge().then((outcome) => event.source.postMessage(outcome)));
`,
};

const sandbox = {
  'index.html': html(
    `<script type="module" src="/main.js"></script>
<iframe sandbox="allow-scripts" src="frame.html"></iframe>`,
  ),
  'main.js': `import { report } from './judge.js';
onmessage = ({ data }) => report(data);
`,
  'frame.html': html('<script type="module" src="/frame.js"></script>'),
  'frame.js': `import { judge } from './judge.js';
judge().then((outcome) => parent.postMessage(outcome, '*'));
`,
  'judge.js': judge({ from: inlineEntry }),
};

const trusted = {
  'judge.js': judge({
    imports: `const policy = trustedTypes.createPolicy('app', { createScriptURL: (url) => url });`,
    from: entry,
    options: `{ urls: { 'worker.js': policy.createScriptURL('${dist}/worker.js') } }`,
  }),
};

const csp = (policy) => ({ 'content-security-policy': policy });
const strict = "default-src 'self'; img-src data:; script-src 'self' 'wasm-unsafe-eval'";
const isolation = {
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-embedder-policy': 'require-corp',
};

const inEach = (environment) =>
  ['Chromium', 'Firefox', 'WebKit'].map((name) => ({
    ...environment,
    name: `${environment.name}, ${name}`,
    browser: name.toLowerCase(),
  }));

const pages = [
  page('import map', {
    'index.html':
      html(`<script type="importmap">{ "imports": { "glassformer": "${entry}" } }</script>
<script type="module" src="/main.js"></script>`),
    'judge.js': judge(),
  }),
  {
    ...page('import from another origin', {}, { how: inline }),
    async run(app) {
      const cdn = await app.serve('.', { 'access-control-allow-origin': '*' });
      app.write(sources({ 'judge.js': judge({ from: new URL(inlineEntry, cdn) }) }));
      app.addModel('weights/sentiment');
      return app.browse(await app.serve());
    },
  },
  page('dedicated worker', dedicated),
  page('shared worker', shared, { workers: 0 }),
  page('service worker', service, { workers: 0 }),
  page('sandboxed iframe', sandbox, {
    headers: { 'access-control-allow-origin': '*' },
    how: inline,
  }),
  page('strict CSP', {}, { headers: csp(strict) }),
  page('Trusted Types', trusted, {
    headers: csp(`${strict}; require-trusted-types-for 'script'; trusted-types app`),
    how: "urls: { 'worker.js': policy.createScriptURL(…) }",
  }),
  page(
    'COOP and COEP',
    {
      'main.js': `if (!crossOriginIsolated) throw new Error('not isolated');\n${main}`,
    },
    { headers: isolation },
  ),
  {
    name: 'file://',
    project: 'esbuild',
    how: `${inline}, the model as bytes`,
    async run(app) {
      app.addModel('.');
      app.write({
        'main.js': main,
        'judge.js': judge({
          imports: `import config from './config.json';
import weights from './model.safetensors';
import tokenizer from './tokenizer.model';
const files = { 'config.json': config, 'model.safetensors': weights, 'tokenizer.model': tokenizer };`,
          from: 'glassformer/inline',
          models: ['files'],
        }),
        'index.html': html('<script src="page.js"></script>'),
      });
      const binary = ['json', 'safetensors', 'model'].map((type) => `--loader:.${type}=binary`);
      await app.run('esbuild', ['main.js', '--bundle', '--outfile=page.js', ...binary]);
      return app.browse(`file://${join(app.folder, 'index.html')}`);
    },
  },
];

// The package's files are part of an extension. Its page or its service worker classifies.
const extension = (name, script, rest) => ({
  name: `extension (Manifest V3), ${name}`,
  project: 'plain',
  browser: 'chromium',
  how: `"extension_pages": "script-src 'self' 'wasm-unsafe-eval'"`,
  async run(app) {
    app.copy('node_modules/glassformer/dist', 'extension/glassformer');
    app.addModel('extension/weights/sentiment');
    app.write({
      'extension/manifest.json': {
        manifest_version: 3,
        name: 'test',
        version: '1',
        background: { service_worker: 'worker.js', type: 'module' },
        content_security_policy: { extension_pages: "script-src 'self' 'wasm-unsafe-eval'" },
      },
      'extension/page.html': html('<script type="module" src="main.js"></script>'),
      'extension/main.js': script,
      'extension/judge.js': judge({ from: './glassformer/index.js' }),
      'extension/worker.js': `import { judge } from './judge.js';
chrome.runtime.onMessage.addListener((message, sender, answer) => {
  judge().then(answer);
  return true;
});
`,
    });
    return browseExtension(join(app.folder, 'extension'));
  },
  ...rest,
});

export default [
  ...pages.flatMap(inEach),
  extension('page', main),
  extension(
    'service worker',
    `import { report } from './judge.js';
chrome.runtime.sendMessage('judge').then(report);
`,
    { workers: 0 },
  ),
];
