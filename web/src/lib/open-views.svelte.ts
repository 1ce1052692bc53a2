/** Which view is open, what each shows, and the addresses that say so. */
import { firstView, viewNamed, views, type View, type ViewState } from '../views.ts';
import { hashFor, linkIn, viewIn } from './address.ts';

export class OpenViews {
  view = $state.raw<View>(firstView);
  readonly #states: ReadonlyMap<View, ViewState>;
  /** The address as this page last wrote or read it. */
  #written = $state.raw(location.hash);
  /** What it would be if nothing had changed since the page was opened. */
  readonly #first: string;

  constructor(hash: string) {
    this.view = viewNamed(viewIn(hash));
    this.#states = new Map(
      views.map((each) => [each, each.open(each === this.view ? linkIn(hash) : {})]),
    );
    this.#first = this.address;
  }

  get state(): ViewState {
    return this.#states.get(this.view)!;
  }

  /** Where a view is, as it was left. */
  addressOf(view: View): string {
    const name = view === firstView ? undefined : view.name;
    return hashFor(name, this.#states.get(view)!.link);
  }

  get address(): string {
    return this.addressOf(this.view);
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
    if (this.state.ready && !unchanged) this.write();
  }

  /** Somebody followed a link: a view's own, as the masthead has it, leaves the view as it is. */
  visit(): void {
    const { hash } = location;
    this.#written = hash;
    this.view = viewNamed(viewIn(hash));
    if (hash !== this.address) this.state.follow(linkIn(hash));
  }
}

export const openPage = (): OpenViews => new OpenViews(location.hash);
