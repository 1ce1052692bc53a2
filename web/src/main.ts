import { mount } from 'svelte';
import App from './App.svelte';
import { explorersAt } from './lib/explorers.ts';
import { viewOf } from './lib/permalink.ts';
import './styles/fonts.css';
import './styles/page.css';

const explorers = explorersAt(location.hash);
explorers[viewOf(location.hash)]?.start();

// A worker starts only when the page's own thread is free: the page is drawn in a task of its own.
setTimeout(() => mount(App, { target: document.getElementById('app')!, props: { explorers } }));
