/** The page's views. A new one is an entry here, and the files that the entry names. */
import type { Component } from 'svelte';
import type { Link } from './lib/address.ts';
import { later, type LaterState } from './lib/later-state.svelte.ts';
import { SentimentExplorer } from './lib/sentiment-explorer.svelte.ts';

/** What a view shows, and keeps while another is open. */
export interface ViewState {
  /** The view is opened: loads what it needs, the first time. */
  start(): void;
  /** Shows what a link says; a text that is not in it stays. */
  follow(link: Link): void;
  /** What a link says that leads to what is shown. */
  readonly link: Link;
  /** Whether there is something to lead to. */
  readonly ready: boolean;
  /** Whether an answer is on its way. */
  readonly working: boolean;
}

interface Entry<State extends ViewState> {
  /** In the address. */
  name: string;
  /** In the masthead. */
  title: string;
  /** In the window's title. */
  heading: string;
  /** The first view's is there at once; the others' code can come later. */
  open: (link: Link) => State | LaterState<State>;
  /** Its code, which is fetched when the view is first opened. */
  component: () => Promise<{ default: Component<{ explorer: State }> | Component }>;
}

export type View = Entry<ViewState>;

/** An entry whose component takes what its own `open` gives, as is checked here. */
const view = <State extends ViewState>(entry: Entry<State>) => entry as unknown as View;

/** Of a view that keeps nothing in the address. */
const nothing: ViewState = {
  start: () => undefined,
  follow: () => undefined,
  link: {},
  ready: false,
  working: false,
};

export const views: readonly View[] = [
  view({
    name: 'sentiment',
    title: 'Sentiment',
    heading: 'a Transformer you can see through',
    open: (link) => new SentimentExplorer(link),
    component: () => import('./components/SentimentView.svelte'),
  }),
  view({
    name: 'transplant',
    title: 'Transplant',
    heading: 'what carries the verdict',
    open: later(
      async () => (await import('./lib/transplant-explorer.svelte.ts')).TransplantExplorer,
    ),
    component: () => import('./components/TransplantView.svelte'),
  }),
  view({
    name: 'inside',
    title: 'Inside',
    heading: 'every number between text and answer',
    open: later(async () => (await import('./lib/inside/explorer.svelte.ts')).InsideExplorer),
    component: () => import('./components/InsideView.svelte'),
  }),
  view({
    name: 'translation',
    title: 'Translation',
    heading: 'translation',
    open: later(
      async () => (await import('./lib/translation-explorer.svelte.ts')).TranslationExplorer,
    ),
    component: () => import('./components/TranslationView.svelte'),
  }),
  view({
    name: 'writing',
    title: 'Writing',
    heading: 'writing token by token',
    open: later(async () => (await import('./lib/writing-explorer.svelte.ts')).WritingExplorer),
    component: () => import('./components/WritingView.svelte'),
  }),
  view({
    name: 'model',
    title: 'Your model',
    heading: 'a model of your own',
    open: later(async () => (await import('./lib/model-explorer.svelte.ts')).ModelExplorer),
    component: () => import('./components/ModelView.svelte'),
  }),
  view({
    name: 'bench',
    title: 'Speed',
    heading: 'how fast it is',
    open: () => nothing,
    component: () => import('./components/BenchView.svelte'),
  }),
];

/** The first view is the one that an address leads to which names none. */
export const firstView = views[0]!;

export const viewNamed = (name: string | undefined): View =>
  views.find((each) => each.name === name) ?? firstView;
