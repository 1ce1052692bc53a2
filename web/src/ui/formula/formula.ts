/** Formulas as trees of MathML elements, which Formula.svelte draws. */

/** A MathML element with its text or its children. */
export interface Maths {
  tag: string;
  attributes?: Readonly<Record<string, string>>;
  content: string | readonly Maths[];
}

const element = (
  tag: string,
  content: Maths['content'],
  attributes: Readonly<Record<string, string>> = {},
): Maths => ({ tag, attributes, content });

/** A symbol: a single letter is italic, the name of a function upright. */
export const sym = (name: string): Maths =>
  name.length > 1 ? element('mi', name, { class: 'name' }) : element('mi', name);
export const word = (text: string): Maths => element('mtext', text);
export const num = (value: string | number): Maths => element('mn', `${value}`);
export const op = (sign: string): Maths => element('mo', sign);
export const row = (...items: Maths[]): Maths => element('mrow', items);
export const sub = (base: Maths, under: Maths): Maths => element('msub', [base, under]);
export const sup = (base: Maths, over: Maths): Maths => element('msup', [base, over]);
/** A root without the bar: few typefaces can draw it. */
export const root = (of: Maths): Maths =>
  row(element('mo', '√', { lspace: '0', rspace: '0', stretchy: 'false' }), of);
export const over = (top: Maths, bottom: Maths): Maths => element('mfrac', [top, bottom]);
export const total = (index: Maths, of: Maths): Maths =>
  row(element('munder', [op('∑'), index]), of);
export const apply = (name: string, of: Maths): Maths => row(sym(name), op('('), of, op(')'));
/** A vector: bold, as in print. */
export const vec = (name: string): Maths => element('mi', name, { class: 'vector' });
/** A part that stands for some numbers of a picture: both light up together. */
export const marked = (symbol: string, of: Maths): Maths =>
  element('mrow', [of], { 'data-symbol': symbol });
