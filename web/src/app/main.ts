import { mount } from 'svelte';
import { anotherTask } from '../ui/frames.ts';
import '../ui/styles/fonts.css';
import '../ui/styles/page.css';
import App from './App.svelte';
import { openPage } from './open-views.svelte.ts';

void openPage().then(async (opened) => {
  opened.state.start();
  // The model's worker starts only while the main thread is free.
  await Promise.all([opened.drawing, anotherTask()]);
  mount(App, { target: document.getElementById('app')!, props: { opened } });
});
