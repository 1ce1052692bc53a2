/** A part of a text with marked ranges. */
export interface MarkedPart {
  text: string;
  /** The name of the range; undefined between ranges. */
  name: string | undefined;
}

/** Splits a text at ranges in text order. If two overlap, only the first is marked. */
export function markedParts(
  text: string,
  ranges: readonly { start: number; end: number; name: string }[],
): MarkedPart[] {
  const parts: MarkedPart[] = [];
  let at = 0;
  for (const { start: first, end, name } of ranges) {
    // Two names may share a character.
    const start = Math.max(first, at);
    if (end <= start) continue;
    if (start > at) parts.push({ text: text.slice(at, start), name: undefined });
    parts.push({ text: text.slice(start, end), name });
    at = end;
  }
  if (at < text.length) parts.push({ text: text.slice(at), name: undefined });
  return parts;
}
