import { mount } from 'svelte';
import '../ui/styles/fonts.css';
import '../ui/styles/page.css';
import App from './App.svelte';
import { openPage } from './open-views.svelte.ts';

/**
 * Time in milliseconds for the model's worker to start, which it does only while the main thread is
 * free. Without this pause, the model's first verdict comes 30 ms later.
 */
const headStart = 20;

void openPage().then(async (opened) => {
  opened.state.start();
  const workerStarts = new Promise((resolve) => setTimeout(resolve, headStart));
  await Promise.all([opened.drawing, workerStarts]);
  mount(App, { target: document.getElementById('app')!, props: { opened } });
});
