// `npm run build:docs`: build/docs, a static site of the guides in this folder, of CHANGELOG,
// CONTRIBUTING and SECURITY, and of the references that are read from the sources' comments: that
// of the package by TypeDoc, that of the public C++ headers by cpp_reference.mjs. No script runs in it, and nothing is fetched from elsewhere.
import { copyFileSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import hljs from 'highlight.js/lib/common';
import markdownIt from 'markdown-it';
import { root, runTool, setUp, unlessDone } from '../../wasm/toolchain/build.mjs';
import { cppReference } from './cpp_reference.mjs';

const site = join(root, 'build/docs');
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const repository = manifest.repository.url.replace(/^git\+|\.git$/g, '');

// The pages, by who reads them; each with the file that it is made from.
const guide = (name) => ({ page: `${name}.html`, source: `web/docs/${name}.md` });
const project = (name) => ({ page: `${name.toLowerCase()}.html`, source: `${name}.md` });
const sections = [
  ['Start', ['index', 'page'].map(guide)],
  ['Web developers', ['web', 'published', 'bundlers', 'csp', 'hosting', 'browsers'].map(guide)],
  ['Other places', ['node', 'command-line', 'large-corpora', 'cpp', 'models'].map(guide)],
  ['Project', ['CHANGELOG', 'CONTRIBUTING', 'SECURITY'].map(project)],
];
const guides = sections.flatMap(([, pages]) => pages);

// A heading's anchor, as GitHub makes it.
const slug = (text) =>
  text
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');

const escape = (text) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');

const markdown = markdownIt({
  html: false,
  highlight: (code, language) =>
    hljs.getLanguage(language) ? hljs.highlight(code, { language }).value : '',
});

// A link as the site has it: to a page of its own, or to the repository.
function linkFrom(page, source, target) {
  if (/^(https?:|#)/.test(target)) return target;
  const [path, hash] = target.split('#');
  const file = posix.normalize(posix.join(posix.dirname(source), path));
  const api = file.match(/^api\/(.*)\.md$/)?.[1];
  const header = file.match(/^src\/glassformer\/(\w+)\.hpp$/)?.[1];
  if (header) return `${posix.relative(posix.dirname(page), 'cpp-reference.html')}#${header}hpp`;
  const known = guides.find((other) => other.source === file)?.page ?? (api && `api/${api}.html`);
  const suffix = hash ? `#${hash}` : '';
  if (!known) return `${repository}/blob/main/${file}${suffix}`;
  return (posix.relative(posix.dirname(page), known) || posix.basename(known)) + suffix;
}

// Markdown as HTML: { title, body, headings }.
function render({ page, source, text }) {
  const env = {};
  const tokens = markdown.parse(text, env);
  const headings = [];
  const used = new Map();
  for (const [i, token] of tokens.entries()) {
    if (token.type === 'heading_open') {
      const name = tokens[i + 1].children.map((child) => child.content).join('');
      const count = used.get(slug(name)) ?? 0;
      used.set(slug(name), count + 1);
      const id = count ? `${slug(name)}-${count}` : slug(name);
      token.attrSet('id', id);
      headings.push({ level: Number(token.tag.slice(1)), name, id });
    }
    // A style attribute would need a weaker policy.
    const align = token.attrGet?.('style')?.match(/text-align:(\w+)/)?.[1];
    if (align) token.attrs = [['class', align]];
    for (const child of token.children ?? []) {
      for (const name of ['href', 'src']) {
        const target = child.attrGet(name);
        if (target) child.attrSet(name, linkFrom(page, source, target));
      }
    }
  }
  const body = markdown.renderer
    .render(tokens, markdown.options, env)
    .replaceAll('<table>', '<div class="wide" tabindex="0"><table>')
    .replaceAll('</table>', '</table></div>')
    .replaceAll('<pre>', '<pre tabindex="0">')
    // TypeDoc's anchors in tables.
    .replace(/&lt;a id=&quot;([\w-]+)&quot;&gt;&lt;\/a&gt; /g, '<span id="$1"></span>');
  return { title: headings[0].name, body, headings };
}

function navigation(page, entries) {
  const to = (other) => posix.relative(posix.dirname(page), other) || posix.basename(other);
  const item = ({ page: other, title }) =>
    `<li><a href="${to(other)}"${other === page ? ' aria-current="page"' : ''}>${escape(title)}</a></li>`;
  return entries
    .map(([name, pages]) => `<h2>${name}</h2><ul>${pages.map(item).join('')}</ul>`)
    .join('');
}

const policy =
  "default-src 'none'; style-src 'self'; font-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'";

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
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escape(title)}${page === 'index.html' ? '' : ' · Glassformer'}</title>
<link rel="icon" href="${up}/assets/mark.svg">
<link rel="stylesheet" href="${up}/assets/docs.css">
</head>
<body>
<a class="skip" href="#text">Skip to the text</a>
<header>
<a class="name" href="${up}/index.html"><img src="${up}/assets/mark.svg" alt="" width="28" height="28">Glassformer</a>
<span>documentation, ${manifest.version}</span>
</header>
<details class="menu"><summary>All pages</summary><nav aria-label="All pages">${nav}</nav></details>
<div class="columns">
<nav class="pages" aria-label="Pages">${nav}</nav>
<main id="text">
${body}</main>
${contents}</div>
</body>
</html>
`;
}

// build/api: the reference in markdown.
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
    ...render(entry),
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
  copyFileSync(join(root, 'web/src/mark.svg'), join(assets, 'mark.svg'));
  const fonts = { newsreader: 'latin-wght', 'instrument-sans': 'latin-wdth' };
  for (const [font, cut] of Object.entries(fonts)) {
    const folder = join(root, 'node_modules/@fontsource-variable', font);
    copyFileSync(join(folder, `files/${font}-${cut}-normal.woff2`), join(assets, `${font}.woff2`));
    copyFileSync(join(folder, 'LICENSE'), join(assets, `${font}-license.txt`));
  }
}

/** build/docs, if what it is made from has changed. */
export async function buildDocs() {
  const inputs = ['web/docs', 'web/src/mark.svg', 'wasm/src', 'src/glassformer'];
  inputs.push('package.json', 'package-lock.json', ...guides.map(({ source }) => source));
  await unlessDone('docs', inputs, ['build/docs/index.html'], build);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await setUp('build');
  await buildDocs();
  console.log('build/docs/index.html');
}
