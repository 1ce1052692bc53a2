/** What the search of the page finds beside terms: views and their contents. */
import { getContext, setContext } from 'svelte';

export interface Findable {
  kind: 'view' | 'lesson';
  title: string;
  says: string;
  /** Where it is: the words of the link, and the address after the number sign. */
  place: { text: string; hash: string };
}

/** Whether the search box should take the focus as soon as it is there. */
export const searching = { wanted: false };

type Find = () => Promise<readonly Findable[]>;
const key = Symbol('findable');

/** Lets the components below find these. */
export const offerFindable = (find: Find): unknown => setContext(key, find);

/** Returns what the page offers to be found. */
export const findable = (): Promise<readonly Findable[]> => getContext<Find>(key)();
