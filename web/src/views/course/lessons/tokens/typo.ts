/** A typing error: two letters in the middle of the longest word change places. */
export function withTypo(text: string): string {
  const words = [...text.matchAll(/\p{L}+/gu)];
  const [longest] = words.sort(([a], [b]) => b.length - a.length);
  if (!longest) return text;
  const letters = [...longest[0]];
  // Two letters that differ, as near to the middle as possible.
  const middle = Math.floor((letters.length - 1) / 2);
  const places = letters
    .map((_, i) => i)
    .filter((i) => i + 1 < letters.length && letters[i] !== letters[i + 1])
    .sort((a, b) => Math.abs(a - middle) - Math.abs(b - middle));
  const [at] = places;
  if (at === undefined) return text;
  [letters[at], letters[at + 1]] = [letters[at + 1]!, letters[at]!];
  const { index } = longest;
  return text.slice(0, index) + letters.join('') + text.slice(index + longest[0].length);
}
