/** The words around a token, whole: a context never begins or ends inside a word. */

/** The least number of characters of a context, if the text has them. */
const least = 30;

/** Returns the part of `text` before `start`, from the beginning of a word. */
export function contextBefore(text: string, start: number): string {
  if (start <= least) return text.slice(0, start);
  const space = text.slice(0, start - least).search(/\S*$/u);
  return `${space > 0 ? '… ' : ''}${text.slice(space, start)}`;
}

/** Returns the part of `text` from `end`, to the end of a word. */
export function contextAfter(text: string, end: number): string {
  const [rest = ''] = /^\S*/u.exec(text.slice(end + least)) ?? [];
  const shown = text.slice(end, end + least + rest.length);
  return end + shown.length < text.length ? `${shown} …` : shown;
}
