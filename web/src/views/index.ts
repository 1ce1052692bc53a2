/** The table of views. A new view is one line here and a folder of that name. */
import type { Kind } from '../ui/figured.ts';
import type { Findable } from '../ui/findable.ts';
import type { ViewModule } from '../ui/view.ts';

/** The ways into the page, each with its views. */
export const doors = [
  { name: 'try', title: 'Try' },
  { name: 'learn', title: 'Learn' },
  { name: 'inside', title: 'Look inside' },
  { name: 'research', title: 'Research' },
] as const;
export type DoorName = (typeof doors)[number]['name'];

export interface View {
  /** The name in the address, and the folder. */
  name: string;
  /** The name in the masthead. */
  title: string;
  /** The door behind which it is; none: it is in the page's menu. */
  door?: DoorName;
  /** The view's part of the window title. */
  heading: string;
  /** Fetches the view's code. */
  module: () => Promise<{ default: ViewModule }>;
  /** The kind of its model, which the figure draws; none: no figure. */
  figure?: Kind;
  /** Whether the figure is folded until it is opened: the view has pictures of its own. */
  figureFolds?: boolean;
  /** Whether it reads a text like the sentiment view's: a visitor's own text follows there. */
  takesText?: boolean;
  /** Its parts for researchers, which have links of their own behind the last door. */
  parts?: readonly { name: string; title: string }[];
  /** Whether it shows only what comes first until all details are asked for. */
  folds?: boolean;
  /** Fetches what is in it, for the search of the page. */
  contents?: () => Promise<readonly Findable[]>;
  /** Whether files that are dropped on the page open in this view. */
  takesFiles?: boolean;
}

/** In the order of their door. The first view is shown if an address names no view. */
export const views: readonly View[] = [
  {
    name: 'sentiment',
    title: 'Sentiment',
    folds: true,
    door: 'try',
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
    folds: true,
    door: 'try',
    heading: 'translation',
    module: () => import('./translation/index.ts'),
    figure: 'encoder-decoder',
    takesText: true,
  },
  {
    name: 'writing',
    title: 'Writing',
    folds: true,
    door: 'try',
    heading: 'writing token by token',
    module: () => import('./writing/index.ts'),
    figure: 'decoder',
    takesText: true,
  },
  {
    name: 'digits',
    title: 'Digits',
    folds: true,
    door: 'try',
    heading: 'pictures',
    module: () => import('./digits/index.ts'),
    figure: 'pictures',
  },
  {
    name: 'course',
    title: 'Course',
    folds: true,
    door: 'learn',
    heading: 'a course on the Transformer',
    module: () => import('./course/index.ts'),
    contents: () => import('./course/contents.ts').then(({ contents }) => contents),
    figure: 'encoder',
    figureFolds: true,
    takesText: true,
  },
  {
    name: 'inside',
    title: 'Inside',
    door: 'inside',
    heading: 'every number between text and answer',
    folds: true,
    module: () => import('./inside/index.ts'),
    figure: 'encoder',
    takesText: true,
  },
  {
    name: 'teach',
    title: 'Teach',
    door: 'learn',
    heading: 'train a Transformer in this tab',
    module: () => import('./teach/index.ts'),
    figure: 'encoder',
  },
  {
    name: 'terms',
    title: 'Terms',
    door: 'learn',
    heading: 'the field’s words from A to Z',
    module: () => import('./terms/index.ts'),
  },
  {
    name: 'transplant',
    title: 'Transplant',
    folds: true,
    heading: 'what carries the verdict',
    module: () => import('./transplant/index.ts'),
    figure: 'encoder',
    door: 'research',
  },
  {
    name: 'heads',
    title: 'Heads',
    folds: true,
    heading: 'what each head does',
    module: () => import('./heads/index.ts'),
    door: 'research',
  },
  {
    name: 'study',
    title: 'Study',
    heading: 'many texts, with and without',
    module: () => import('./study/index.ts'),
    figure: 'encoder',
    door: 'research',
  },
  {
    name: 'model',
    title: 'Your model',
    door: 'try',
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

/** A link of a door: a view, or a part of one. */
export interface DoorLink {
  view: View;
  part?: { name: string; title: string };
}

/** Returns what is behind a door. A door opens on the first of these. */
export const behind = (door: DoorName): DoorLink[] => [
  ...views.filter((view) => view.door === door).map((view) => ({ view })),
  ...(door === 'research'
    ? views.flatMap((view) => (view.parts ?? []).map((part) => ({ view, part })))
    : []),
];

/** Returns all views and their contents, for the search of the page. */
export async function allFindable(): Promise<readonly Findable[]> {
  const own = views.map(({ name, title, heading }, i): Findable => {
    const hash = i === 0 ? '' : `view=${name}`;
    return { kind: 'view', title, says: heading, place: { text: 'Open the view', hash } };
  });
  const contents = await Promise.all(views.map((view) => view.contents?.() ?? []));
  return [...own, ...contents.flat()];
}

export const firstView = views[0]!;

export const viewNamed = (name: string | undefined): View =>
  views.find((each) => each.name === name) ?? firstView;
