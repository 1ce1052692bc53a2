/** The sentiment view's state: the text, the model's result, and the interventions. */
import { Classifier, type Classification } from 'glassformer';
import type { TextAttention } from '../../panels/attention/text-attention.ts';
import type { Figured } from '../../ui/figured.ts';
import { percent } from '../../ui/text/format.ts';
import type { Link } from '../../ui/link.ts';
import { sentimentBeforehand, type SentimentBeforehand } from '../../models/beforehand/in-page.ts';
import { examples } from '../../panels/verdict/reviews.ts';
import { TextExplorer } from '../../panels/explorer/text-explorer.svelte.ts';
import { ModelLoader } from '../../models/model-loader.svelte.ts';
import type { Trace } from '../../panels/attention/query-key.ts';
import type { ScoreSubject } from '../../panels/score/score-reading.svelte.ts';
import { fromSentimentLink, toSentimentLink, type PartName } from './link.ts';
import { HiddenTokens } from '../../panels/words/hidden-tokens.svelte.ts';
import { carried, shownTokens, type ShownToken } from '../../panels/words/tokens.ts';

/** A text together with the model's result. */
export interface Reading {
  text: string;
  result: Classification;
  shown: ShownToken[];
}

/** The log-odds with each token or head minus without it; NaN if unknown. */
export interface Effects {
  of: Reading;
  values: Float32Array;
  done: boolean;
}

/** Delay between typing and the model's run, in milliseconds; longer if a run takes longer. */
const pause = 40;

export class SentimentExplorer extends TextExplorer<Classifier, Reading, 'encoder'> {
  readonly name = 'sentiment';
  readonly attention = 'encoder';
  readonly loader = new ModelLoader(() => Classifier);
  readonly hidden = new HiddenTokens(this, () => this.intervened());

  /** With the interventions; undefined before the first run and for a text without tokens. */
  reading = $state.raw<Reading>();
  /** The same text without interventions. */
  untouched = $state.raw<Reading>();

  /** The effects for this result or, until they are measured, for the one before. */
  tokenEffects = $state.raw<Effects>();
  headEffects = $state.raw<Effects>();

  /** Whether a link named the head that is shown. */
  headChosen = false;
  /** The parts that are open. */
  parts = $state.raw<readonly PartName[]>([]);
  /** The part that the view should scroll to. */
  part = $state<PartName>();

  beforehand = $state.raw<SentimentBeforehand>();

  /** The result whose tokens are hidden; undefined until the text is read. */
  #hiddenOf: Reading | undefined;
  /** Aborted when the effects are measured again, or the text changes. */
  measuring = { tokens: new AbortController(), heads: new AbortController() };

  constructor(link: Link) {
    super();
    this.text = examples[0]!.text;
    this.take(link);
    this.#showBeforehand();
  }

  readonly viewpoint = ['head', 'part'];

  get link(): Link {
    const { text, choice, hidden } = this;
    const { tokens } = hidden;
    const { selected: head, off } = choice;
    const own = toSentimentLink({ text, head, off, hidden: tokens, parts: this.parts });
    return { ...own, ...choice.link };
  }

  get figure(): Figured {
    const { untouched, choice, text } = this;
    const best = this.reading?.result;
    return {
      architecture: this.architecture ?? this.beforehand?.architecture,
      rows: { encoder: untouched?.result.tokens.length },
      answer: best && `${best.label} ${percent(best.score)}`,
      here: { parts: ['attention'], layer: choice.selected.layer },
      inside: { model: 'sentiment', text },
      ...(this.ready && {
        traceOf: (names) => this.traceOf(names),
        wordsOf: () => ({
          text: this.reading?.text ?? text,
          read: { encoder: this.attended?.source },
          scores: best?.scores,
        }),
      }),
    };
  }

  protected get current(): Reading | undefined {
    return this.reading;
  }

  protected get pause(): number {
    return Math.max(pause, this.milliseconds ?? 0);
  }

  isOpen(part: PartName): boolean {
    return this.parts.includes(part);
  }

  setOpen(part: PartName, open: boolean): void {
    if (this.isOpen(part) === open) return;
    this.parts = open ? [...this.parts, part] : this.parts.filter((each) => each !== part);
  }

  get labels(): readonly string[] {
    return this.loader.info?.labels ?? this.beforehand?.labels ?? [];
  }

  get layers(): number {
    return this.loader.info?.layers ?? 4;
  }

  get heads(): number {
    return this.loader.info?.heads ?? 8;
  }

  readonly attended: TextAttention | undefined = $derived.by(() => {
    const { result, shown = [] } = this.reading ?? {};
    return result && { maps: result.attention ?? {}, source: shown.map(({ label }) => label) };
  });

  async traceOf(trace: readonly string[]): Promise<Trace> {
    const { reading, hidden } = this;
    if (!reading || !this.loader.model) return {};
    const options = { ablate: this.choice.off, maskTokens: hidden.tokens, trace };
    return (await this.loader.model.classify(reading.text, options)).trace;
  }

  /** The text whose scores can be explained. */
  get scored(): ScoreSubject<Classifier> | undefined {
    const { text } = this.reading ?? {};
    if (text === undefined) return undefined;
    return { name: 'sentiment', explain: (model, options) => model.explain(text, options) };
  }

  get touched(): boolean {
    return this.choice.off.length + this.hidden.count > 0;
  }

  override reset(): void {
    this.hidden.take([]);
    super.reset();
  }

  protected take(link: Link): void {
    const { text, head, off = [], hidden = [], parts = [] } = fromSentimentLink(link);
    this.dropBeforehand();
    if (text !== undefined) this.text = text;
    this.headChosen = head !== undefined;
    this.parts = parts;
    this.part = parts.at(-1);
    this.hidden.take([[...new Set(hidden)].sort((a, b) => a - b)]);
    this.#hiddenOf = undefined;
    this.choice.take(link, head, off);
  }

  #showBeforehand(): void {
    const known = sentimentBeforehand();
    if (known?.text !== this.text || this.touched) return;
    const { text, result, effects: values } = known;
    const reading = { text, result, shown: shownTokens(text, result.tokens) };
    this.#show(reading, reading);
    this.tokenEffects = { of: reading, values, done: true };
    this.beforehand = known;
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
    else if (this.hidden.count === untouched.shown.length) this.#show(undefined, untouched);
    else
      this.#show(
        await read({ ablate: this.choice.off, maskTokens: this.hidden.tokens }),
        untouched,
      );
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
    const { tokens: hidden } = this.hidden;
    const places = before && carried(before.result.tokens, tokens);
    // Without `before`, they come from a link, which may name tokens that this text lacks.
    const kept = hidden
      .map((token) => (places ? places.get(token) : token) ?? Infinity)
      .filter((place) => place < tokens.length);
    this.hidden.lists = [kept];
    if (before) this.hidden.unhidden += hidden.length - kept.length;
  }

  #show(reading: Reading | undefined, untouched: Reading | undefined): void {
    this.busy = false;
    this.beforehand = undefined;
    this.reading = reading;
    this.untouched = untouched;
    this.choice.followMatrix();
  }
}
