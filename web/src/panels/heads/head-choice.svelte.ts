/** Heads, of which one is chosen and some may be off, and the cell of its map that is read out. */
import type { Head } from 'glassformer';
import type { AttentionKind, HeadPosition } from './position.ts';
import type { Link } from '../../ui/link.ts';
import {
  orders,
  ordersOf,
  rolesOf,
  type HeadOrder,
  type Measured,
  type MeasuredHead,
  type Role,
} from './head-roles.ts';
import type { Trace } from '../attention/query-key.ts';
import {
  strongestCell,
  weightAt,
  type Cell,
  type Habit,
  type Matrix,
} from '../attention/attention.ts';

export type { AttentionKind, HeadPosition };

/** How a heat map's cell is read out: before the query, and between query and key. */
export type Reader = readonly [before: string, between: string];

/** How the chosen head is drawn. */
export const drawings = ['map', 'lines', 'table'] as const;
export type Drawing = (typeof drawings)[number];

/** The attention that is on view: what heads are chosen from. */
export interface AttentionOnView<Kind extends AttentionKind = AttentionKind> {
  readonly attention: Kind;
  readonly layers: number;
  readonly heads: number;
  /** A head's attention; undefined before there is any. */
  matrixOf(head: HeadPosition): Matrix | undefined;
  readonly queryLabels: readonly string[];
  readonly keyLabels: readonly string[];
  readonly reader: Reader;
  /** What a head mostly does with this text. */
  habitOf(matrix: Matrix): Habit;
  /** What the attention was read of; another one once it is read anew. */
  readonly readOf?: object | undefined;
  /** Traces tensors of what is on view, as it is with the interventions. */
  traceOf?(names: readonly string[]): Promise<Trace>;
  /** The cell that is read out before one is pointed at; by default that of the largest weight. */
  firstCellOf?(matrix: Matrix): Cell;
  /** Whether nothing can be switched yet: the model is still to come. */
  readonly frozen?: boolean;
}

export class HeadChoice<Kind extends AttentionKind = AttentionKind> {
  selected = $state.raw<HeadPosition>({ layer: 0, head: 0 });
  cell = $state.raw<Cell>({ query: 0, key: 0 });
  /** Whether `cell` was pointed at; until then it follows the strongest weight. */
  pointed = $state(false);
  /** Whether `cell` stays where it is, whatever the pointer passes over. */
  pinned = $state(false);
  /** What was measured of the model's heads, where that is known. */
  measured = $state.raw<Measured>();
  #order = $state<HeadOrder>('layer');
  drawing = $state<Drawing>('map');

  /** The heads that are switched off, of whatever attention; set, without a word to `onswitch`. */
  off = $state.raw<readonly Head<Kind>[]>([]);

  readonly view: AttentionOnView<Kind>;
  readonly #onswitch: () => void;

  /** `onswitch`: heads were switched off or on. */
  constructor(view: AttentionOnView<Kind>, onswitch: () => void) {
    this.view = view;
    this.#onswitch = onswitch;
  }

  isOff({ layer, head }: HeadPosition): boolean {
    const { attention } = this.view;
    return this.off.some(
      (each) => each.attention === attention && each.layer === layer && each.head === head,
    );
  }

  toggle(head: HeadPosition): void {
    this.#switch([head], this.isOff(head));
  }

  toggleLayer(layer: number): void {
    const heads = Array.from({ length: this.view.heads }, (_, head) => ({ layer, head }));
    this.#switch(
      heads,
      heads.every((head) => this.isOff(head)),
    );
  }

  #switch(heads: readonly HeadPosition[], on: boolean): void {
    const { attention, frozen } = this.view;
    if (frozen) return;
    const others = this.off.filter(
      (off) =>
        !heads.some(
          ({ layer, head }) =>
            layer === off.layer && head === off.head && off.attention === attention,
        ),
    );
    this.off = on ? others : [...others, ...heads.map((head) => ({ attention, ...head }))];
    this.#onswitch();
  }

  /** Of another model's heads, only those that this one has stay chosen and off. */
  keep(exists: (head: Head<Kind>) => boolean): void {
    if (!exists({ attention: this.view.attention, ...this.selected }))
      this.selected = { layer: 0, head: 0 };
    this.off = this.off.filter(exists);
  }

  select(head: HeadPosition): void {
    this.selected = head;
    if (!this.pointed) this.#followStrongest();
  }

  point(cell: Cell): void {
    this.cell = cell;
    this.pointed = true;
  }

  /** The pointer passes over what the cell belongs to. */
  hover(cell: Cell): void {
    if (!this.pinned) this.point(cell);
  }

  /** Holds a cell, or lets it go where it was held already. */
  pin(cell: Cell): void {
    const again = cell.query === this.cell.query && cell.key === this.cell.key;
    this.pinned = !(this.pinned && again);
    this.point(cell);
  }

  /** The cell follows the strongest weight again. */
  letGo(): void {
    this.pointed = this.pinned = false;
    this.#followStrongest();
  }

  /** How heads are sorted and drawn, as a link says it. */
  get link(): Link {
    const order = this.#order;
    const { drawing } = this;
    return {
      ...(order !== orders[0] && { sort: order }),
      ...(drawing !== drawings[0] && { draw: drawing }),
    };
  }

  /** Sorts and draws them as a link says. */
  take(link: Link): void {
    this.#order = orders.find((each) => each === link.sort) ?? orders[0];
    this.drawing = drawings.find((each) => each === link.draw) ?? drawings[0];
  }

  /** What was measured of a head of the attention on view. */
  measuredOf({ layer, head }: HeadPosition): MeasuredHead | undefined {
    return this.measuredHeads.find((each) => each.layer === layer && each.head === head);
  }

  /** Of all of them; none where not every one was measured. */
  get measuredHeads(): readonly MeasuredHead[] {
    return this.#measuredHeads;
  }

  readonly #measuredHeads = $derived.by(() => {
    const { attention, layers, heads } = this.view;
    const own = this.measured?.heads.filter((each) => each.attention === attention) ?? [];
    return own.length === layers * heads ? own : [];
  });

  /** What distinguishes a measured head from the others; undefined where nothing does. */
  roleOf(head: MeasuredHead): Role | undefined {
    return this.#roles.get(head);
  }

  readonly #roles = $derived.by(() => {
    const roles = rolesOf(this.#measuredHeads);
    return new Map(this.#measuredHeads.map((head, i) => [head, roles[i]]));
  });

  /** What the heads can be sorted by. */
  get orders(): readonly HeadOrder[] {
    return ordersOf(this.measuredHeads);
  }

  /** What they are sorted by; another attention may not have what was chosen for this one. */
  get order(): HeadOrder {
    return this.orders.includes(this.#order) ? this.#order : 'layer';
  }

  set order(order: HeadOrder) {
    this.#order = order;
  }

  /** The chosen head's attention. */
  get matrix(): Matrix | undefined {
    return this.view.matrixOf(this.selected);
  }

  /** The key that a query looks at most. */
  strongestKeyOf(query: number): number {
    const { matrix } = this;
    if (!matrix) return 0;
    const row = matrix.weights.subarray(query * matrix.keys, (query + 1) * matrix.keys);
    return row.reduce((best, weight, key) => (weight > row[best]! ? key : best), 0);
  }

  /** The query that looks at a key most. */
  strongestQueryOf(key: number): number {
    const { matrix } = this;
    if (!matrix) return 0;
    let best = 0;
    for (let query = 1; query < matrix.queries; query++)
      if (weightAt(matrix, { query, key }) > weightAt(matrix, { query: best, key })) best = query;
    return best;
  }

  /** Keeps the cell inside a new matrix, and at the strongest weight unless it was pointed at. */
  followMatrix(): void {
    const { matrix, cell } = this;
    const within = matrix && cell.query < matrix.queries && cell.key < matrix.keys;
    if (this.pointed && within) return;
    this.letGo();
  }

  #followStrongest(): void {
    const { matrix, view } = this;
    if (matrix) this.cell = view.firstCellOf?.(matrix) ?? strongestCell(matrix);
  }
}
