// VitePress's configuration of the documentation. build.mjs writes its sources and site.json.
import { readFileSync } from 'node:fs';
import { defineConfig } from 'vitepress';
import { slug } from '../markdown.mjs';

const { sidebar, version, repository } = JSON.parse(
  readFileSync(new URL('site.json', `file://${process.env.DOCS_SOURCE}/`), 'utf8'),
);

/** Turns the anchors that TypeDoc writes in tables into elements; all other HTML stays text. */
function anchors(markdown) {
  markdown.core.ruler.after('inline', 'anchors', ({ tokens, Token }) => {
    for (const token of tokens) {
      token.children = token.children?.flatMap((child) => {
        if (child.type !== 'text') return [child];
        return child.content.split(/(<a id="[\w-]+"><\/a> ?)/).map((part) => {
          const id = /^<a id="([\w-]+)">/.exec(part)?.[1];
          const made = new Token(id ? 'html_inline' : 'text', '', 0);
          made.content = id ? `<span id="${id}"></span>` : part;
          return made;
        });
      });
    }
  });
}

const base = process.env.DOCS_BASE ?? '/';

export default defineConfig({
  title: 'Glassformer',
  description: 'A Transformer you can see through: documentation',
  base,
  lang: 'en',
  head: [['link', { rel: 'icon', href: `${base}mark.svg` }]],
  markdown: {
    html: false,
    anchor: { slugify: slug },
    config: anchors,
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
  },
  themeConfig: {
    logo: '/mark.svg',
    nav: [
      { text: 'Get started', link: '/start' },
      { text: 'API', link: '/api/README' },
      { text: `Changes (${version})`, link: '/changelog' },
    ],
    sidebar,
    outline: [2, 3],
    search: { provider: 'local' },
    socialLinks: [{ icon: 'github', link: repository }],
  },
});
