/** The interface between the page and a view. */
import type { Component } from 'svelte';
import type { Figured } from './figured.ts';
import type { Link } from './link.ts';

/** The state of a view. It is kept while another view is open. */
export interface ViewState {
  /** Called when the view is opened. The first call loads what the view needs. */
  start(): void;
  /** Shows what a link describes. A link without a text keeps the current text. */
  follow(link: Link): void;
  /** The link to what is shown. */
  readonly link: Link;
  /** The names in `link` that only select what to look at. Their changes cannot be undone. */
  readonly viewpoint?: readonly string[];
  /** Whether there is something to link to. */
  readonly ready: boolean;
  /** Whether an answer is being computed. */
  readonly working: boolean;
  /** The model that the figure at the top of the page draws. */
  readonly figure?: Figured | undefined;
  /** Opens files that were dropped on the page. Only the view with `takesFiles` has this. */
  takeDropped?(entries: readonly FileSystemEntry[]): Promise<void>;
}

/** One thing to try: a control of the view, by its CSS selector, that is pressed or only focused. */
export type Trial = { text: string } & ({ press: string } | { focus: string });

/** The code of a view: the default export of its `index.ts`. */
export interface ViewModule<State extends ViewState = ViewState> {
  /** Creates the state that a link describes. */
  open: (link: Link) => State;
  View: Component<{ explorer: State }> | Component;
  /** The view in one or two sentences, and one thing to try. */
  about: { shows: string; first: Trial };
}

/** Checks that the component takes the state that `open` creates. */
export const viewModule = <State extends ViewState>(module: ViewModule<State>): ViewModule =>
  module as unknown as ViewModule;
