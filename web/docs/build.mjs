// `npm run build:docs`: writes build/docs, a site by VitePress with the guides of this folder, CHANGELOG,
// CONTRIBUTING and SECURITY, and with two references from the sources' comments: the package's,
// made by TypeDoc, and the public C++ headers', made by cpp_reference.mjs. DOCS_BASE is the path at
// which it is served, "/" by default.
import { copyFileSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { root, run, runTool, setUp, unlessDone } from '../../tools/build.mjs';
import { models } from '../../tools/models.mjs';
import { cppReference } from './cpp_reference.mjs';

const source = join(root, 'build/docs-source');
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const repository = manifest.repository.url.replace(/^git\+|\.git$/g, '');

// The pages, grouped by reader, each with its source file.
const guide = (name) => ({ page: `${name}.md`, source: `web/docs/${name}.md` });
const project = (name) => ({ page: `${name.toLowerCase()}.md`, source: `${name}.md` });
const card = (name) => ({ page: `cards/${name}.md`, source: `weights/${name}/README.md` });
const sections = [
  ['Start', ['index', 'start', 'choosing', 'page', 'course'].map(guide)],
  [
    'Web developers',
    [
      ...['web', 'frameworks', 'bundlers', 'published', 'transformers-js'],
      ...['node', 'csp', 'hosting', 'browsers'],
    ].map(guide),
  ],
  [
    'Researchers',
    ['interpretability', 'python', 'tensors', 'traces', 'training', 'models'].map(guide),
  ],
  [
    'Command line and C++',
    ['command-line', 'options', 'results', 'large-corpora', 'cpp', 'performance'].map(guide),
  ],
  ['Model cards', models.map(card)],
  ['Project', ['CHANGELOG', 'CONTRIBUTING', 'SECURITY'].map(project)],
];
const guides = sections.flatMap(([, pages]) => pages);

const write = (file, text) => {
  mkdirSync(dirname(join(source, file)), { recursive: true });
  writeFileSync(join(source, file), text);
};

/** Returns a text with its links to files of the repository turned into links of the site. */
function withLinks({ page, source: from, text }) {
  const own = text.split(/(^```[^]*?^```$)/m);
  return own
    .map((part, i) =>
      i % 2
        ? part
        : part.replace(
            /(!?)(\[(?:[^\]\\]|\\.)*\])\(([^)\s]+)\)/g,
            (_, image, name, target) => `${image}${name}(${linkFrom(page, from, target, image)})`,
          ),
    )
    .join('');
}

function linkFrom(page, from, target, image) {
  if (/^(https?:|#)/.test(target)) return target;
  const [path, hash] = target.split('#');
  const file = posix.normalize(posix.join(posix.dirname(from), path));
  const suffix = hash ? `#${hash}` : '';
  const to = (other) => {
    const link = posix.relative(posix.dirname(page), other);
    return link.startsWith('.') ? link : `./${link}`;
  };
  if (image) {
    const place = `pictures/${file}`;
    mkdirSync(dirname(join(source, place)), { recursive: true });
    copyFileSync(join(root, file), join(source, place));
    return to(place);
  }
  const header = file.match(/^src\/glassformer\/(\w+)\.hpp$/)?.[1];
  if (header) return `${to('cpp-reference.md')}#${header}hpp`;
  const api = /^api\/.*\.md$/.test(file) ? file : undefined;
  const known = guides.find((other) => other.source === file)?.page ?? api;
  return known ? to(known) + suffix : `${repository}/blob/main/${file}${suffix}`;
}

// Writes build/api, the API reference in Markdown.
async function apiPages() {
  const folder = join(root, 'build/api');
  rmSync(folder, { recursive: true, force: true });
  await runTool('typedoc', ['--options', 'web/docs/typedoc.json']);
  const found = readdirSync(folder, { recursive: true }).filter((file) => file.endsWith('.md'));
  return found.sort().map((file) => {
    const text = readFileSync(join(folder, file), 'utf8');
    const page = `api/${file}`;
    return { page, source: page, text };
  });
}

const titleOf = (text) => /^# (.*)$/m.exec(text)[1].replace(/[`\\]/g, '');

async function build() {
  rmSync(source, { recursive: true, force: true });
  const pages = [
    ...guides.map((each) => ({ ...each, text: readFileSync(join(root, each.source), 'utf8') })),
    ...(await apiPages()),
    cppReference(),
  ];
  for (const page of pages) write(page.page, withLinks(page));
  const item = ({ page, text }) => ({ text: titleOf(text), link: `/${page.replace(/\.md$/, '')}` });
  const found = (page) => pages.find((entry) => entry.page === page);
  const sidebar = sections.map(([text, list]) => ({
    text,
    items: list.map(({ page }) => item(found(page))),
  }));
  sidebar.splice(4, 0, {
    text: 'API reference',
    items: [
      { text: 'All classes and types', link: '/api/README' },
      ...pages.filter(({ page }) => page.startsWith('api/classes/')).map(item),
      item(found('cpp-reference.md')),
    ],
  });
  write('site.json', JSON.stringify({ sidebar, version: manifest.version, repository }));
  write('public/mark.svg', readFileSync(join(root, 'web/src/ui/styles/mark.svg')));
  const own = (file) => JSON.stringify(join(root, 'web/docs/site', file));
  write('.vitepress/config.mjs', `export { default } from ${own('config.mjs')};\n`);
  write('.vitepress/theme/index.mjs', `export { default } from ${own('theme/index.mjs')};\n`);
  const out = join(root, 'build/docs');
  rmSync(out, { recursive: true, force: true });
  await run(
    process.execPath,
    [join(root, 'node_modules/vitepress/bin/vitepress.js'), 'build', source, '--outDir', out],
    {
      env: { DOCS_SOURCE: source },
    },
  );
}

const pictures = readdirSync(join(root, 'web'))
  .filter((file) => file.endsWith('.webp'))
  .map((file) => `web/${file}`);

/** Builds build/docs if its inputs have changed. */
export async function buildDocs() {
  const inputs = [
    'web/docs',
    'web/src/ui/styles/mark.svg',
    'wasm/src',
    'src/api',
    'src/glassformer',
  ];
  inputs.push(...models.map((name) => `weights/${name}/curves.svg`));
  inputs.push(
    ...pictures,
    'package.json',
    'package-lock.json',
    ...guides.map((each) => each.source),
  );
  await unlessDone(
    `docs${(process.env.DOCS_BASE ?? '').replaceAll('/', '-')}`,
    inputs,
    ['build/docs/index.html'],
    build,
  );
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await setUp('build');
  await buildDocs();
  console.log('build/docs/index.html');
}
