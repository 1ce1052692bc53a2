/** A text in which some ranges are marked. */
export interface MarkedPart {
  text: string;
  /** Of the range; undefined between ranges. */
  name: string | undefined;
}

/** Ranges are in the text's order; of two that overlap the first stays. */
export function markedParts(
  text: string,
  ranges: readonly { start: number; end: number; name: string }[],
): MarkedPart[] {
  const parts: MarkedPart[] = [];
  let at = 0;
  for (const { start, end, name } of ranges) {
    if (start < at || end <= start) continue;
    if (start > at) parts.push({ text: text.slice(at, start), name: undefined });
    parts.push({ text: text.slice(start, end), name });
    at = end;
  }
  if (at < text.length) parts.push({ text: text.slice(at), name: undefined });
  return parts;
}
