import type { Theme } from './glasses.ts';

type Choice = Theme | 'system';

const key = 'glassformer-theme';
const system = matchMedia('(prefers-color-scheme: dark)');
const paper = matchMedia('print');

function stored(): Choice {
  try {
    const value = localStorage.getItem(key);
    return value === 'light' || value === 'dark' ? value : 'system';
  } catch {
    return 'system'; // Storage is disabled.
  }
}

class ThemeChoice {
  #choice = $state<Choice>(stored());
  #systemIsDark = $state(system.matches);
  #onPaper = $state(paper.matches);

  constructor() {
    this.#show();
    system.addEventListener('change', ({ matches }) => {
      this.#systemIsDark = matches;
      this.#show();
    });
    paper.addEventListener('change', ({ matches }) => {
      this.#onPaper = matches;
      this.#show();
    });
  }

  /** The theme in use. Always light on paper. */
  get current(): Theme {
    if (this.#onPaper) return 'light';
    return this.#choice === 'system' ? this.#systems : this.#choice;
  }

  get #systems(): Theme {
    return this.#systemIsDark ? 'dark' : 'light';
  }

  /** Changes to the other theme. Follows the system again if that theme is the system's. */
  toggle(): void {
    const next: Theme = this.current === 'dark' ? 'light' : 'dark';
    this.#choice = next === this.#systems ? 'system' : next;
    this.#show();
    try {
      if (this.#choice === 'system') localStorage.removeItem(key);
      else localStorage.setItem(key, this.#choice);
    } catch {
      // The choice is lost on reload.
    }
  }

  #show(): void {
    document.documentElement.dataset.theme = this.current;
  }
}

export const theme = new ThemeChoice();
