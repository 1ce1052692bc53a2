/** The page’s views. A new one is an entry here, and its code one in rest.ts. */
import type { Component } from 'svelte';
import type { Link } from './lib/address.ts';
import { fetchRest } from './lib/fetch-rest.ts';
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
  component: () => Promise<Component<{ explorer: State }> | Component>;
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
    component: async () => (await import('./components/SentimentView.svelte')).default,
  }),
  view({
    name: 'transplant',
    title: 'Transplant',
    heading: 'what carries the verdict',
    open: later(() => fetchRest('TransplantExplorer')),
    component: () => fetchRest('TransplantView'),
  }),
  view({
    name: 'inside',
    title: 'Inside',
    heading: 'every number between text and answer',
    open: later(() => fetchRest('InsideExplorer')),
    component: () => fetchRest('InsideView'),
  }),
  view({
    name: 'translation',
    title: 'Translation',
    heading: 'translation',
    open: later(() => fetchRest('TranslationExplorer')),
    component: () => fetchRest('TranslationView'),
  }),
  view({
    name: 'writing',
    title: 'Writing',
    heading: 'writing token by token',
    open: later(() => fetchRest('WritingExplorer')),
    component: () => fetchRest('WritingView'),
  }),
  view({
    name: 'model',
    title: 'Your model',
    heading: 'a model of your own',
    open: later(() => fetchRest('ModelExplorer')),
    component: () => fetchRest('ModelView'),
  }),
  view({
    name: 'bench',
    title: 'Speed',
    heading: 'how fast it is',
    open: () => nothing,
    component: () => fetchRest('BenchView'),
  }),
];

/** The first view is the one that an address leads to which names none. */
export const firstView = views[0]!;

export const viewNamed = (name: string | undefined): View =>
  views.find((each) => each.name === name) ?? firstView;
