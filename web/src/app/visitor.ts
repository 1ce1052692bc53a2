/** The visitor's texts in the views, kept while the tour shows its own. */
import type { View } from '../views/index.ts';
import type { ViewState } from '../ui/view.ts';
import type { Link } from '../ui/link.ts';

export class Visitor {
  /** The view in which the tour began. */
  readonly view: View;
  readonly #own = new Map<View, Link>();
  /** The link that the tour last showed in each view. */
  readonly #shown = new Map<View, Link>();

  constructor(view: View) {
    this.view = view;
  }

  /** Keeps the visitor's link `now` before the tour shows `link` in the same view. */
  giveWay(view: View, now: Link, link: Link): void {
    if (!this.#shown.has(view) || this.wrote(view, now)) this.#own.set(view, now);
    this.#shown.set(view, link);
  }

  /** Whether the visitor has typed a text into a view since the tour showed its own there. */
  wrote(view: View, now: Link): boolean {
    const shown = this.#shown.get(view)?.text;
    const { text = '', typed } = now;
    if (shown === undefined || text.trim() === '') return false;
    // If a model continued the text, the link says how much of it was typed.
    return typed === undefined ? text !== shown : !shown.startsWith(text.slice(0, Number(typed)));
  }

  /** Returns the links to restore: those of views in which the visitor has typed nothing since. */
  links(states: ReadonlyMap<View, ViewState>): Map<View, Link> {
    return new Map([...this.#own].filter(([view]) => !this.wrote(view, states.get(view)!.link)));
  }
}
