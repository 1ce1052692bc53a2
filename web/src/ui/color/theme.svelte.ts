import { MediaQuery } from 'svelte/reactivity';
import type { Theme } from './glasses.ts';

type Choice = Theme | 'system';

const key = 'glassformer-theme';
const system = new MediaQuery('(prefers-color-scheme: dark)');
const paper = new MediaQuery('print');

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

  constructor() {
    $effect.root(() => {
      $effect.pre(() => {
        document.documentElement.dataset.theme = this.current;
      });
    });
  }

  /** The theme in use. Always light on paper. */
  get current(): Theme {
    if (paper.current) return 'light';
    if (this.#choice !== 'system') return this.#choice;
    return system.current ? 'dark' : 'light';
  }

  /** Changes to the other theme. Follows the system again if that theme is the system's. */
  toggle(): void {
    const next: Theme = this.current === 'dark' ? 'light' : 'dark';
    this.#choice = next === (system.current ? 'dark' : 'light') ? 'system' : next;
    try {
      if (this.#choice === 'system') localStorage.removeItem(key);
      else localStorage.setItem(key, this.#choice);
    } catch {
      // The choice is lost on reload.
    }
  }
}

export const theme = new ThemeChoice();
