/** Which view is open, what each shows, and the addresses that say so. */
import { firstView, viewNamed, views, type View, type ViewState } from '../views.ts';
import { LaterState } from './later-state.svelte.ts';
import {
  embedded,
  hashFor,
  isEmbedded,
  linkAt,
  linkIn,
  longestText,
  viewIn,
  type Link,
} from './address.ts';
import { pack } from './packed-text.ts';

interface Drawing {
  Drawn: Awaited<ReturnType<View['component']>>['default'];
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
  /** The last text that was too long to stand in an address as it is, and how it stands there. */
  #packed = $state.raw<{ text: string; packed: string | undefined }>();

  /** Each view begins with its link. */
  constructor(view: View, links: ReadonlyMap<View, Link>) {
    this.view = view;
    this.#states = new Map(views.map((each) => [each, each.open(links.get(each) ?? {})]));
    this.#first = this.address;
  }

  get state(): ViewState {
    return this.#states.get(this.view)!;
  }

  /** What the open view is drawn by, and what it shows, once all of its code is there. */
  get drawing(): Promise<{ default: Drawing }> {
    const { view, state } = this;
    const shown = state instanceof LaterState ? state.fetched : state;
    return Promise.all([view.component(), shown]).then(([{ default: Drawn }, explorer]) => ({
      default: { Drawn, explorer },
    }));
  }

  /** Where a view is, as it was left. */
  addressOf(view: View): string {
    const address = this.pageAddressOf(view);
    return this.embedded ? embedded(address) : address;
  }

  /** The same in the whole page. */
  pageAddressOf(view: View): string {
    const { link } = this.#states.get(view)!;
    const packed = this.#packed?.text === link.text ? this.#packed?.packed : undefined;
    return hashFor(view === firstView ? undefined : view.name, link, packed);
  }

  /** Where the open view is alone, to be a part of another page. */
  get embedAddress(): string {
    return embedded(this.pageAddressOf(this.view));
  }

  get address(): string {
    return this.addressOf(this.view);
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
    history.replaceState(null, '', this.address);
    this.#written = location.hash;
  }

  /** The address follows what is shown, once that differs from what the page opened with. */
  follow(): void {
    // Somebody followed a link just now, and hashchange is still to come: it is not overwritten.
    if (location.hash !== this.#written) return;
    const unchanged = this.#written === '' && this.address === this.#first;
    if (!this.state.ready || unchanged) return;
    this.write();
    // Several frames of a page may show this one: what each shows, its address says.
    if (this.embedded) return;
    remember(this.view, { address: this.#written, link: this.state.link });
  }

  /** Somebody followed a link: a view's own, as the masthead has it, leaves the view as it is. */
  async visit(): Promise<void> {
    const { hash } = location;
    this.#written = hash;
    this.view = viewNamed(viewIn(hash));
    if (hash === this.address) return;
    const link = await linkAt(hash);
    if (location.hash === hash) this.state.follow(link);
  }
}

/** The views as the address says, and those that it does not tell of as this tab left them. */
export async function openPage(): Promise<OpenViews> {
  const { hash } = location;
  const opened = viewNamed(viewIn(hash));
  const known = isEmbedded(hash) ? () => undefined : remembered;
  const links = new Map(views.map((view) => [view, known(view)?.link ?? {}]));
  const bare = Object.keys(linkIn(hash)).length === 0;
  if (!bare && known(opened)?.address !== hash) links.set(opened, await linkAt(hash));
  return new OpenViews(opened, links);
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
