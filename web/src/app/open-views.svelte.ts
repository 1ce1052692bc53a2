/** Which view is open, what each shows, the addresses that say so, and the steps that led there. */
import { hashFor, longestText, type Link } from '../ui/link.ts';
import type { ViewModule, ViewState } from '../ui/view.ts';
import { firstView, viewNamed, views, type View } from '../views/index.ts';
import { embedded, isEmbedded, linkAt, linkIn, tourIn, viewIn } from './address.ts';
import { LaterState } from './later-state.svelte.ts';
import { pack } from './packed-text.ts';
import { entryIn, isStep, sameLink, type Entry } from './steps.ts';
import { Visitor } from './visitor.ts';

interface Drawing {
  Drawn: ViewModule['View'];
  explorer: ViewState;
}

export class OpenViews {
  view = $state.raw<View>(firstView);
  /** Whether the page shows the view alone, as a part of another page. */
  readonly embedded = isEmbedded(location.hash);
  readonly #states: ReadonlyMap<View, ViewState>;
  /** The address as this page last wrote or read it. */
  #written = $state.raw(location.hash);
  /** What it would be if nothing had changed since the page was opened. */
  readonly #first: string;
  /** The stop of the tour, from 1; undefined while nobody takes it. */
  tour = $state.raw<number>();
  /** Whether the address named the stop alone: what it is about is still to be shown. */
  tourAsked = $state.raw(false);
  /** Whether the view changes since the tour ends: what has the focus then is the tour's to say. */
  leavingTour = false;
  /** The visitor's texts when the tour began. */
  #visitor: Visitor | undefined;
  /** Where in the tab's history the page is. */
  #entry: Entry = $state.raw({
    kind: 'glassformer',
    at: 0,
    link: {},
    typed: false,
    step: false,
    whole: true,
  });
  /** Which entries are steps from the ones before them, as far as this page has made them. */
  #steps = $state.raw<readonly number[]>([]);
  /** The last text that was too long to stand in an address as it is, and how it stands there. */
  #packed = $state.raw<{ text: string; packed: string | undefined }>();

  /** `first` is the first view's code; each view starts with its link. */
  constructor(view: View, links: ReadonlyMap<View, Link>, first: ViewModule) {
    this.view = view;
    this.#tourTo(location.hash);
    const stateOf = (each: View): ViewState => {
      const link = links.get(each) ?? {};
      return each === firstView ? first.open(link) : new LaterState(link, each.module);
    };
    this.#states = new Map(views.map((each) => [each, stateOf(each)]));
    this.#first = this.address;
    const kept = entryIn(history.state);
    this.#enter({ at: kept?.at ?? 0, step: kept?.step ?? false });
  }

  get state(): ViewState {
    return this.#states.get(this.view)!;
  }

  /** What the open view is drawn by, and what it shows, once all of its code is there. */
  get drawing(): Promise<Drawing> {
    const { view, state } = this;
    const shown = state instanceof LaterState ? state.fetched : state;
    return Promise.all([view.module(), shown]).then(
      ([
        {
          default: { View: Drawn },
        },
        explorer,
      ]) => ({
        Drawn,
        explorer,
      }),
    );
  }

  /** Where a view is, as it was left. */
  addressOf(view: View, tour?: number): string {
    const address = this.pageAddressOf(view, tour);
    return this.embedded ? embedded(address) : address;
  }

  /** The same in the whole page. */
  pageAddressOf(view: View, tour?: number): string {
    const { link } = this.#states.get(view)!;
    const packed = this.#packed?.text === link.text ? this.#packed?.packed : undefined;
    const all = tour === undefined ? link : { ...link, tour: `${tour}` };
    return hashFor(view === firstView ? undefined : view.name, all, packed);
  }

  /** Opens dropped files in the view that takes them. */
  async openDropped(entries: readonly FileSystemEntry[]): Promise<void> {
    const view = viewOfFiles;
    if (this.view !== view) {
      const visited = new Promise((resolve) =>
        addEventListener('hashchange', resolve, { once: true }),
      );
      location.hash = this.addressOf(view);
      await visited;
      // What is shown of the model is where this entry of the history begins, not a step of it.
      this.#entry = { ...this.#entry, whole: false };
    }
    await this.#states.get(view)!.takeDropped?.(entries);
  }

  /** Shows what a stop of the tour is about. */
  show(view: View, link: Link): void {
    this.tourAsked = false;
    this.#visitor ??= new Visitor(this.view);
    this.view = view;
    const { state } = this;
    this.#visitor.giveWay(view, state.link, link);
    if (!sameLink({ ...state.link, ...link }, state.link)) state.follow(link);
    this.#enter(this.#entry);
  }

  /** Gives the visitor's own texts back, and the view in which the tour began. */
  endTour(): void {
    const visitor = this.#visitor;
    this.tour = undefined;
    if (visitor && !visitor.wrote(this.view, this.state.link) && this.view !== visitor.view) {
      this.view = visitor.view;
      this.leavingTour = true;
    }
    this.#giveBack();
    this.write();
  }

  /** The tour is over: each view shows the visitor's text from before it again. */
  #giveBack(): ReadonlySet<View> {
    const given = this.#visitor?.links(this.#states) ?? new Map<View, Link>();
    this.#visitor = undefined;
    for (const [view, link] of given) this.#states.get(view)!.follow(link);
    return new Set(given.keys());
  }

  #tourTo(hash: string): void {
    this.tour = tourIn(hash);
    this.tourAsked = this.tour !== undefined && Object.keys(linkIn(hash)).length === 0;
  }

  /** Where the open view is alone, to be a part of another page. */
  get embedAddress(): string {
    return embedded(this.pageAddressOf(this.view));
  }

  get address(): string {
    return this.addressOf(this.view, this.tour);
  }

  /** Whether the address has all of the text; if not, `pack` may help. */
  get whole(): boolean {
    const { text = '' } = this.state.link;
    return (
      text.length <= longestText ||
      (this.#packed?.text === text && this.#packed.packed !== undefined)
    );
  }

  /** Makes room in the address for a long text, where that can be. */
  async pack(): Promise<void> {
    const { text = '' } = this.state.link;
    if (text.length <= longestText || this.#packed?.text === text) return;
    this.#packed = { text, packed: await pack(text) };
  }

  write(): void {
    this.#entry = { ...this.#entry, link: this.state.link, whole: true };
    history.replaceState(this.#entry, '', this.address);
    this.#written = location.hash;
  }

  /**
   * The address follows what is shown, once that differs from what the page opened with: as a step
   * that can be undone, where it is one. `typing`: what somebody types is one step as long as nothing
   * else happens.
   */
  follow(typing = false): void {
    // Somebody followed a link just now, and hashchange is still to come: it is not overwritten.
    if (location.hash !== this.#written) return;
    const unchanged = this.#written === '' && this.address === this.#first;
    if (!this.state.ready || unchanged) return;
    const { at, link, typed, whole } = this.#entry;
    const { link: shown, viewpoint } = this.state;
    if (whole && isStep(link, shown, viewpoint) && !(typing && typed)) {
      this.#steps = [...this.#steps.filter((each) => each <= at), at + 1];
      this.#entry = { ...this.#entry, at: at + 1, step: true, typed: typing };
      history.pushState(this.#entry, '');
    }
    this.write();
    // Several frames of a page may show this one: what each shows, its address says.
    if (this.embedded) return;
    remember(this.view, { address: this.#written, link: this.state.link });
  }

  get canUndo(): boolean {
    return this.#entry.step;
  }

  get canRedo(): boolean {
    return this.#steps.includes(this.#entry.at + 1);
  }

  undo(): void {
    // The last change may be younger than the address.
    this.follow();
    if (this.canUndo) history.back();
  }

  redo(): void {
    this.follow();
    if (this.canRedo) history.forward();
  }

  /** Somebody went back or forth in the history, by whatever button. */
  travel(): void {
    const entry = entryIn(history.state);
    if (!entry) return;
    this.#written = location.hash;
    this.view = viewNamed(viewIn(this.#written));
    this.#tourTo(this.#written);
    this.#entry = { ...entry, typed: false };
    history.replaceState(this.#entry, '');
    if (this.tour === undefined) this.#giveBack();
    const { link } = entry;
    if (link.text !== undefined && !sameLink(link, this.state.link)) this.state.follow(link);
  }

  /** The page is at an entry of the history that says nothing of it yet. */
  #enter({ at, step }: Pick<Entry, 'at' | 'step'>): void {
    const { state } = this;
    const whole = !(state instanceof LaterState) || state.there;
    this.#entry = { kind: 'glassformer', at, link: state.link, typed: false, step, whole };
    this.#steps = this.#steps.filter((each) => each < at);
    history.replaceState(this.#entry, '');
  }

  /** Somebody followed a link: a view's own, as the masthead has it, leaves the view as it is. */
  async visit(): Promise<void> {
    // What was there before is told by `travel`.
    if (entryIn(history.state)) return;
    const { hash } = location;
    this.#written = hash;
    this.#tourTo(hash);
    if (!this.tourAsked) this.view = viewNamed(viewIn(hash));
    this.#enter({ at: this.#entry.at + 1, step: false });
    if (this.tourAsked) return;
    if (this.tour === undefined && this.#giveBack().has(this.view)) {
      // The link still had the tour's text.
      this.#enter(this.#entry);
      return this.write();
    }
    if (hash === this.address) return;
    const link = await linkAt(hash);
    if (location.hash !== hash) return;
    this.state.follow(link);
    this.#enter(this.#entry);
  }
}

/** The view in which dropped files open. */
export const viewOfFiles = views.find(({ takesFiles }) => takesFiles)!;

/** The views as the address says, and those that it does not tell of as this tab left them. */
export async function openPage(): Promise<OpenViews> {
  const { hash } = location;
  const opened = viewNamed(viewIn(hash));
  const known = isEmbedded(hash) ? () => undefined : remembered;
  const links = new Map(views.map((view) => [view, known(view)?.link ?? {}]));
  const bare = Object.keys(linkIn(hash)).length === 0;
  if (!bare && known(opened)?.address !== hash) links.set(opened, await linkAt(hash));
  const { default: first } = await firstView.module();
  return new OpenViews(opened, links, first);
}

// --- what a tab remembers of its views when it is reloaded ---------------------------------------

interface Memory {
  /** The link as an address, which may lack the text. */
  address: string;
  link: Link;
}

const placeOf = (view: View) => `glassformer ${location.pathname} ${view.name}`;

function remember(view: View, memory: Memory): void {
  try {
    sessionStorage.setItem(placeOf(view), JSON.stringify(memory));
  } catch {
    // Storage is full or switched off: then it is forgotten.
  }
}

function remembered(view: View): Memory | undefined {
  try {
    const memory: unknown = JSON.parse(sessionStorage.getItem(placeOf(view)) ?? 'null');
    return isMemory(memory) ? memory : undefined;
  } catch {
    return undefined;
  }
}

/** What is stored may be of another version of the page, or of another page. */
function isMemory(value: unknown): value is Memory {
  if (typeof value !== 'object' || value === null) return false;
  const { address, link } = value as Partial<Record<keyof Memory, unknown>>;
  return (
    typeof address === 'string' &&
    typeof link === 'object' &&
    link !== null &&
    Object.values(link).every((each) => typeof each === 'string')
  );
}
