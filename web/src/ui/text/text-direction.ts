/**
 * The direction of a text, from its first letter, like `dir="auto"`. With that attribute the browser
 * would search the whole text again for each word added to it.
 */
const rightToLeft =
  /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\p{Script=Samaritan}\p{Script=Mandaic}\p{Script=Adlam}\p{Script=Hanifi_Rohingya}\u200f]/u;

export function directionOf(text: string): 'ltr' | 'rtl' {
  const [first = ''] = /[\p{L}\u200e\u200f]/u.exec(text) ?? [];
  return rightToLeft.test(first) ? 'rtl' : 'ltr';
}
