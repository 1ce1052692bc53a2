import { mount } from 'svelte';
import App from './App.svelte';
import { workOffline } from './lib/offline.ts';
import './styles/fonts.css';
import './styles/page.css';

mount(App, { target: document.getElementById('app')! });
workOffline();
