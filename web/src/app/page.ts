import { mount } from 'svelte';
import App from './App.svelte';
import type { OpenViews } from './open-views.svelte.ts';

export function draw(opened: OpenViews): void {
  mount(App, { target: document.getElementById('app')!, props: { opened } });
}
