import { messageOf } from '../base/errors.js';
import { make } from './dom.js';
import { AttentionMapView, type ShownHead } from './map.js';
import { rampOf } from './paint.js';
import {
  partsOf,
  type AttentionKind,
  type AttentionResult,
  type Part,
  type Weights,
} from './result.js';
import { css } from './style.js';
import { AttentionTableView } from './table.js';

export const elementName = 'glassformer-attention';

const kindNames: Record<AttentionKind, string> = {
  encoder: 'Encoder',
  decoder: 'Decoder',
  cross: 'Cross',
};
const choices = ['sentence', 'attention', 'layer', 'head'] as const;
type Choice = (typeof choices)[number];

/** There are no elements where pages are rendered on a server. */
const Base: typeof HTMLElement = globalThis.HTMLElement ?? (class {} as typeof HTMLElement);

let sheet: CSSStyleSheet | undefined;
function styles(): CSSStyleSheet {
  if (sheet) return sheet;
  sheet = new CSSStyleSheet();
  sheet.replaceSync(css);
  return sheet;
}

/**
 * `<glassformer-attention>`: the heat map of a head, and controls to choose the head. It shows its
 * `result`, or the JSON in a `<script type="application/json">` in it. The attributes `attention`,
 * `layer`, `head` and `sentence` select the head, from 0; `theme`, "light" or "dark", overrides the
 * system's. An event `change` is sent when a person chooses.
 */
export class AttentionView extends Base {
  static observedAttributes: string[] = [...choices, 'theme'];

  #result: AttentionResult | string | undefined;
  #parts: Part[] = [];
  #map: AttentionMapView | undefined;
  #table: AttentionTableView | undefined;
  readonly #selects = new Map<Choice, HTMLSelectElement>();
  #room: HTMLElement | undefined;
  #error: HTMLElement | undefined;
  #scheme: MediaQueryList | undefined;
  #resized: ResizeObserver | undefined;
  #written: MutationObserver | undefined;
  #json = '';
  #waiting = false;

  /** The result to show. Throws `invalid_option` if it has no attention, or sizes do not match. */
  get result(): AttentionResult | string | undefined {
    return this.#result;
  }

  set result(result: AttentionResult | string | undefined) {
    this.#parts = result === undefined ? [] : partsOf(result);
    this.#result = result;
    this.#fail('');
    this.#later();
  }

  /** The kind of attention that is shown; one that the result has. */
  get attention(): AttentionKind {
    const wanted = this.getAttribute('attention') as AttentionKind;
    const kinds = [...(this.#part?.attention.keys() ?? [])];
    return kinds.includes(wanted) ? wanted : (kinds[0] ?? 'encoder');
  }

  set attention(kind: AttentionKind) {
    this.setAttribute('attention', kind);
  }

  /** Counts from 0, as in the package. The last one is used if there are fewer. */
  get layer(): number {
    return this.#number('layer', this.#weights?.layers);
  }

  set layer(layer: number) {
    this.setAttribute('layer', `${layer}`);
  }

  get head(): number {
    return this.#number('head', this.#weights?.heads);
  }

  set head(head: number) {
    this.setAttribute('head', `${head}`);
  }

  /** The sentence, of a translation of several. */
  get sentence(): number {
    return this.#number('sentence', this.#parts.length);
  }

  set sentence(sentence: number) {
    this.setAttribute('sentence', `${sentence}`);
  }

  /** The cell that is described, once it is drawn. */
  get cell(): { query: number; key: number; weight: number } | undefined {
    return this.#weights && this.#map?.shows ? this.#map.cell : undefined;
  }

  connectedCallback(): void {
    if (!this.shadowRoot) this.#build();
    // A value that was set before the element was defined hides the property.
    if (Object.hasOwn(this, 'result')) {
      const { result } = this;
      delete (this as { result?: unknown }).result;
      this.result = result;
    }
    this.#scheme = matchMedia('(prefers-color-scheme: dark)');
    this.#scheme.addEventListener('change', this.#later);
    this.#resized = new ResizeObserver(this.#later);
    this.#resized.observe(this);
    this.#written = new MutationObserver(() => this.#read());
    this.#written.observe(this, { childList: true, subtree: true, characterData: true });
    this.#read();
    this.#later();
  }

  disconnectedCallback(): void {
    this.#scheme?.removeEventListener('change', this.#later);
    this.#resized?.disconnect();
    this.#written?.disconnect();
  }

  attributeChangedCallback(): void {
    this.#later();
  }

  get #part(): Part | undefined {
    return this.#parts[this.sentence];
  }

  get #weights(): Weights | undefined {
    return this.#part?.attention.get(this.attention);
  }

  #number(name: Choice, count = 1): number {
    const value = Math.trunc(Number(this.getAttribute(name))) || 0;
    return Math.max(0, Math.min(count - 1, value));
  }

  #build(): void {
    const root = this.attachShadow({ mode: 'open' });
    root.adoptedStyleSheets = [styles()];
    const names = { sentence: 'Sentence', attention: 'Attention', layer: 'Layer', head: 'Head' };
    const labels = choices.map((choice) => {
      const select = make('select', { name: choice });
      select.addEventListener('change', () => {
        this.setAttribute(choice, select.value);
        this.dispatchEvent(new Event('change', { bubbles: true }));
      });
      this.#selects.set(choice, select);
      return make('label', {}, `${names[choice]} `, select);
    });
    this.#map = new AttentionMapView();
    this.#table = new AttentionTableView();
    this.#error = make('p', { class: 'error', role: 'alert' });
    const choice = make('div', { class: 'choice', part: 'choice' }, ...labels);
    this.#room = make('div', {}, choice, this.#map.element, this.#table.element);
    root.append(this.#error, this.#room);
  }

  /** Reads the JSON in the element, once it is there. */
  #read(): void {
    const json = this.querySelector('script[type="application/json"]')?.textContent?.trim() ?? '';
    if (json === this.#json) return;
    this.#json = json;
    try {
      this.result = json || undefined;
    } catch (error) {
      this.#fail(messageOf(error));
    }
  }

  #fail(message: string): void {
    if (this.#error) this.#error.textContent = message;
  }

  /** Draws once before the next frame, after any number of changes. */
  #later = (): void => {
    if (this.#waiting || !this.isConnected) return;
    this.#waiting = true;
    requestAnimationFrame(() => {
      this.#waiting = false;
      if (this.isConnected) this.#draw();
    });
  };

  #draw(): void {
    const weights = this.#weights;
    this.#room!.hidden = !weights;
    if (!weights) return;
    this.#offer(
      'sentence',
      this.#parts.map(({ name }, index) => [`${index}`, name]),
    );
    const kinds = [...this.#part!.attention.keys()];
    this.#offer(
      'attention',
      kinds.map((kind) => [kind, kindNames[kind]]),
    );
    this.#offer('layer', numbered(weights.layers));
    this.#offer('head', numbered(weights.heads));
    const head = this.#shown(weights);
    try {
      this.#map!.show(head, rampOf(getComputedStyle(this).getPropertyValue('--_ramp')));
    } catch (error) {
      this.#fail(messageOf(error));
    }
    this.#table!.show(head);
  }

  #shown({ data, heads, layers: _, ...weights }: Weights): ShownHead {
    const { attention, layer, head } = this;
    const size = weights.queries * weights.keys;
    const start = (layer * heads + head) * size;
    const name = `${kindNames[attention]} attention, layer ${layer + 1}, head ${head + 1}`;
    return { ...weights, weights: data.subarray(start, start + size), name };
  }

  /** Fills a control. Hides it if there is only one choice. */
  #offer(choice: Choice, options: readonly (readonly [string, string])[]): void {
    const select = this.#selects.get(choice)!;
    const same =
      select.options.length === options.length &&
      options.every(([value, text], i) => {
        const option = select.options[i]!;
        return option.value === value && option.text === text;
      });
    if (!same) {
      const made = options.map(([value, text]) => make('option', { value }, text));
      select.replaceChildren(...made);
    }
    select.value = `${this[choice]}`;
    select.closest('label')!.hidden = options.length < 2;
  }
}

const numbered = (count: number): [string, string][] =>
  Array.from({ length: count }, (_, index) => [`${index}`, `${index + 1}`]);
