/** Formulas as MathML. What goes in is the page's own, never a person's text. */

const escaped = (text: string) => text.replace(/[&<>]/g, (each) => `&#${each.charCodeAt(0)};`);

/** A letter stands oblique, the name of a function upright. */
export const sym = (name: string): string =>
  name.length > 1 ? `<mi class="name">${escaped(name)}</mi>` : `<mi>${escaped(name)}</mi>`;
export const word = (text: string): string => `<mtext>${escaped(text)}</mtext>`;
export const num = (value: string | number): string => `<mn>${escaped(`${value}`)}</mn>`;
export const op = (sign: string): string => `<mo>${escaped(sign)}</mo>`;
export const row = (...items: string[]): string => `<mrow>${items.join('')}</mrow>`;
export const sub = (base: string, under: string): string => `<msub>${base}${under}</msub>`;
export const sup = (base: string, over: string): string => `<msup>${base}${over}</msup>`;
/** The sign alone: few typefaces can draw the bar over what is under it. */
export const root = (of: string): string =>
  row('<mo lspace="0" rspace="0" stretchy="false">√</mo>', of);
export const over = (top: string, bottom: string): string => `<mfrac>${top}${bottom}</mfrac>`;
export const total = (index: string, of: string): string =>
  `<mrow><munder><mo>∑</mo>${index}</munder>${of}</mrow>`;
export const apply = (name: string, of: string): string => row(sym(name), op('('), of, op(')'));
/** A vector: bold, as in print. */
export const vec = (name: string): string => `<mi class="vector">${escaped(name)}</mi>`;
