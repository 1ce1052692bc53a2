/** A text with two of its tokens marked. */

export type Mark = 'query' | 'key';

interface Range {
  start: number;
  end: number;
}

export interface Part {
  text: string;
  mark?: Mark;
}

/** Splits a text at its marks. A token without a text of its own has none; spaces stay unmarked. */
export function partsOf(
  text: string,
  marks: Readonly<Partial<Record<Mark, Range | undefined>>>,
): Part[] {
  const ranges = (['query', 'key'] as const)
    .flatMap((mark) => {
      const { start = 0, end = 0 } = marks[mark] ?? {};
      const own = text.slice(start, end);
      const first = start + own.length - own.trimStart().length;
      const last = first + own.trim().length;
      return last > first ? [{ mark, start: first, end: last }] : [];
    })
    .sort((a, b) => a.start - b.start);
  const parts: Part[] = [];
  let end = 0;
  for (const range of ranges) {
    if (range.start < end) continue; // the parts of a character of several bytes
    parts.push({ text: text.slice(end, range.start) });
    parts.push({ text: text.slice(range.start, range.end), mark: range.mark });
    end = range.end;
  }
  return [...parts, { text: text.slice(end) }].filter(({ text: own }) => own !== '');
}
