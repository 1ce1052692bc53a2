/** The selected head, the heads that are off, and the selected cell of the attention weights. */
import type { Head } from 'glassformer';
import type { AttentionKind, HeadPosition } from './position.ts';
import type { Link } from '../../ui/link.ts';
import { orders, ordersOf, type HeadOrder, type Measured, type MeasuredHead } from './measured.ts';
import type { Trace } from '../attention/query-key.ts';
import {
  matrixIn,
  strongestCell,
  weightAt,
  type Cell,
  type Matrix,
} from '../attention/attention.ts';
import type { TextAttention } from '../attention/text-attention.ts';

export type { AttentionKind, HeadPosition };

/** A head in a link, which names its kind of attention only if the view shows several. */
type LinkedHead<Kind extends AttentionKind> = HeadPosition & { attention?: Kind };

/** How the selected head is displayed. */
export const drawings = ['map', 'lines', 'table'] as const;
export type Drawing = (typeof drawings)[number];

/** The attention whose heads are shown. */
export interface AttentionOnView<Kind extends AttentionKind = AttentionKind> {
  readonly attention: Kind;
  readonly layers: number;
  readonly heads: number;
  /** Shows another kind of attention, if there are several. */
  look?(attention: Kind): void;
  /** Returns the number of layers with another kind of attention; by default, `layers`. */
  layersOf?(attention: Kind): number;
  /** The attention weights of the shown text, if there are any; a new run has new ones. */
  readonly attended: TextAttention | undefined;
  /** Traces tensors of the shown result, with its interventions. */
  traceOf?(names: readonly string[]): Promise<Trace>;
  /** Returns the cell selected at first; by default, the one with the largest weight. */
  firstCellOf?(matrix: Matrix): Cell;
  /** Whether nothing can be switched yet, because the model is not loaded. */
  readonly frozen?: boolean;
}

export class HeadChoice<Kind extends AttentionKind = AttentionKind> {
  selected = $state.raw<HeadPosition>({ layer: 0, head: 0 });
  cell = $state.raw<Cell>({ query: 0, key: 0 });
  /** Whether a cell was pointed at; until then, `cell` follows the largest weight. */
  pointed = $state(false);
  /** Whether `cell` stays when the pointer moves over others. */
  pinned = $state(false);
  /** The measurements of the model's heads, if there are any. */
  measured = $state.raw<Measured>();
  #order = $state<HeadOrder>('layer');
  drawing = $state<Drawing>('map');

  /** The heads that are off, of all kinds of attention. Setting this does not call `onswitch`. */
  off = $state.raw<readonly Head<Kind>[]>([]);

  readonly view: AttentionOnView<Kind>;
  readonly #onswitch: () => void;

  /** `onswitch` is called after heads are switched off or on. */
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

  /** Whether the model has a head. Any may exist until the model is loaded. */
  exists({ attention, layer, head }: Head<Kind>): boolean {
    const { view } = this;
    if (view.frozen) return true;
    return layer < (view.layersOf?.(attention) ?? view.layers) && head < view.heads;
  }

  /** After a change of the model, keeps only heads that exist in the new one. */
  keep(): void {
    if (!this.exists({ attention: this.view.attention, ...this.selected }))
      this.selected = { layer: 0, head: 0 };
    this.off = this.off.filter((head) => this.exists(head));
  }

  /** After a change of the shown attention, selects a head that it has. */
  stayWithin(): void {
    const { layers, heads } = this.view;
    const { layer, head } = this.selected;
    this.selected = { layer: Math.min(layer, layers - 1), head: Math.min(head, heads - 1) };
    this.letGo();
  }

  select(head: HeadPosition): void {
    this.selected = head;
    if (!this.pointed) this.#followStrongest();
  }

  point(cell: Cell): void {
    this.cell = cell;
    this.pointed = true;
  }

  /** Selects a cell under the pointer, unless a cell is pinned. */
  hover(cell: Cell): void {
    if (!this.pinned) this.point(cell);
  }

  /** Pins a cell, or unpins it if it is already pinned. */
  pin(cell: Cell): void {
    const again = cell.query === this.cell.query && cell.key === this.cell.key;
    this.pinned = !(this.pinned && again);
    this.point(cell);
  }

  /** Unpins the cell, so that it follows the largest weight again. */
  letGo(): void {
    this.pointed = this.pinned = false;
    this.#followStrongest();
  }

  /** The order and display of the heads in a link. */
  get link(): Link {
    const order = this.#order;
    const { drawing } = this;
    return {
      ...(order !== orders[0] && { sort: order }),
      ...(drawing !== drawings[0] && { draw: drawing }),
    };
  }

  /** Takes the heads, their order and their display from a link. */
  take(link: Link, head: HeadPosition | undefined, off: readonly LinkedHead<Kind>[]): void {
    const { attention } = this.view;
    if (head && this.exists({ attention, ...head })) this.selected = head;
    this.off = off.map((each) => ({ attention, ...each })).filter((each) => this.exists(each));
    this.#order = orders.find((each) => each === link.sort) ?? orders[0];
    this.drawing = drawings.find((each) => each === link.draw) ?? drawings[0];
    this.letGo();
  }

  /** Returns the measurements of a head of the shown attention. */
  measuredOf({ layer, head }: HeadPosition): MeasuredHead | undefined {
    return this.measuredHeads.find((each) => each.layer === layer && each.head === head);
  }

  /** The measurements of all heads of the shown attention; empty if any is missing. */
  get measuredHeads(): readonly MeasuredHead[] {
    return this.#measuredHeads;
  }

  readonly #measuredHeads = $derived.by(() => {
    const { attention, layers, heads } = this.view;
    const own = this.measured?.heads.filter((each) => each.attention === attention) ?? [];
    return own.length === layers * heads ? own : [];
  });

  /** The orders that the heads can be sorted by. */
  get orders(): readonly HeadOrder[] {
    return ordersOf(this.measuredHeads);
  }

  /** The order of the heads. An order that the shown attention lacks counts as `layer`. */
  get order(): HeadOrder {
    return this.orders.includes(this.#order) ? this.#order : 'layer';
  }

  set order(order: HeadOrder) {
    this.#order = order;
  }

  /** Returns a head's attention weights, or undefined before the first run. */
  matrixOf(head: HeadPosition): Matrix | undefined {
    const { attention, attended } = this.view;
    return matrixIn(attended?.maps[attention], head, attention === 'decoder');
  }

  /** The attention weights of the selected head. */
  get matrix(): Matrix | undefined {
    return this.matrixOf(this.selected);
  }

  /** Returns the key that a query attends to most. */
  strongestKeyOf(query: number): number {
    const { matrix } = this;
    if (!matrix) return 0;
    const row = matrix.weights.subarray(query * matrix.keys, (query + 1) * matrix.keys);
    return row.reduce((best, weight, key) => (weight > row[best]! ? key : best), 0);
  }

  /** Returns the query that attends to a key most. */
  strongestQueryOf(key: number): number {
    const { matrix } = this;
    if (!matrix) return 0;
    let best = 0;
    for (let query = 1; query < matrix.queries; query++)
      if (weightAt(matrix, { query, key }) > weightAt(matrix, { query: best, key })) best = query;
    return best;
  }

  /** Keeps the cell inside a new matrix, and at the largest weight unless it was pointed at. */
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
