// `npm run build:docs`: writes build/docs, a static site with the guides of this folder, CHANGELOG,
// CONTRIBUTING and SECURITY, and with two references from the sources' comments: the package's,
// made by TypeDoc, and the public C++ headers', made by cpp_reference.mjs. The site runs no script
// and fetches nothing from other origins.
import { copyFileSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { root, runTool, setUp, unlessDone } from '../../wasm/toolchain/build.mjs';
import { models } from '../../wasm/toolchain/models.mjs';
import { cppReference } from './cpp_reference.mjs';
import { document, escape, render } from './markdown.mjs';

const site = join(root, 'build/docs');
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const repository = manifest.repository.url.replace(/^git\+|\.git$/g, '');

// The pages, grouped by reader, each with its source file.
const guide = (name) => ({ page: `${name}.html`, source: `web/docs/${name}.md` });
const project = (name) => ({ page: `${name.toLowerCase()}.html`, source: `${name}.md` });
const card = (name) => ({ page: `cards/${name}.html`, source: `weights/${name}/README.md` });
const sections = [
  ['Start', ['index', 'page'].map(guide)],
  ['Web developers', ['web', 'published', 'bundlers', 'csp', 'hosting', 'browsers'].map(guide)],
  [
    'Other places',
    ['node', 'command-line', 'large-corpora', 'training', 'cpp', 'models'].map(guide),
  ],
  ['Model cards', models.map(card)],
  ['Project', ['CHANGELOG', 'CONTRIBUTING', 'SECURITY'].map(project)],
];
const guides = sections.flatMap(([, pages]) => pages);

// The pictures on the pages, by their files in the repository.
const pictures = new Set();

// Converts a link to one of the site: to its pages, its pictures, or the repository.
function linkFrom(page, source, target, attribute) {
  if (/^(https?:|#)/.test(target)) return target;
  const [path, hash] = target.split('#');
  const file = posix.normalize(posix.join(posix.dirname(source), path));
  if (attribute === 'src') {
    pictures.add(file);
    return posix.relative(posix.dirname(page), `assets/${file}`);
  }
  const api = file.match(/^api\/(.*)\.md$/)?.[1];
  const header = file.match(/^src\/glassformer\/(\w+)\.hpp$/)?.[1];
  if (header) return `${posix.relative(posix.dirname(page), 'cpp-reference.html')}#${header}hpp`;
  const known = guides.find((other) => other.source === file)?.page ?? (api && `api/${api}.html`);
  const suffix = hash ? `#${hash}` : '';
  if (!known) return `${repository}/blob/main/${file}${suffix}`;
  return (posix.relative(posix.dirname(page), known) || posix.basename(known)) + suffix;
}

function navigation(page, entries) {
  const to = (other) => posix.relative(posix.dirname(page), other) || posix.basename(other);
  const item = ({ page: other, title }) =>
    `<li><a href="${to(other)}"${other === page ? ' aria-current="page"' : ''}>${escape(title)}</a></li>`;
  return entries
    .map(([name, pages]) => `<h2>${name}</h2><ul>${pages.map(item).join('')}</ul>`)
    .join('');
}

function html({ page, title, body, headings }, entries) {
  const up = posix.relative(posix.dirname(page), '.') || '.';
  const nav = navigation(page, entries);
  const parts = headings.filter(({ level }) => level === 2);
  const contents =
    parts.length < 3
      ? ''
      : `<nav class="contents" aria-label="On this page"><h2>On this page</h2><ul>${parts
          .map(({ id, name }) => `<li><a href="#${id}">${escape(name)}</a></li>`)
          .join('')}</ul></nav>`;
  return document({
    title: page === 'index.html' ? title : `${title} · Glassformer`,
    assets: `${up}/assets`,
    body: `<a class="skip" href="#text">Skip to the text</a>
<header>
<a class="name" href="${up}/index.html"><img src="${up}/assets/mark.svg" alt="" width="28" height="28">Glassformer</a>
<span>documentation, ${manifest.version}</span>
</header>
<details class="menu"><summary>All pages</summary><nav aria-label="All pages">${nav}</nav></details>
<div class="columns">
<nav class="pages" aria-label="Pages">${nav}</nav>
<main id="text">
${body}</main>
${contents}</div>`,
  });
}

// Writes build/api, the API reference in Markdown.
async function apiPages() {
  const folder = join(root, 'build/api');
  rmSync(folder, { recursive: true, force: true });
  await runTool('typedoc', ['--options', 'web/docs/typedoc.json']);
  const found = readdirSync(folder, { recursive: true }).filter((file) => file.endsWith('.md'));
  return found.sort().map((file) => {
    const text = readFileSync(join(folder, file), 'utf8');
    const page = `api/${file.replace(/\.md$/, '.html')}`;
    return { page, source: `api/${file}`, text };
  });
}

async function build() {
  const guidePages = guides.map(({ page, source }) => ({
    page,
    source,
    text: readFileSync(join(root, source), 'utf8'),
  }));
  const pages = [...guidePages, ...(await apiPages()), cppReference()].map((entry) => ({
    ...entry,
    ...render(entry.text, (target, attribute) =>
      linkFrom(entry.page, entry.source, target, attribute),
    ),
  }));
  const titled = ({ page }) => pages.find((entry) => entry.page === page);
  const classes = pages.filter(({ page }) => page.startsWith('api/classes/'));
  const entries = sections.map(([name, list]) => [name, list.map(titled)]);
  entries.splice(3, 0, [
    'API reference',
    [
      { page: 'api/README.html', title: 'All classes and types' },
      ...classes,
      titled({ page: 'cpp-reference.html' }),
    ],
  ]);
  rmSync(site, { recursive: true, force: true });
  for (const page of pages) {
    mkdirSync(dirname(join(site, page.page)), { recursive: true });
    writeFileSync(join(site, page.page), html(page, entries));
  }
  const assets = join(site, 'assets');
  mkdirSync(assets);
  copyFileSync(join(root, 'web/docs/docs.css'), join(assets, 'docs.css'));
  copyFileSync(join(root, 'web/src/ui/styles/mark.svg'), join(assets, 'mark.svg'));
  for (const file of pictures) {
    mkdirSync(dirname(join(assets, file)), { recursive: true });
    copyFileSync(join(root, file), join(assets, file));
  }
  const fonts = { newsreader: 'latin-wght', 'instrument-sans': 'latin-wdth' };
  for (const [font, cut] of Object.entries(fonts)) {
    const folder = join(root, 'node_modules/@fontsource-variable', font);
    copyFileSync(join(folder, `files/${font}-${cut}-normal.woff2`), join(assets, `${font}.woff2`));
    copyFileSync(join(folder, 'LICENSE'), join(assets, `${font}-license.txt`));
  }
}

/** Builds build/docs if its inputs have changed. */
export async function buildDocs() {
  const inputs = ['web/docs', 'web/src/ui/styles/mark.svg', 'wasm/src', 'src/glassformer'];
  inputs.push(...models.map((name) => `weights/${name}/curves.svg`));
  inputs.push('package.json', 'package-lock.json', ...guides.map(({ source }) => source));
  await unlessDone('docs', inputs, ['build/docs/index.html'], build);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await setUp('build');
  await buildDocs();
  console.log('build/docs/index.html');
}
