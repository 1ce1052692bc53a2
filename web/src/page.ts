import { mount } from 'svelte';
import App from './App.svelte';
import type { Explorers } from './lib/explorers.ts';

export function draw(explorers: Explorers): void {
  mount(App, { target: document.getElementById('app')!, props: { explorers } });
}
