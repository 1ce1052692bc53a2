/** The state of a view whose code is fetched when the view opens. Until then it keeps the links. */
import type { Figured } from '../ui/figured.ts';
import type { Link } from '../ui/link.ts';
import type { ViewModule, ViewState } from '../ui/view.ts';

export class LaterState implements ViewState {
  #state = $state.raw<ViewState>();
  #link = $state.raw<Link>({});
  #links: Link[];
  readonly #fetch: () => Promise<{ default: ViewModule }>;
  #fetching: Promise<ViewState> | undefined;

  constructor(link: Link, fetch: () => Promise<{ default: ViewModule }>) {
    this.#link = link;
    this.#links = [link];
    this.#fetch = fetch;
  }

  /** The view's own state. Fetches its code on first use. */
  get fetched(): Promise<ViewState> {
    return (this.#fetching ??= this.#fetch().then(({ default: { open } }) => {
      const [first = {}, ...others] = this.#links;
      const state = open(first);
      for (const link of others) state.follow(link);
      return (this.#state = state);
    }));
  }

  /** Whether the code has been fetched. */
  get there(): boolean {
    return this.#state !== undefined;
  }

  start(): void {
    // If the code can't be fetched, the page shows a message in place of the view.
    void this.fetched.then((state) => state.start()).catch(() => undefined);
  }

  follow(link: Link): void {
    if (this.#state) this.#state.follow(link);
    else this.#links.push((this.#link = link));
  }

  get link(): Link {
    return this.#state?.link ?? this.#link;
  }

  get viewpoint(): readonly string[] {
    return this.#state?.viewpoint ?? [];
  }

  get ready(): boolean {
    return this.#state?.ready ?? false;
  }

  get working(): boolean {
    return this.#state?.working ?? true;
  }

  get figure(): Figured | undefined {
    return this.#state?.figure;
  }

  async takeDropped(entries: readonly FileSystemEntry[]): Promise<void> {
    await (await this.fetched).takeDropped?.(entries);
  }
}
