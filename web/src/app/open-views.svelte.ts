/** The open view, the state and address of each view, and the undo history. */
import { hashFor, longestText, partsOf, type Link } from '../ui/link.ts';
import type { ViewModule, ViewState } from '../ui/view.ts';
import { firstView, viewNamed, views, type View } from '../views/index.ts';
import { embedded, isEmbedded, linkAt, linkIn, tourIn, viewIn } from './address.ts';
import { LaterState } from './later-state.svelte.ts';
import { entryIn, isStep, sameLink, type Entry } from './steps.ts';
import { Visitor } from './visitor.ts';

interface Drawing {
  Drawn: ViewModule['View'];
  about: ViewModule['about'];
  explorer: ViewState;
}

export class OpenViews {
  view = $state.raw<View>(firstView);
  /** The view whose code was fetched last. */
  #drawn = $state.raw<View>();
  /** Whether the page shows only the view, embedded in another page. */
  readonly embedded = isEmbedded(location.hash);
  readonly #states: ReadonlyMap<View, ViewState>;
  /** The address as this page last wrote or read it. */
  #written = $state.raw(location.hash);
  /** The address of the state that the page opened with. */
  readonly #first: string;
  /** The stop of the tour, from 1; undefined outside the tour. */
  tour = $state.raw<number>();
  /** Whether the address named only the stop, so that its example must still be shown. */
  tourAsked = $state.raw(false);
  /** Whether the view changes because the tour ended. Then the tour sets the focus. */
  leavingTour = false;
  /** The visitor's own texts, kept during the tour. */
  #visitor: Visitor | undefined;
  /** The view in which the visitor typed last. */
  #typedIn = $state.raw<View>();
  /** The current entry of the tab's history. */
  #entry: Entry = $state.raw({
    kind: 'glassformer',
    at: 0,
    link: {},
    typed: false,
    step: false,
    whole: true,
  });
  /** The positions of entries that this page created as undoable steps. */
  #steps = $state.raw<readonly number[]>([]);
  /** The last text that was too long for an address, and its packed form. */
  #packed = $state.raw<{ text: string; packed: string | undefined }>();

  /** Each view starts with its link. `first` is the first view's code. */
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

  /**
   * Returns the link with which a view opens. The text that the visitor typed last follows from
   * view to view, if both read such texts.
   */
  #linkTo(view: View): Link {
    const { link } = this.#states.get(view)!;
    const from = this.#typedIn;
    if (!from || !view.takesText || view === this.view || this.tour !== undefined) return link;
    const { text = '', typed } = this.#states.get(from)!.link;
    const own = text.slice(0, typed === undefined ? undefined : Number(typed));
    return view === from || own.trim() === '' || own === link.text ? link : { text: own };
  }

  /** Notes that the visitor is typing in the open view. */
  typing(): void {
    if (this.view.takesText) this.#typedIn = this.view;
  }

  get state(): ViewState {
    return this.#states.get(this.view)!;
  }

  /** The open view's component and state, once their code is fetched. */
  get drawing(): Promise<Drawing> {
    const { view, state } = this;
    const shown = state instanceof LaterState ? state.fetched : state;
    return Promise.all([view.module(), shown]).then(([{ default: module }, explorer]) => {
      if (this.view === view) this.#drawn = view;
      return { Drawn: module.View, about: module.about, explorer };
    });
  }

  /** Whether the open view is still being fetched, or works on an answer. */
  get working(): boolean {
    return this.#drawn !== this.view || this.state.working;
  }

  /** Returns the address of a view in its current state. */
  addressOf(view: View, tour?: number): string {
    const address = this.pageAddressOf(view, tour);
    return this.embedded ? embedded(address) : address;
  }

  /** Returns the address that also opens a part of a view, and scrolls there. */
  partAddress(view: View, part: string): string {
    const link = this.#linkTo(view);
    const others = partsOf(link.part).filter((each) => each !== part);
    const all = { ...link, part: [...others, part].join(',') };
    return hashFor(view === firstView ? undefined : view.name, all);
  }

  /** Returns the same address, but for the full page. */
  pageAddressOf(view: View, tour?: number): string {
    const link = this.#linkTo(view);
    const packed = this.#packed?.text === link.text ? this.#packed?.packed : undefined;
    const all = tour === undefined ? link : { ...link, tour: `${tour}` };
    return hashFor(view === firstView ? undefined : view.name, all, packed);
  }

  /** Opens dropped files in the view that accepts them. */
  async openDropped(entries: readonly FileSystemEntry[]): Promise<void> {
    const view = viewOfFiles;
    if (this.view !== view) {
      const visited = new Promise((resolve) =>
        addEventListener('hashchange', resolve, { once: true }),
      );
      location.hash = this.addressOf(view);
      await visited;
      // Opening the model is part of this history entry, not a step that can be undone.
      this.#entry = { ...this.#entry, whole: false };
    }
    await this.#states.get(view)!.takeDropped?.(entries);
  }

  /** Shows the example of a stop of the tour. */
  show(view: View, link: Link): void {
    this.tourAsked = false;
    this.#visitor ??= new Visitor(this.view);
    this.view = view;
    const { state } = this;
    this.#visitor.giveWay(view, state.link, link);
    if (!sameLink({ ...state.link, ...link }, state.link)) state.follow(link);
    this.#enter(this.#entry);
  }

  /** Ends the tour; restores the visitor's own texts and the view in which the tour began. */
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

  /** Restores the texts from before the tour. Returns the views that changed. */
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

  /** The address that embeds the open view in another page. */
  get embedAddress(): string {
    return embedded(this.pageAddressOf(this.view));
  }

  get address(): string {
    return this.addressOf(this.view, this.tour);
  }

  /** Whether the address holds the whole text; if not, `pack` may help. */
  get whole(): boolean {
    const { text = '' } = this.state.link;
    return (
      text.length <= longestText ||
      (this.#packed?.text === text && this.#packed.packed !== undefined)
    );
  }

  /** Packs a long text so that it fits into the address, if possible. */
  async pack(): Promise<void> {
    const { text = '' } = this.state.link;
    if (text.length <= longestText || this.#packed?.text === text) return;
    const { pack } = await import('./packed-text.ts');
    this.#packed = { text, packed: await pack(text) };
  }

  write(): void {
    this.#entry = { ...this.#entry, link: this.state.link, whole: true };
    history.replaceState(this.#entry, '', this.address);
    this.#written = location.hash;
  }

  /**
   * Writes the current state to the address, once it differs from the state that the page opened
   * with. An undoable change becomes a new history entry. Consecutive typing (`typing`) counts as
   * one step.
   */
  follow(typing = false): void {
    // A link was just followed, and hashchange is still to come: don't overwrite its address.
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
    // Several frames of a page may show this view, so its state is kept only in the address.
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
    // The last change may not be in the address yet.
    this.follow();
    if (this.canUndo) history.back();
  }

  redo(): void {
    this.follow();
    if (this.canRedo) history.forward();
  }

  /** Shows the current history entry, after Back, Forward, undo or redo. */
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

  /** Starts a history entry that has no state yet. */
  #enter({ at, step }: Pick<Entry, 'at' | 'step'>): void {
    const { state } = this;
    const whole = !(state instanceof LaterState) || state.there;
    this.#entry = { kind: 'glassformer', at, link: state.link, typed: false, step, whole };
    this.#steps = this.#steps.filter((each) => each < at);
    history.replaceState(this.#entry, '');
  }

  /** Opens a followed link. A link of the masthead opens its view with the state it already has. */
  async visit(): Promise<void> {
    // `travel` handles entries that already have a state.
    if (entryIn(history.state)) return;
    const { hash } = location;
    this.#written = hash;
    this.#tourTo(hash);
    if (!this.tourAsked) this.view = viewNamed(viewIn(hash));
    this.#enter({ at: this.#entry.at + 1, step: false });
    if (this.tourAsked) return;
    if (this.tour === undefined && this.#giveBack().has(this.view)) {
      // The link still held the tour's text.
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

/** The view that opens dropped files. */
export const viewOfFiles = views.find(({ takesFiles }) => takesFiles)!;

/** Opens the view in the address with its state; restores the other views as this tab left them. */
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

// --- the state of the views across a reload of the tab -------------------------------------------

interface Memory {
  /** The link as an address, possibly without the text. */
  address: string;
  link: Link;
}

const placeOf = (view: View) => `glassformer ${location.pathname} ${view.name}`;

function remember(view: View, memory: Memory): void {
  try {
    sessionStorage.setItem(placeOf(view), JSON.stringify(memory));
  } catch {
    // Storage is full or disabled: the state is lost on reload.
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

/** Checks stored data, which may come from another version of the page or from another page. */
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
