/** Long lists that are drawn a part at a time: all at once would hold up the page. */
import { untrack } from 'svelte';

/** So many are drawn at once. */
const part = 40;

/**
 * How many items of a list are drawn by now. It starts again when `of` changes, such as to another text.
 * To be called while a component is made.
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
