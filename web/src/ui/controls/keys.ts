/** Keyboard control for all parts of the page. */
import type { Attachment } from 'svelte/attachments';

/** A position in rows and columns, both from 0. */
export interface Place {
  row: number;
  column: number;
}

export interface Field {
  rows: number;
  columns: number;
  /** The rows that Page Up and Page Down move; without it, the browser handles these keys. */
  page?: number;
}

type Key = Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey'>;

/** Returns the place that a key leads to, or undefined for other keys. */
export function placeAfter(
  { key, ctrlKey, metaKey }: Key,
  { row, column }: Place,
  { rows, columns, page }: Field,
): Place | undefined {
  const all = ctrlKey || metaKey;
  const steps: Record<string, Place | undefined> = {
    ArrowLeft: { row, column: column - 1 },
    ArrowRight: { row, column: column + 1 },
    ArrowUp: rows > 1 ? { row: row - 1, column } : undefined,
    ArrowDown: rows > 1 ? { row: row + 1, column } : undefined,
    Home: { row: all ? 0 : row, column: 0 },
    End: { row: all ? rows : row, column: columns },
    PageUp: page === undefined ? undefined : { row: row - page, column },
    PageDown: page === undefined ? undefined : { row: row + page, column },
  };
  const to = Object.hasOwn(steps, key) ? steps[key] : undefined;
  const within = (at: number, length: number) => Math.max(0, Math.min(length - 1, at));
  return to && { row: within(to.row, rows), column: within(to.column, columns) };
}

/** Movement through a field with arrow keys, Home and End. */
export interface Walk {
  field: Field;
  at: Place;
  go: (to: Place) => void;
}

interface Keys {
  walk?: Walk;
  /** The actions of other keys, by key name. */
  presses?: Readonly<Record<string, () => void>>;
}

/** Returns an attachment that handles the keys pressed in an element. Each press calls `keys`. */
export function keyboard(keys: () => Keys): Attachment<HTMLElement> {
  return (element) => {
    const press = (event: KeyboardEvent) => {
      if (event.altKey || event.defaultPrevented) return;
      const { walk, presses = {} } = keys();
      const to = walk && placeAfter(event, walk.at, walk.field);
      const own = Object.hasOwn(presses, event.key) ? presses[event.key] : undefined;
      if (own) own();
      else if (to) walk.go(to);
      else return;
      event.preventDefault();
    };
    element.addEventListener('keydown', press);
    return () => element.removeEventListener('keydown', press);
  };
}

/** Returns the movement in a row with one item in the tab order. Arrow keys move the focus. */
export function walkAlong(
  count: number,
  current: number,
  itemAt: (index: number) => HTMLElement | null | undefined,
): Walk {
  return {
    field: { rows: 1, columns: count },
    at: { row: 0, column: current },
    go: ({ column }) => itemAt(column)?.focus(),
  };
}
