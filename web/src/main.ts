import { explorersAt } from './lib/explorers.ts';
import { viewOf } from './lib/permalink.ts';
import './styles/fonts.css';
import './styles/page.css';

const explorers = explorersAt(location.hash);
explorers[viewOf(location.hash)]?.start();

// A worker starts only while the page’s own thread is free, as it is until this code has come.
void import('./page.ts').then(({ draw }) => draw(explorers));
