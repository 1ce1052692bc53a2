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
    return 'system'; // Storage is switched off.
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

  /** Paper is light, whatever the screen is. */
  get current(): Theme {
    if (paper.current) return 'light';
    if (this.#choice !== 'system') return this.#choice;
    return system.current ? 'dark' : 'light';
  }

  /** To the other theme; back to the system's when that is what it shows. */
  toggle(): void {
    const next: Theme = this.current === 'dark' ? 'light' : 'dark';
    this.#choice = next === (system.current ? 'dark' : 'light') ? 'system' : next;
    try {
      if (this.#choice === 'system') localStorage.removeItem(key);
      else localStorage.setItem(key, this.#choice);
    } catch {
      // Not remembered, then.
    }
  }
}

export const theme = new ThemeChoice();
