/** The sentiment view's state: the text, the model's result, and the interventions. */
import { Classifier, type Classification } from 'glassformer';
import type { Matrix } from '../../panels/attention/attention.ts';
import type { Figured } from '../../ui/figured.ts';
import { percent } from '../../ui/text/format.ts';
import { evidence, tokenEvidence } from '../../panels/ledger/evidence.ts';
import type { Link } from '../../ui/link.ts';
import { sentimentBeforehand, type SentimentBeforehand } from '../../models/beforehand.ts';
import { Earlier } from '../../models/earlier.svelte.ts';
import { examples } from '../../panels/verdict/reviews.ts';
import { Explorer } from '../../models/explorer.svelte.ts';
import {
  HeadChoice,
  type AttentionOnView,
  type HeadPosition,
  type Reader,
} from '../../panels/heads/head-choice.svelte.ts';
import { ModelLoader } from '../../models/model-loader.svelte.ts';
import type { Trace } from '../../panels/attention/query-key.ts';
import { fromSentimentLink, toSentimentLink } from './link.ts';
import { carried, shownTokens, type ShownToken } from '../../panels/words/tokens.ts';

/** A text together with the model's result. */
export interface Reading {
  text: string;
  result: Classification;
  shown: ShownToken[];
}

/** Δ of the log-odds without each token or head, after − before; NaN if unknown. */
export interface Effects {
  of: Reading;
  values: Float32Array;
  done: boolean;
}

/** Delay between typing and the model's run, in milliseconds; longer if a run takes longer. */
const pause = 40;

export class SentimentExplorer extends Explorer<Classifier> implements AttentionOnView<'encoder'> {
  readonly attention = 'encoder';
  readonly reader: Reader = ['', 'attends to'];
  readonly loader = new ModelLoader(() => Classifier);
  readonly choice = new HeadChoice<'encoder'>(this, () => {
    this.earlier.rest();
    void this.refresh();
  });
  /** The result before the text was edited. */
  readonly earlier = new Earlier<Reading>();

  text = $state('');

  /** With the interventions; undefined before the first run and for a text without tokens. */
  reading = $state.raw<Reading>();
  /** The same text without interventions. */
  untouched = $state.raw<Reading>();

  /** The effects for this result or, until they are measured, for the one before. */
  tokenEffects = $state.raw<Effects>();
  headEffects = $state.raw<Effects>();

  /** The part that the view should scroll to. */
  part = $state<string>();

  /** The number of hidden tokens that an edit changed, so that they are no longer hidden. */
  unhidden = $state(0);

  /** The result shown until the model is loaded, if it was computed when the page was built. */
  #beforehand = $state.raw<SentimentBeforehand>();

  /** Hidden tokens, in the order of the text. */
  hidden = $state.raw<readonly number[]>([]);
  /** The result whose tokens those are; undefined until the text is read. */
  #hiddenOf: Reading | undefined;
  /** Aborted when the effects are measured again, or the text changes. */
  measuring = { tokens: new AbortController(), heads: new AbortController() };

  constructor(link: Link) {
    super();
    this.text = examples[0]!.text;
    this.#take(link);
    this.#showBeforehand();
  }

  async load(): Promise<void> {
    if (!(await this.loader.load('sentiment'))) {
      this.#dropBeforehand();
      return;
    }
    this.choice.keep();
    void this.refresh();
  }

  follow(link: Link): void {
    this.earlier.forget();
    this.#take(link);
    void this.refresh();
  }

  readonly viewpoint = ['head'];

  get link(): Link {
    const { text, choice, hidden } = this;
    const own = toSentimentLink({ text, head: choice.selected, off: choice.off, hidden });
    return { ...own, ...choice.link };
  }

  get figure(): Figured {
    const { untouched, choice, text } = this;
    const [best] = Object.entries(this.reading?.result.scores ?? {}).sort((a, b) => b[1] - a[1]);
    return {
      architecture: this.architecture ?? this.#beforehand?.architecture,
      rows: { encoder: untouched?.result.tokens.length },
      answer: best && `${best[0]} ${percent(best[1])}`,
      here: { parts: ['attention'], layer: choice.selected.layer },
      inside: { model: 'sentiment', text },
      ...(this.ready && { traceOf: (names) => this.traceOf(names) }),
    };
  }

  /** Whether the shown result was precomputed and cannot be changed yet. */
  get beforehand(): boolean {
    return this.#beforehand !== undefined;
  }

  /** Edits the text. Hidden tokens that are still there stay hidden. */
  edit(text: string): void {
    this.earlier.typed(this.reading);
    this.#change(text);
  }

  /** Shows an example. */
  show(text: string): void {
    this.earlier.forget();
    this.#change(text);
  }

  #change(text: string): void {
    this.#dropBeforehand();
    this.text = text;
    this.choice.letGo();
    this.refreshAfter(Math.max(pause, this.milliseconds ?? 0));
  }

  get labels(): readonly string[] {
    return this.loader.info?.labels ?? this.#beforehand?.labels ?? [];
  }

  get layers(): number {
    return this.loader.info?.layers ?? 4;
  }

  get heads(): number {
    return this.loader.info?.heads ?? 8;
  }

  get queryLabels(): readonly string[] {
    return this.reading?.shown.map(({ label }) => label) ?? [];
  }

  get keyLabels(): readonly string[] {
    return this.queryLabels;
  }

  matrixOf({ layer, head }: HeadPosition): Matrix | undefined {
    const map = this.reading?.result.attention?.encoder;
    return map && { weights: map.at(layer, head), queries: map.queries, keys: map.keys };
  }

  get readOf(): Reading | undefined {
    return this.reading;
  }

  async traceOf(trace: readonly string[]): Promise<Trace> {
    const { reading, hidden } = this;
    if (!reading || !this.loader.model) return {};
    const options = { ablate: this.choice.off, maskTokens: hidden, trace };
    return (await this.loader.model.classify(reading.text, options)).trace;
  }

  get touched(): boolean {
    return this.choice.off.length + this.hidden.length > 0;
  }

  isHidden(token: number): boolean {
    return this.hidden.includes(token);
  }

  toggleToken(token: number): void {
    if (this.frozen) return;
    this.earlier.rest();
    this.unhidden = 0;
    this.hidden = this.isHidden(token)
      ? this.hidden.filter((each) => each !== token)
      : [...this.hidden, token].sort((a, b) => a - b);
    void this.refresh();
  }

  /** Undoes all interventions. */
  reset(): void {
    this.earlier.rest();
    this.hidden = [];
    this.unhidden = 0;
    this.choice.off = [];
    void this.refresh();
  }

  /** Each token's share of the log-odds, computed from its last vector. */
  get contributions(): Float32Array | undefined {
    return this.reading && tokenEvidence(this.reading.result, this.labels);
  }

  get evidence(): number {
    return this.reading ? evidence(this.reading.result, this.labels) : 0;
  }

  /** Takes the state from a link. */
  #take(link: Link): void {
    const { text, head, off = [], hidden = [] } = fromSentimentLink(link);
    this.#dropBeforehand();
    if (text !== undefined) this.text = text;
    this.part = link.part;
    this.hidden = [...new Set(hidden)].sort((a, b) => a - b);
    this.#hiddenOf = undefined;
    this.unhidden = 0;
    this.choice.take(link, head, off);
  }

  #showBeforehand(): void {
    const known = sentimentBeforehand();
    if (known?.text !== this.text || this.touched) return;
    const { text, result, effects: values } = known;
    const reading = { text, result, shown: shownTokens(text, result.tokens) };
    this.#show(reading, reading);
    this.tokenEffects = { of: reading, values, done: true };
    this.#beforehand = known;
  }

  #dropBeforehand(): void {
    if (!this.beforehand) return;
    this.#show(undefined, undefined);
    this.busy = true;
  }

  protected get empty(): boolean {
    return this.text.trim() === '';
  }

  protected override interrupt(): void {
    super.interrupt();
    this.measuring.tokens.abort();
    this.measuring.heads.abort();
  }

  protected async ask(model: Classifier, signal: AbortSignal): Promise<void> {
    const { text } = this;
    const read = async (options: object): Promise<Reading> => {
      const start = performance.now();
      const all = { attention: true, contributions: true, signal, ...options };
      const result = await model.classify(text, all);
      this.milliseconds = performance.now() - start;
      return { text, result, shown: shownTokens(text, result.tokens) };
    };
    const known = this.beforehand ? undefined : this.untouched;
    const untouched = known?.text === text ? known : await read({});
    this.#hideAgain(untouched);
    if (!this.touched) this.#show(untouched, untouched);
    else if (this.hidden.length === untouched.shown.length) this.#show(undefined, untouched);
    else this.#show(await read({ ablate: this.choice.off, maskTokens: this.hidden }), untouched);
  }

  protected clear(empty: boolean): void {
    if (empty) this.#hideAgain(undefined);
    this.#show(undefined, undefined);
  }

  /** Keeps hidden tokens hidden if the text still has them, at their new places. */
  #hideAgain(untouched: Reading | undefined): void {
    const tokens = untouched?.result.tokens ?? [];
    const before = this.#hiddenOf;
    this.#hiddenOf = untouched;
    if (before && before === untouched) return;
    const { hidden } = this;
    const places = before && carried(before.result.tokens, tokens);
    // Without `before`, they come from a link, which may name tokens that this text lacks.
    this.hidden = hidden
      .map((token) => (places ? places.get(token) : token) ?? Infinity)
      .filter((place) => place < tokens.length);
    if (before) this.unhidden += hidden.length - this.hidden.length;
  }

  #show(reading: Reading | undefined, untouched: Reading | undefined): void {
    this.busy = false;
    this.#beforehand = undefined;
    this.reading = reading;
    this.untouched = untouched;
    this.choice.followMatrix();
  }
}
