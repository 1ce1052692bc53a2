/** The state of the collection of heads: the model, the order, and the head that is shown. */
import { measuredHeads } from '../../panels/heads/measured/measured-heads.ts';
import {
  inOrder,
  orders,
  ordersOf,
  type HeadOrder,
  type Measured,
  type MeasuredHead,
} from '../../panels/heads/head-roles.ts';
import type { Link } from '../../ui/link.ts';
import type { ViewState } from '../../ui/view.ts';
import { TextSearch } from './strongest/search.svelte.ts';
import { keyOf, zooNames, type ZooModel } from './zoo.ts';

export class HeadsExplorer implements ViewState {
  model = $state<ZooModel>('sentiment');
  order = $state<HeadOrder>('lost');
  /** The name of the head that is shown, as in a link. */
  key = $state<string>();
  measured = $state.raw<Measured>();
  /** Whether the measurements could not be fetched. */
  missing = $state(false);
  readonly search = new TextSearch();
  #fetching = $state(true);

  readonly viewpoint = ['model', 'head', 'order'];
  readonly ready = true;
  #started = false;

  constructor(link: Link) {
    this.#take(link);
  }

  start(): void {
    if (this.#started) return;
    this.#started = true;
    void this.fetch();
  }

  follow(link: Link): void {
    this.#take(link);
    if (this.#started) void this.fetch();
  }

  get working(): boolean {
    return this.#fetching || this.search.running;
  }

  get link(): Link {
    const { model, order, key } = this;
    return {
      model,
      ...(order !== 'lost' && { order }),
      ...(key !== undefined && { head: key }),
    };
  }

  get orders(): readonly HeadOrder[] {
    return ordersOf(this.measured?.heads ?? []);
  }

  /** The heads in the chosen order. */
  get heads(): readonly MeasuredHead[] {
    const { heads = [] } = this.measured ?? {};
    return this.order === 'layer' ? heads : inOrder(heads, this.order);
  }

  /** The head that is shown. */
  get head(): MeasuredHead | undefined {
    return this.measured?.heads.find((each) => keyOf(each) === this.key);
  }

  take(model: ZooModel): void {
    if (model !== this.model) this.search.stop();
    this.model = model;
    this.key = undefined;
    void this.fetch();
  }

  /** Fetches the measurements of the model. */
  async fetch(): Promise<void> {
    const { model } = this;
    this.#fetching = true;
    const measured = await measuredHeads(model);
    if (this.model !== model) return;
    this.measured = measured;
    this.missing = measured === undefined;
    this.#fetching = false;
  }

  #take({ model, order, head }: Link): void {
    const named = zooNames.find((each) => each === model) ?? this.model;
    if (named !== this.model) this.search.stop();
    this.model = named;
    this.order = orders.find((each) => each === order) ?? 'lost';
    this.key = head;
  }
}
