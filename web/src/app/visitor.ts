/** The visitor's texts in the views before the tour put its own there. */
import type { View } from '../views/index.ts';
import type { ViewState } from '../ui/view.ts';
import type { Link } from '../ui/link.ts';

export class Visitor {
  /** Where the tour began. */
  readonly view: View;
  readonly #own = new Map<View, Link>();
  /** The link that the tour last put into each view. */
  readonly #shown = new Map<View, Link>();

  constructor(view: View) {
    this.view = view;
  }

  /** The tour puts `link` into a view that shows `now`: the visitor's own text is kept. */
  giveWay(view: View, now: Link, link: Link): void {
    if (!this.#shown.has(view) || this.wrote(view, now)) this.#own.set(view, now);
    this.#shown.set(view, link);
  }

  /** Whether the visitor has typed a text into a view since the tour put its own there. */
  wrote(view: View, now: Link): boolean {
    const shown = this.#shown.get(view)?.text;
    const { text = '', typed } = now;
    if (shown === undefined || text.trim() === '') return false;
    // Where a model wrote on, the link says how much of the text was typed.
    return typed === undefined ? text !== shown : !shown.startsWith(text.slice(0, Number(typed)));
  }

  /** What goes back into the views: except where the visitor has written something else since. */
  links(states: ReadonlyMap<View, ViewState>): Map<View, Link> {
    return new Map([...this.#own].filter(([view]) => !this.wrote(view, states.get(view)!.link)));
  }
}
