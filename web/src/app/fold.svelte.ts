/**
 * Whether the figure and the lead of a view are shown whole: on the first visit, and later if the
 * visitor unfolds them. The choice is kept in this browser.
 */
const key = 'glassformer-figure';

function kept(): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null; // Storage is disabled: every visit is the first one.
  }
}

function keep(value: 'open' | 'folded'): void {
  try {
    localStorage.setItem(key, value);
  } catch {
    // The choice is lost on reload.
  }
}

export class Fold {
  readonly firstVisit = kept() === null;
  /** The visitor's choice, now or on an earlier visit. */
  #chosen = $state<boolean | undefined>(kept() === 'open' ? true : undefined);

  constructor() {
    if (this.firstVisit) keep('folded');
  }

  /** Whether the figure is open. `folds`: whether it is folded until the visitor opens it. */
  isOpen(folds: boolean): boolean {
    return this.#chosen ?? (this.firstVisit && !folds);
  }

  set(open: boolean): void {
    this.#chosen = open;
    keep(open ? 'open' : 'folded');
  }
}
