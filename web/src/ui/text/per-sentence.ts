/** Returns a list per sentence, with that of `sentence` replaced. */
export function withList<T>(
  lists: readonly (readonly T[])[],
  sentence: number,
  list: readonly T[],
): readonly (readonly T[])[] {
  const before = Array.from({ length: sentence }, (_, i) => lists[i] ?? []);
  return [...before, list, ...lists.slice(sentence + 1)];
}
