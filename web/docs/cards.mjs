// The model cards and licenses that the page links to, as pages in the style of the documentation.
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { document, escape, render } from './markdown.mjs';

const at = (path) => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const manifest = JSON.parse(readFileSync(at('package.json'), 'utf8'));
const repository = manifest.repository.url.replace(/^git\+|\.git$/g, '');
const require = createRequire(import.meta.url);
const font = (name, cut) =>
  require.resolve(`@fontsource-variable/${name}/files/${name}-${cut}-normal.woff2`);

const page = (title, body) =>
  document({
    title: `${title} · Glassformer`,
    assets: '../assets',
    body: `<header>
<a class="name" href="../../index.html"><img src="../assets/mark.svg" alt="" width="28" height="28">Glassformer</a>
<span>the models</span>
</header>
<main class="alone" id="text">
${body}</main>`,
  });

/** Returns {path: contents}: the files of models/assets, and the cards of existing models. */
export function cardFiles(names) {
  const present = names.filter((name) => existsSync(at(`weights/${name}/README.md`)));
  const files = new Map([
    ['assets/docs.css', readFileSync(at('web/docs/docs.css'))],
    ['assets/mark.svg', readFileSync(at('web/src/ui/styles/mark.svg'))],
    ['assets/newsreader.woff2', readFileSync(font('newsreader', 'latin-wght'))],
    ['assets/instrument-sans.woff2', readFileSync(font('instrument-sans', 'latin-wdth'))],
  ]);
  for (const name of present) {
    const folder = `weights/${name}`;
    const linkTo = (target, attribute) => {
      if (/^(https?:|#)/.test(target)) return target;
      const [path, hash] = target.split('#');
      const file = posix.normalize(posix.join(folder, path));
      if (attribute === 'src') {
        files.set(`${name}/${path}`, readFileSync(at(file)));
        return path;
      }
      if (file === `${folder}/LICENSE`) return 'license.html';
      const other = present.find((each) => file === `weights/${each}/README.md`);
      if (other) return `../${other}/card.html${hash ? `#${hash}` : ''}`;
      return `${repository}/blob/main/${file}${hash ? `#${hash}` : ''}`;
    };
    const { title, body } = render(readFileSync(at(`${folder}/README.md`), 'utf8'), linkTo);
    files.set(`${name}/card.html`, page(title, body));
    if (!existsSync(at(`${folder}/LICENSE`))) continue;
    const license = escape(readFileSync(at(`${folder}/LICENSE`), 'utf8').trim());
    const heading = `<h1>${escape(title)}: license of the weights</h1>`;
    files.set(
      `${name}/license.html`,
      page(`${title}, license`, `${heading}\n<div class="plain-text">${license}</div>\n`),
    );
  }
  return files;
}
