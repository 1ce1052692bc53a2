/** The page's state: the model, the text, what the model made of it, and the interventions. */
import {
  Classifier,
  GlassformerError,
  type Classification,
  type ClassifyOptions,
  type Head,
  type ClassifierInfo,
} from 'glassformer';
import { SvelteMap, SvelteSet } from 'svelte/reactivity';
import { strongestCell, type Cell, type Matrix } from './attention.ts';
import { evidence, tokenEvidence } from './evidence.ts';
import { loadFailure, readFailure, type Failure } from './failure.ts';
import type { Permalink } from './permalink.ts';
import { shownTokens, type ShownToken } from './tokens.ts';

/** A text together with what the model made of it. */
export interface Reading {
  text: string;
  result: Classification;
  shown: ShownToken[];
}

/** What leaving out each of several things takes from the evidence; NaN where not known. */
export interface Effects {
  of: Reading;
  values: Float32Array;
  done: boolean;
}

export interface HeadPosition {
  layer: number;
  head: number;
}

/** Bytes of the model's files, by name: see model in vite.config.ts. */
declare const modelSizes: Record<string, number>;

/** Typing is read after a pause of this many milliseconds, or of one reading if that takes longer. */
const pause = 40;

/** Each token is left out in turn: a text of more would take too long. */
export const longestForRemoval = 256;

const keyOf = ({ layer, head }: HeadPosition) => `${layer}.${head}`;

export class Explorer {
  phase = $state<'loading' | 'ready' | 'failed'>('loading');
  failure = $state.raw<Failure>();
  readonly progress = new SvelteMap<string, { loaded: number; total: number | undefined }>();
  info = $state.raw<ClassifierInfo>();

  text = $state('');
  /** Whether what is shown is older than the text or the interventions. */
  busy = $state(true);
  /** With the interventions; undefined before the first reading and for a text without tokens. */
  reading = $state.raw<Reading>();
  /** The same text without interventions. */
  untouched = $state.raw<Reading>();
  /** From call to answer, the worker's round trip and the copy of all attention included. */
  milliseconds = $state<number>();

  selected = $state.raw<HeadPosition>({ layer: 0, head: 0 });
  cell = $state.raw<Cell>({ query: 0, key: 0 });
  /** Whether `cell` was pointed at; until then it follows the strongest weight. */
  pointed = $state(false);

  /** Of this reading or, until it has been measured, of the one before. */
  tokenEffects = $state.raw<Effects>();
  headEffects = $state.raw<Effects>();

  #off = new SvelteSet<string>();
  #hidden = new SvelteSet<number>();
  #classifier: Classifier | undefined;
  #reading = new AbortController();
  #measuring = { tokens: new AbortController(), heads: new AbortController() };
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(link: Partial<Permalink>, text: string) {
    this.text = link.text ?? text;
    if (link.head) this.selected = link.head;
    for (const head of link.off ?? []) this.#off.add(keyOf(head));
    if (link.text !== undefined) for (const token of link.hidden ?? []) this.#hidden.add(token);
  }

  /** Shows what a link says. */
  open(link: Partial<Permalink>): void {
    if (link.text !== undefined) this.text = link.text;
    if (link.head && this.#exists(link.head)) this.selected = link.head;
    this.#off.clear();
    for (const head of link.off ?? []) if (this.#exists(head)) this.#off.add(keyOf(head));
    this.#hidden.clear();
    for (const token of link.hidden ?? []) this.#hidden.add(token);
    this.pointed = false;
    void this.#read();
  }

  async load(folder: URL): Promise<void> {
    this.phase = 'loading';
    this.failure = undefined;
    for (const [file, total] of Object.entries(modelSizes))
      this.progress.set(file, { loaded: 0, total });
    try {
      this.#classifier = await Classifier.load(folder, {
        onProgress: ({ file, loaded, total }) =>
          this.progress.set(file, { loaded, total: total ?? modelSizes[file] }),
      });
    } catch (error) {
      this.failure = loadFailure(error);
      this.phase = 'failed';
      return;
    }
    this.info = this.#classifier.info;
    if (!this.#exists(this.selected)) this.selected = { layer: 0, head: 0 };
    for (const head of this.off) if (!this.#exists(head)) this.#off.delete(keyOf(head));
    this.phase = 'ready';
    await this.#read();
  }

  /** The text was edited: tokens are other ones now, so none stays hidden. */
  edit(text: string): void {
    this.text = text;
    this.busy = true;
    this.#hidden.clear();
    this.pointed = false;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#read(), Math.max(pause, this.milliseconds ?? 0));
  }

  get labels(): readonly string[] {
    return this.info?.labels ?? [];
  }

  get off(): Head[] {
    return [...this.#off].map((key) => {
      const [layer = 0, head = 0] = key.split('.').map(Number);
      return { attention: 'encoder', layer, head };
    });
  }

  get hidden(): number[] {
    return [...this.#hidden].sort((a, b) => a - b);
  }

  get touched(): boolean {
    return this.#off.size + this.#hidden.size > 0;
  }

  isOff(head: HeadPosition): boolean {
    return this.#off.has(keyOf(head));
  }

  isHidden(token: number): boolean {
    return this.#hidden.has(token);
  }

  isLayerOff(layer: number): boolean {
    return this.#headsOf(layer).every((head) => this.isOff(head));
  }

  toggleHead(head: HeadPosition): void {
    if (!this.#off.delete(keyOf(head))) this.#off.add(keyOf(head));
    void this.#read();
  }

  toggleLayer(layer: number): void {
    const on = this.isLayerOff(layer);
    for (const head of this.#headsOf(layer)) {
      if (on) this.#off.delete(keyOf(head));
      else this.#off.add(keyOf(head));
    }
    void this.#read();
  }

  toggleToken(token: number): void {
    if (!this.#hidden.delete(token)) this.#hidden.add(token);
    void this.#read();
  }

  reset(): void {
    this.#off.clear();
    this.#hidden.clear();
    void this.#read();
  }

  select(head: HeadPosition): void {
    this.selected = head;
    if (!this.pointed) this.#followStrongest();
  }

  /** The key that a query looks at most. */
  strongestKeyOf(query: number): number {
    const { matrix } = this;
    if (!matrix) return 0;
    const row = matrix.weights.subarray(query * matrix.keys, (query + 1) * matrix.keys);
    return row.reduce((best, weight, key) => (weight > row[best]! ? key : best), 0);
  }

  point(cell: Cell): void {
    this.cell = cell;
    this.pointed = true;
  }

  /** The chosen head's attention. */
  get matrix(): Matrix | undefined {
    const map = this.reading?.result.attention?.encoder;
    if (!map) return undefined;
    const { layer, head } = this.selected;
    return { weights: map.at(layer, head), queries: map.queries, keys: map.keys };
  }

  /** Each token's part of the evidence, as the model's last vectors have it. */
  get contributions(): Float32Array | undefined {
    return this.reading && tokenEvidence(this.reading.result, this.labels);
  }

  get evidence(): number {
    return this.reading ? evidence(this.reading.result, this.labels) : 0;
  }

  /** The effects of leaving out each token, as far as known: an edit leaves those around it. */
  get effectsOnTokens(): Float32Array | undefined {
    const { reading, tokenEffects } = this;
    if (!reading || !tokenEffects || tokenEffects.of === reading) return tokenEffects?.values;
    return carryOver(tokenEffects, reading);
  }

  /** Hides each token in turn and notes how far the evidence falls. */
  async measureTokens(): Promise<void> {
    const { reading, hidden } = this;
    if (!reading || reading.shown.length > longestForRemoval) return;
    const known = this.effectsOnTokens ?? new Float32Array(reading.shown.length).fill(NaN);
    await this.#measure(
      'tokens',
      reading,
      known,
      (token) => ({ maskTokens: [...hidden, token], ablate: this.off }),
      (token) => !hidden.includes(token) && hidden.length + 1 < reading.shown.length,
    );
  }

  /** Switches each head off in turn and notes how far the evidence falls: [layers × heads]. */
  async measureHeads(): Promise<void> {
    const { reading, info, off, hidden } = this;
    if (!reading || !info) return;
    const count = info.layers * info.heads;
    const known = this.headEffects?.values ?? new Float32Array(count).fill(NaN);
    const at = (i: number) => ({ layer: Math.floor(i / info.heads), head: i % info.heads });
    await this.#measure(
      'heads',
      reading,
      known,
      (i) => ({ maskTokens: hidden, ablate: [...off, { attention: 'encoder', ...at(i) }] }),
      (i) => !this.isOff(at(i)),
    );
  }

  #headsOf(layer: number): HeadPosition[] {
    return Array.from({ length: this.info?.heads ?? 0 }, (_, head) => ({ layer, head }));
  }

  /** Before the model is loaded every head may exist. */
  #exists({ layer, head }: HeadPosition): boolean {
    return !this.info || (layer < this.info.layers && head < this.info.heads);
  }

  #followStrongest(): void {
    if (this.matrix) this.cell = strongestCell(this.matrix);
  }

  async #read(): Promise<void> {
    clearTimeout(this.#timer);
    this.#reading.abort();
    this.#measuring.tokens.abort();
    this.#measuring.heads.abort();
    const controller = (this.#reading = new AbortController());
    const { signal } = controller;
    const { text } = this;
    const classifier = this.#classifier;
    if (!classifier) return;
    this.failure = undefined;
    this.busy = true;
    if (text.trim() === '') {
      this.#show(undefined, undefined);
      return;
    }
    try {
      const read = async (options: object): Promise<Reading> => {
        const start = performance.now();
        const all = { attention: true, contributions: true, signal, ...options };
        const result = await classifier.classify(text, all);
        this.milliseconds = performance.now() - start;
        return { text, result, shown: shownTokens(text, result.tokens) };
      };
      const untouched = this.untouched?.text === text ? this.untouched : await read({});
      // A link may name tokens that this text does not have.
      for (const token of this.hidden)
        if (token >= untouched.shown.length) this.#hidden.delete(token);
      if (!this.touched) this.#show(untouched, untouched);
      else if (this.hidden.length === untouched.shown.length) this.#show(undefined, untouched);
      else this.#show(await read({ ablate: this.off, maskTokens: this.hidden }), untouched);
    } catch (error) {
      if (signal.aborted) return;
      this.#show(undefined, undefined);
      // A text without tokens is as good as none.
      if (error instanceof GlassformerError && error.code === 'empty_input') return;
      this.failure = readFailure(error);
    }
  }

  #show(reading: Reading | undefined, untouched: Reading | undefined): void {
    this.busy = false;
    this.reading = reading;
    this.untouched = untouched;
    const count = reading?.shown.length ?? 0;
    if (!this.pointed || this.cell.query >= count || this.cell.key >= count)
      this.#followStrongest();
  }

  /** Reports into tokenEffects or headEffects, at first with what was known before. */
  async #measure(
    what: 'tokens' | 'heads',
    of: Reading,
    known: Float32Array,
    without: (i: number) => ClassifyOptions,
    measurable: (i: number) => boolean,
  ): Promise<void> {
    this.#measuring[what].abort();
    const { signal } = (this.#measuring[what] = new AbortController());
    const whole = evidence(of.result, this.labels);
    const values = known.slice();
    const reportEvery = 16;
    try {
      for (let i = 0; i < values.length; i++) {
        values[i] = NaN;
        if (measurable(i)) {
          const result = await this.#classifier!.classify(of.text, { ...without(i), signal });
          values[i] = whole - evidence(result, this.labels);
        }
        if (signal.aborted) return;
        const done = i === values.length - 1;
        if (!done && i % reportEvery !== reportEvery - 1) continue;
        const effects = { of, values: values.slice(), done };
        if (what === 'tokens') this.tokenEffects = effects;
        else this.headEffects = effects;
      }
    } catch (error) {
      if (!signal.aborted) this.failure = readFailure(error);
    }
  }
}

/** What was known of the tokens that an edit left alone at both ends of the text. */
function carryOver({ of, values }: Effects, reading: Reading): Float32Array {
  const before = of.result.tokens;
  const after = reading.result.tokens;
  const carried = new Float32Array(after.length).fill(NaN);
  let i = 0;
  while (i < after.length && before[i]?.id === after[i]!.id) carried[i] = values[i++]!;
  for (let j = 1; j <= after.length - i && before.at(-j)?.id === after.at(-j)!.id; j++) {
    carried[after.length - j] = values[values.length - j]!;
  }
  return carried;
}
