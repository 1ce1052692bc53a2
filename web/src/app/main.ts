import { openPage } from './open-views.svelte.ts';
import '../ui/styles/fonts.css';
import '../ui/styles/page.css';

void openPage().then(async (opened) => {
  opened.state.start();
  // A worker starts only while the page’s own thread is free, as it is until this code has come.
  const [{ draw }] = await Promise.all([import('./page.ts'), opened.drawing]);
  draw(opened);
});
