/** The entries of the page's search: terms, views and lessons. */
import { getContext, setContext } from 'svelte';

/** A place on the page: the words of the link, and the address after the number sign. */
export interface Place {
  text: string;
  hash: string;
}

export interface Findable {
  kind: 'term' | 'view' | 'lesson';
  title: string;
  says: string;
  place: Place;
}

/** Whether the search box should take the focus as soon as it is there. */
export const searching = { wanted: false };

type Find = () => Promise<readonly Findable[]>;
const key = Symbol('findable');

/** Lets the components below find these. */
export const offerFindable = (find: Find): unknown => setContext(key, find);

/** Returns what the page offers to be found. */
export const findable = (): Promise<readonly Findable[]> => getContext<Find>(key)();
