// Converts Markdown to HTML pages, for the model cards that the page shows.
import hljs from 'highlight.js/lib/common';
import markdownIt from 'markdown-it';

export const escape = (text) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');

/** Returns a heading's anchor, like GitHub's. */
export const slug = (text) =>
  text
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');

const markdown = markdownIt({
  html: false,
  highlight: (code, language) =>
    hljs.getLanguage(language) ? hljs.highlight(code, { language }).value : '',
});

// Returns { title, body } of a text. `linkTo(target, attribute)` returns the target of
// its links and pictures, the attributes href and src.
export function render(text, linkTo) {
  const env = {};
  const tokens = markdown.parse(text, env);
  let title;
  const used = new Map();
  for (const [i, token] of tokens.entries()) {
    if (token.type === 'heading_open') {
      const name = tokens[i + 1].children.map((child) => child.content).join('');
      const count = used.get(slug(name)) ?? 0;
      used.set(slug(name), count + 1);
      const id = count ? `${slug(name)}-${count}` : slug(name);
      token.attrSet('id', id);
      title ??= name;
    }
    // Style attributes would require a weaker policy.
    const align = token.attrGet?.('style')?.match(/text-align:(\w+)/)?.[1];
    if (align) token.attrs = [['class', align]];
    for (const child of token.children ?? []) {
      for (const name of ['href', 'src']) {
        const target = child.attrGet(name);
        if (target) child.attrSet(name, linkTo(target, name));
      }
    }
  }
  const body = markdown.renderer
    .render(tokens, markdown.options, env)
    .replaceAll('<table>', '<div class="wide" tabindex="0"><table>')
    .replaceAll('</table>', '</table></div>')
    .replaceAll('<pre>', '<pre tabindex="0">');
  return { title, body };
}

const policy =
  "default-src 'none'; style-src 'self'; font-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'";

// Returns a complete page. `assets` is the link to the folder of docs.css and mark.svg.
export const document = ({ title, assets, body }) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escape(title)}</title>
<link rel="icon" href="${assets}/mark.svg">
<link rel="stylesheet" href="${assets}/docs.css">
</head>
<body>
${body}
</body>
</html>
`;
