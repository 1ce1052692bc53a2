import { make, place, weightText } from './dom.js';
import { paint, type HeadWeights } from './paint.js';

/** A head's attention weights, and the names of their rows and columns. */
export interface ShownHead extends HeadWeights {
  name: string;
  queryLabels: readonly string[];
  keyLabels: readonly string[];
}

/** The size of a label, in CSS pixels. */
const labelRoom = 13;

/**
 * The heat map of a head: a canvas, its tokens, and the cell that is described, which pointer and
 * arrow keys move. At first it is the cell with the largest weight.
 */
export class AttentionMapView {
  readonly element: HTMLElement;
  readonly #readout = make('p', { class: 'readout', 'aria-hidden': 'true' });
  readonly #spoken = make('p', { class: 'spoken', 'aria-live': 'polite' });
  readonly #canvas = make('canvas', { width: 1, height: 1 });
  readonly #plane = make('div', { class: 'plane', part: 'map' }, this.#canvas);
  readonly #rows = make('div', { class: 'rows' });
  readonly #columns = make('div', { class: 'columns' });
  readonly #map: HTMLElement;
  readonly #lines = ['row', 'column', 'point'].map((name) => make('i', { class: `line ${name}` }));
  readonly #rowHere = make('bdi', { class: 'here', dir: 'auto' });
  readonly #columnHere = make('bdi', { class: 'here', dir: 'auto' });
  #head: ShownHead | undefined;
  #ramp: Uint32Array = new Uint32Array(256);
  #query = 0;
  #key = 0;
  #pointed = false;
  #frame = 0;

  constructor() {
    this.#plane.append(...this.#lines);
    this.#map = make(
      'div',
      { class: 'map', role: 'application', tabindex: 0 },
      make(
        'div',
        { class: 'figure', 'aria-hidden': 'true' },
        this.#columns,
        this.#rows,
        this.#plane,
      ),
    );
    this.element = make('div', {}, this.#readout, this.#map, this.#spoken);
    this.#map.addEventListener('keydown', (event) => this.#press(event));
    for (const type of ['pointermove', 'pointerdown'] as const) {
      this.#plane.addEventListener(type, (event) => this.#point(event));
    }
  }

  show(head: ShownHead, ramp: Uint32Array): void {
    const before = this.#head;
    this.#head = head;
    this.#ramp = ramp;
    const sized = before?.queries === head.queries && before.keys === head.keys;
    if (!this.#pointed || !sized) this.#letGo();
    this.#map.setAttribute(
      'aria-label',
      `${head.name}. Rows are the tokens that look, columns those looked at. ` +
        'Arrow keys read the weights, Escape goes back to the largest.',
    );
    this.draw();
  }

  /** Draws everything in the available space. */
  draw(): void {
    const head = this.#head;
    if (!head) return;
    const longest = (labels: readonly string[]): number =>
      labels.reduce((most, label) => Math.max(most, Math.min(14, label.length)), 2);
    const { queries, keys } = head;
    const rows = longest(head.queryLabels);
    place(this.#map, { queries, keys, rows, columns: longest(head.keyLabels) });
    const { clientWidth: width, clientHeight: height } = this.#plane;
    const dots = Math.max(1, Math.ceil(Math.max(width, height) * devicePixelRatio));
    paint(this.#canvas, head, this.#ramp, dots);
    label(this.#rows, head.queryLabels, height / queries, this.#rowHere);
    label(this.#columns, head.keyLabels, width / keys, this.#columnHere);
    this.#mark();
  }

  /** Whether a head has been shown. */
  get shows(): boolean {
    return this.#head !== undefined;
  }

  /** The cell that is described. */
  get cell(): { query: number; key: number; weight: number } {
    const query = this.#query;
    const key = this.#key;
    const { weights, keys } = this.#head!;
    return { query, key, weight: weights[query * keys + key]! };
  }

  #letGo(): void {
    const { weights, keys } = this.#head!;
    const best = weights.reduce((best, weight, at) => (weight > weights[best]! ? at : best), 0);
    this.#query = Math.floor(best / keys);
    this.#key = best % keys;
    this.#pointed = false;
  }

  #move(query: number, key: number): void {
    const { queries, keys } = this.#head!;
    this.#query = Math.max(0, Math.min(queries - 1, query));
    this.#key = Math.max(0, Math.min(keys - 1, key));
    this.#pointed = true;
    this.#frame ||= requestAnimationFrame(() => {
      this.#frame = 0;
      this.#mark();
    });
  }

  /** Describes the cell in words, and by the lines over the map. */
  #mark(): void {
    const { queryLabels, keyLabels, queries, keys, causal } = this.#head!;
    const { query, key, weight } = this.cell;
    const value = causal && key > query ? 'not there yet' : weightText(weight);
    const word = (text: string): HTMLElement => make('q', {}, make('bdi', { dir: 'auto' }, text));
    const said = make('span', {}, word(queryLabels[query]!), ' looks at ', word(keyLabels[key]!));
    this.#readout.replaceChildren(said, make('output', {}, value));
    for (const line of this.#lines) place(line, { query, key, queries, keys });
    for (const [here, labels, at, count] of [
      [this.#rowHere, queryLabels, query, queries],
      [this.#columnHere, keyLabels, key, keys],
    ] as const) {
      here.textContent = labels[at]!;
      place(here, { at: (at + 0.5) / count });
    }
  }

  #point(event: PointerEvent): void {
    if (!this.#head || event.button > 0) return;
    const box = this.#plane.getBoundingClientRect();
    const along = (position: number, length: number, count: number): number =>
      Math.floor((position / length) * count);
    this.#move(
      along(event.clientY - box.top, box.height, this.#head.queries),
      along(event.clientX - box.left, box.width, this.#head.keys),
    );
  }

  #press(event: KeyboardEvent): void {
    if (!this.#head || event.altKey) return;
    const { queries, keys } = this.#head;
    const { query, key } = this.cell;
    const all = event.ctrlKey || event.metaKey;
    const places: Record<string, [number, number]> = {
      ArrowLeft: [query, key - 1],
      ArrowRight: [query, key + 1],
      ArrowUp: [query - 1, key],
      ArrowDown: [query + 1, key],
      Home: [all ? 0 : query, 0],
      End: [all ? queries : query, keys],
    };
    const to = Object.hasOwn(places, event.key) ? places[event.key] : undefined;
    if (to) this.#move(...to);
    else if (event.key === 'Escape') this.#letGo();
    else return;
    event.preventDefault();
    this.#mark();
    this.#spoken.textContent = this.#readout.innerText;
  }
}

/** Draws as many labels as fit, and the label of the current cell over them. */
function label(
  side: HTMLElement,
  labels: readonly string[],
  size: number,
  here: HTMLElement,
): void {
  const every = Math.max(1, Math.ceil(labelRoom / (size || labelRoom)));
  const shown: HTMLElement[] = [];
  for (let index = 0; index < labels.length; index += every) {
    const element = make('bdi', { dir: 'auto' }, labels[index]!);
    place(element, { at: (index + 0.5) / labels.length });
    shown.push(element);
  }
  side.replaceChildren(...shown, here);
}
