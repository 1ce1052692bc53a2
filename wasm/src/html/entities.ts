// Character references of HTML.

// The names of U+00A0 to U+00FF, in order.
const latin =
  'nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 ' +
  'sup3 acute micro para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc ' +
  'Atilde Auml Aring AElig Ccedil Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve ' +
  'Oacute Ocirc Otilde Ouml times Oslash Ugrave Uacute Ucirc Uuml Yacute THORN szlig agrave aacute ' +
  'acirc atilde auml aring aelig ccedil egrave eacute ecirc euml igrave iacute icirc iuml eth ntilde ' +
  'ograve oacute ocirc otilde ouml divide oslash ugrave uacute ucirc uuml yacute thorn yuml';

const names = new Map<string, string>([
  ...latin.split(' ').map((name, i) => [name, String.fromCharCode(0xa0 + i)] as const),
  ['amp', '&'],
  ['lt', '<'],
  ['gt', '>'],
  ['quot', '"'],
  ['apos', "'"],
  ['OElig', 'Œ'],
  ['oelig', 'œ'],
  ['Scaron', 'Š'],
  ['scaron', 'š'],
  ['ndash', '–'],
  ['mdash', '—'],
  ['lsquo', '‘'],
  ['rsquo', '’'],
  ['sbquo', '‚'],
  ['ldquo', '“'],
  ['rdquo', '”'],
  ['bdquo', '„'],
  ['lsaquo', '‹'],
  ['rsaquo', '›'],
  ['hellip', '…'],
  ['bull', '•'],
  ['euro', '€'],
  ['trade', '™'],
]);

/** Matches a character reference that ends with a semicolon. */
export const reference = /&(?:#\d{1,7}|#[xX][\da-fA-F]{1,6}|[a-zA-Z][a-zA-Z\d]*);/;

/** Returns the character of a reference, or undefined for one that is rare. */
export function characterOf(text: string): string | undefined {
  const name = text.slice(1, -1);
  if (!name.startsWith('#')) return names.get(name);
  const code = /^#x/i.test(name) ? parseInt(name.slice(2), 16) : Number(name.slice(1));
  const printable = (code >= 0x20 && code < 0x7f) || (code >= 0xa0 && code <= 0x10ffff);
  const surrogate = code >= 0xd800 && code <= 0xdfff;
  return printable && !surrogate ? String.fromCodePoint(code) : undefined;
}

/** Returns text as HTML. */
export function escapeText(text: string): string {
  return text.replace(/[&<>]/g, (c) => ({ '&': '&amp;', '<': '&lt;' })[c] ?? '&gt;');
}
