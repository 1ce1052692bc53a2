/** Draws long lists in parts, because drawing them at once would block the page. */
import { untrack } from 'svelte';

/** The number of items to draw at once. */
const part = 40;

/**
 * Returns the number of items to draw so far. It starts again when `of` changes, such as for
 * another text. Call it while a component is created.
 */
export function gradually(of: () => unknown, length: () => number): { readonly count: number } {
  let count = $state(part);
  $effect.pre(() => {
    of();
    untrack(() => (count = part));
  });
  $effect(() => {
    if (count >= length()) return undefined;
    const timer = setTimeout(() => (count += part));
    return () => clearTimeout(timer);
  });
  return {
    get count() {
      return count;
    },
  };
}
