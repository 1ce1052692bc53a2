/** A text cut into words and what is between them, each with whether the other text lacks it. */
export function ownWords(text: string, other: string): { word: string; own: boolean }[] {
  const others = new Set(other.split(/\s+/));
  return text
    .split(/(\s+)/)
    .map((word) => ({ word, own: word.trim() !== '' && !others.has(word) }));
}
