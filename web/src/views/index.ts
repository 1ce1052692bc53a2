/** The table of views. A new view is one line here and a folder of that name. */
import type { Kind } from '../ui/figured.ts';
import type { ViewModule } from '../ui/view.ts';

export interface View {
  /** The name in the address, and the folder. */
  name: string;
  /** The name in the masthead. */
  title: string;
  /** The view's part of the window title. */
  heading: string;
  /** Fetches the view's code. */
  module: () => Promise<{ default: ViewModule }>;
  /** The kind of its model, which the figure draws; none: no figure. */
  figure?: Kind;
  /** Whether it reads a text like the sentiment view's: a visitor's own text follows there. */
  takesText?: boolean;
  /** Its parts for researchers, which the masthead lists, too. */
  parts?: readonly { name: string; title: string }[];
  /** Whether it is for those who know what they look for. */
  research?: boolean;
  /** Whether files that are dropped on the page open in this view. */
  takesFiles?: boolean;
}

/** In the order of a newcomer. The first view is shown if an address names no view. */
export const views: readonly View[] = [
  {
    name: 'sentiment',
    title: 'Sentiment',
    heading: 'a Transformer you can see through',
    module: () => import('./sentiment/index.ts'),
    figure: 'encoder',
    takesText: true,
    parts: [
      { name: 'ledger', title: 'Ledger' },
      { name: 'methods', title: 'Methods' },
      { name: 'circuits', title: 'Circuits' },
    ],
  },
  {
    name: 'translation',
    title: 'Translation',
    heading: 'translation',
    module: () => import('./translation/index.ts'),
    figure: 'encoder-decoder',
    takesText: true,
  },
  {
    name: 'writing',
    title: 'Writing',
    heading: 'writing token by token',
    module: () => import('./writing/index.ts'),
    figure: 'decoder',
    takesText: true,
  },
  {
    name: 'digits',
    title: 'Digits',
    heading: 'pictures',
    module: () => import('./digits/index.ts'),
    figure: 'pictures',
  },
  {
    name: 'course',
    title: 'Course',
    heading: 'a course on the Transformer',
    module: () => import('./course/index.ts'),
    figure: 'encoder',
    takesText: true,
  },
  {
    name: 'inside',
    title: 'Inside',
    heading: 'every number between text and answer',
    module: () => import('./inside/index.ts'),
    figure: 'encoder',
    takesText: true,
  },
  {
    name: 'teach',
    title: 'Teach',
    heading: 'train a Transformer in this tab',
    module: () => import('./teach/index.ts'),
    figure: 'encoder',
  },
  {
    name: 'transplant',
    title: 'Transplant',
    heading: 'what carries the verdict',
    module: () => import('./transplant/index.ts'),
    figure: 'encoder',
    research: true,
  },
  {
    name: 'study',
    title: 'Study',
    heading: 'many texts, with and without',
    module: () => import('./study/index.ts'),
    figure: 'encoder',
    research: true,
  },
  {
    name: 'model',
    title: 'Your model',
    heading: 'a model of your own',
    module: () => import('./model/index.ts'),
    takesFiles: true,
  },
  {
    name: 'bench',
    title: 'Speed',
    heading: 'how fast it is',
    module: () => import('./bench/index.ts'),
  },
];

export const firstView = views[0]!;

export const viewNamed = (name: string | undefined): View =>
  views.find((each) => each.name === name) ?? firstView;
