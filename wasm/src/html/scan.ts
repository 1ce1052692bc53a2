// Splits HTML into tags, comments and text, as browsers do. Put together, the pieces are the HTML.

/** A piece of HTML. */
export interface Piece {
  kind: 'text' | 'open' | 'close' | 'comment';
  raw: string;
  /** Of a tag: its name in lower case. */
  name: string;
}

const voids = new Set(
  'area base br col embed hr img input link meta param source track wbr'.split(' '),
);
/** Returns whether an element of this name has no end tag. */
export const isVoid = (name: string): boolean => voids.has(name);

// Elements whose content has no tags.
const rawText = new Set(['script', 'style', 'textarea', 'xmp', 'iframe', 'noembed', 'noframes']);

const tagName = /<(\/?)([a-zA-Z][^\s/>]*)/y;
const value = /=\s*(["'])?/y;
const comment = /<!--(?:>|->|[^]*?(?:--!?>|$))|<[!?][^>]*(?:>|$)|<\/[^a-zA-Z][^>]*(?:>|$)/y;

function matchAt(pattern: RegExp, html: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(html);
}

// Returns the end of a tag; that of the HTML, if the tag does not end. A value in quotes may have ">".
function endOfTag(html: string, at: number): number {
  while (at < html.length) {
    if (html[at] === '>') return at + 1;
    const quote = html[at] === '=' ? matchAt(value, html, at)! : undefined;
    at += quote ? quote[0].length : 1;
    if (!quote?.[1]) continue;
    const end = html.indexOf(quote[1], at);
    if (end < 0) break;
    at = end + 1;
  }
  return html.length;
}

/** Returns the pieces of some HTML, in order. */
export function scan(html: string): Piece[] {
  const pieces: Piece[] = [];
  let from = 0; // of the text that is not yet a piece
  const add = (kind: Piece['kind'], start: number, end: number, name = ''): void => {
    if (start > from) pieces.push({ kind: 'text', raw: html.slice(from, start), name: '' });
    if (end > start) pieces.push({ kind, raw: html.slice(start, end), name });
    from = end;
  };
  for (let at = html.indexOf('<'); at >= 0; at = html.indexOf('<', at)) {
    const found = matchAt(tagName, html, at);
    if (!found) {
      const other = matchAt(comment, html, at);
      if (other) add('comment', at, at + other[0].length);
      at = Math.max(from, at + 1);
      continue;
    }
    const name = found[2]!.toLowerCase();
    const end = endOfTag(html, at + found[0].length);
    const complete = html[end - 1] === '>';
    add(!complete ? 'comment' : found[1] ? 'close' : 'open', at, end, name);
    at = end;
    if (found[1] || !rawText.has(name)) continue;
    const close = new RegExp(`</${name}(?=[\\s/>])`, 'gi');
    close.lastIndex = end;
    at = close.exec(html)?.index ?? html.length;
    add('comment', end, at);
  }
  add('text', html.length, html.length);
  return pieces;
}

const attribute = /(?<![^\s"'>/=])([^\s"'>/=]+)(\s*=\s*)("[^"]*"|'[^']*'|[^\s"'>]+)/g;

/** Returns a start tag with each attribute that has a value replaced by what `change` returns. */
export function changeAttributes(
  raw: string,
  change: (name: string, value: string) => string | undefined,
): string {
  const begin = /^<[^\s/>]*/.exec(raw)![0].length;
  const rest = raw
    .slice(begin)
    .replace(attribute, (whole: string, name: string, is: string, quoted: string) => {
      const value = /^["']/.test(quoted) ? quoted.slice(1, -1) : quoted;
      const changed = change(name.toLowerCase(), value);
      return changed === undefined ? whole : `${name}${is}"${changed.replace(/"/g, '&quot;')}"`;
    });
  return raw.slice(0, begin) + rest;
}

/** Returns whether a start tag says that its element is not to be translated. */
export function isUntranslated({ raw }: Piece): boolean {
  let untranslated = false;
  changeAttributes(raw, (name, value) => {
    if (name === 'translate') untranslated ||= /^no$/i.test(value);
    if (name === 'class') untranslated ||= /(^|\s)notranslate(\s|$)/.test(value);
    return undefined;
  });
  return untranslated;
}
