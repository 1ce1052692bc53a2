/** Splits a text into words and spaces, and marks the words that the other text lacks. */
export function ownWords(text: string, other: string): { word: string; own: boolean }[] {
  const others = new Set(other.split(/\s+/));
  return text
    .split(/(\s+)/)
    .map((word) => ({ word, own: word.trim() !== '' && !others.has(word) }));
}
