/** What somebody had in the page's views before the tour put its own texts there. */
import type { View, ViewState } from '../views.ts';
import type { Link } from './address.ts';

export class Visitor {
  /** Where the tour began. */
  readonly view: View;
  readonly #own = new Map<View, Link>();
  /** What the tour has last put into each view. */
  readonly #shown = new Map<View, Link>();

  constructor(view: View) {
    this.view = view;
  }

  /** The tour puts `link` into a view that shows `now`: what is somebody's own is kept. */
  giveWay(view: View, now: Link, link: Link): void {
    if (!this.#shown.has(view) || this.wrote(view, now)) this.#own.set(view, now);
    this.#shown.set(view, link);
  }

  /** Whether somebody has typed a text into a view since the tour put its own there. */
  wrote(view: View, now: Link): boolean {
    const shown = this.#shown.get(view)?.text;
    const { text = '', typed } = now;
    if (shown === undefined || text.trim() === '') return false;
    // Of a text that a model wrote on, the link says how much somebody typed.
    return typed === undefined ? text !== shown : !shown.startsWith(text.slice(0, Number(typed)));
  }

  /** What goes back into the views: not where somebody has written something else since. */
  links(states: ReadonlyMap<View, ViewState>): Map<View, Link> {
    return new Map([...this.#own].filter(([view]) => !this.wrote(view, states.get(view)!.link)));
  }
}
