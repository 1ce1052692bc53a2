/** A view's state whose code is fetched once the view is opened; until then it is its links. */
import type { ViewState } from '../views.ts';
import type { Link } from './address.ts';

export class LaterState<State extends ViewState = ViewState> implements ViewState {
  #state = $state.raw<State>();
  #link = $state.raw<Link>({});
  #links: Link[];
  readonly #fetch: () => Promise<new (link: Link) => State>;
  #fetching: Promise<State> | undefined;

  constructor(link: Link, fetch: () => Promise<new (link: Link) => State>) {
    this.#link = link;
    this.#links = [link];
    this.#fetch = fetch;
  }

  /** The state itself; fetches its code where that was not done yet. */
  get fetched(): Promise<State> {
    return (this.#fetching ??= this.#fetch().then((State) => {
      const [first = {}, ...others] = this.#links;
      const state = new State(first);
      for (const link of others) state.follow(link);
      return (this.#state = state);
    }));
  }

  /** Whether its code has come. */
  get there(): boolean {
    return this.#state !== undefined;
  }

  start(): void {
    // Where its code does not come, the place that it was to be drawn in says so.
    void this.fetched.then((state) => state.start()).catch(() => undefined);
  }

  follow(link: Link): void {
    if (this.#state) this.#state.follow(link);
    else this.#links.push((this.#link = link));
  }

  get link(): Link {
    return this.#state?.link ?? this.#link;
  }

  get ready(): boolean {
    return this.#state?.ready ?? false;
  }

  get working(): boolean {
    return this.#state?.working ?? true;
  }
}

/** Opens a view so. */
export const later =
  <State extends ViewState>(fetch: () => Promise<new (link: Link) => State>) =>
  (link: Link): LaterState<State> =>
    new LaterState(link, fetch);
