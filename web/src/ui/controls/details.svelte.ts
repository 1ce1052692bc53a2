/**
 * Whether views show all of their controls, or only what comes first: the answer, one picture and
 * one thing to press. Elements of the class `detail` are hidden otherwise; see page.css.
 */
const key = 'glassformer-details';

function kept(): boolean {
  try {
    return localStorage.getItem(key) === 'shown';
  } catch {
    return false; // Storage is disabled.
  }
}

class Details {
  #chosen = $state(kept());
  /** Whether something needs them: a link to a part, the tour, a view in a frame. */
  needed = $state(false);
  /** Whether the open view can do without. */
  fold = $state(false);

  get shown(): boolean {
    return !this.fold || this.#chosen || this.needed;
  }

  set(shown: boolean): void {
    this.#chosen = shown;
    if (!shown) this.needed = false;
    try {
      localStorage.setItem(key, shown ? 'shown' : 'hidden');
    } catch {
      // The choice is lost on reload.
    }
  }
}

export const details = new Details();
