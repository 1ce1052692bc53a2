/** Lists of texts, as visitors paste them or have them in files. */

/** A line of a list: a text and, optionally, its label. */
export interface Entry {
  text: string;
  label?: string;
}

/** Parses a list, one text per line. If the part before a tab is a label, it labels the text. */
export function entriesOf(list: string, labels: readonly string[]): Entry[] {
  const entries: Entry[] = [];
  for (const line of list.split(/\r?\n/)) {
    const tab = line.indexOf('\t');
    const named = tab < 0 ? undefined : line.slice(0, tab).trim().toLowerCase();
    const label = labels.find((each) => each.toLowerCase() === named);
    const text = (label === undefined ? line : line.slice(tab + 1)).trim();
    if (text !== '') entries.push(label === undefined ? { text } : { text, label });
  }
  return entries;
}
