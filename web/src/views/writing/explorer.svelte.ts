/** The writing view's state: the text so far, the next tokens, and the settings for drawing one. */
import { Generator, type Prediction, type Token } from 'glassformer';
import { lastCell, type Cell, type Matrix } from '../../panels/attention/attention.ts';
import type { TextAttention } from '../../panels/attention/text-attention.ts';
import type { Figured, Words } from '../../ui/figured.ts';
import type { Link } from '../../ui/link.ts';
import { examples } from '../../panels/words/examples.ts';
import { writeFailure, type Failure } from '../../ui/failure.ts';
import { anotherTask, PerFrame } from '../../ui/frames.ts';
import { TextExplorer } from '../../panels/explorer/text-explorer.svelte.ts';
import { writingBeforehand, type WritingBeforehand } from '../../models/beforehand/in-files.ts';
import { ModelLoader } from '../../models/model-loader.svelte.ts';
import type { Trace } from '../../panels/attention/query-key.ts';
import type { ScoreSubject } from '../../panels/score/score-reading.svelte.ts';
import { predictionJson } from '../../panels/attention/files/result-json.ts';
import {
  allNext,
  candidatesOf,
  drawn,
  endToken,
  isPartial,
  labelsFromStart,
  type Candidate,
  type Sampling,
} from '../../panels/words/sampling.ts';
import { shownTokens, type ShownToken } from '../../panels/words/tokens.ts';
import { fromWritingLink, toWritingLink } from './link.ts';

/** A text with its prediction, and the heads that were off for it. */
export interface Asked {
  text: string;
  off: string;
  result: Prediction<{ attention: true }>;
}

/** A token of the row, and where it ends in the text. */
export type RowToken = ShownToken & { id: number; end: number };

/** The shortest time per token while playing, in milliseconds, so that people can follow. */
const beat = 260;

/** The number of predictions that are kept, so that going back and forth is fast. */
const kept = 24;

const sameToken = (one: RowToken, other: RowToken): boolean =>
  one.id === other.id &&
  one.index === other.index &&
  one.label === other.label &&
  one.spaced === other.spaced &&
  one.unknown === other.unknown &&
  one.end === other.end;

/** The text is the typed beginning and the model's continuation. */
export class WritingExplorer extends TextExplorer<Generator, Asked, 'decoder'> {
  readonly name = 'writer';
  readonly attention = 'decoder';
  readonly loader = new ModelLoader(() => Generator);
  beforehand = $state.raw<WritingBeforehand>();
  protected readonly pause = 80;

  /** The number of typed characters. */
  typed = $state(0);
  /** The place where the next token is predicted. The text after it stays until replaced. */
  cursor = $state(0);
  sampling = $state.raw<Sampling>({ temperature: 0.8, topK: 0, topP: 0.95 });

  stage = $state<'rest' | 'playing' | 'finishing'>('rest');
  /** Whether the model ended the review itself. */
  ended = $state(false);

  /** The prediction at the cursor, with the interventions. */
  asked = $state.raw<Asked>();
  /** The prediction at the cursor without interventions. */
  untouched = $state.raw<Asked>();
  /** The tokens of the whole text. */
  row = $state.raw<readonly RowToken[]>([]);

  #known = new Map<string, Asked>();
  #writing = new AbortController();

  constructor(link: Link) {
    super();
    this.put(examples[0]!.text);
    this.take(link);
  }

  override load(): Promise<void> {
    this.#known.clear();
    void this.#showBeforehand();
    return super.load();
  }

  /** Shows the precomputed prediction, if it fits and the model isn't loaded yet. */
  async #showBeforehand(): Promise<void> {
    const wanted = () =>
      this.loader.phase === 'loading' &&
      this.text === examples[0]!.text &&
      this.cursor === this.text.length &&
      !this.touched;
    if (!wanted()) return;
    const known = await writingBeforehand();
    if (known?.text !== this.text || !wanted()) return;
    const { text, result } = known;
    this.row = this.#rowOf(text, result.promptTokens);
    this.asked = this.untouched = { text, off: '[]', result };
    this.beforehand = known;
    this.choice.followMatrix();
  }

  override follow(link: Link): void {
    this.stop();
    super.follow(link);
  }

  readonly viewpoint = ['head', 'at', 'typed'];

  get link(): Link {
    const { text, typed, cursor, sampling, choice } = this;
    const own = toWritingLink({
      text,
      typed,
      cursor,
      ...sampling,
      head: choice.selected,
      off: choice.off,
    });
    return { ...own, ...choice.link };
  }

  get figure(): Figured {
    const { asked, choice, text, cursor } = this;
    const [best] = this.candidates;
    return {
      architecture: this.architecture,
      rows: { decoder: asked?.result.promptTokens.length },
      answer: best && `“${best.text.trim()}”`,
      here: { parts: ['attention'], layer: choice.selected.layer },
      inside: { model: 'writer', text: text.slice(0, cursor) },
      ...(this.ready && {
        traceOf: (names) => this.traceOf(names),
        wordsOf: () => this.#words,
      }),
    };
  }

  get #words(): Words | undefined {
    if (!this.asked || !this.attended) return undefined;
    const scores = this.candidates.slice(0, 5).map(({ text, probability }) => ({
      label: text === endToken ? '‹end›' : text.trim() || '␣',
      score: probability,
    }));
    return { text: this.asked.text, read: { decoder: this.attended.source }, scores };
  }

  override get working(): boolean {
    return super.working || (this.ready && this.stage !== 'rest');
  }

  // --- the text ---------------------------------------------------------------------------------

  protected get current(): Asked | undefined {
    return this.asked;
  }

  /** Takes a beginning. Drops the continuation of the one before. */
  protected override put(text: string): void {
    this.stop();
    super.put(text);
    this.typed = this.cursor = text.length;
    this.ended = false;
  }

  /** Moves the cursor before a token of the row or, past its end, to the end of the text. */
  goTo(token: number): void {
    this.stop();
    this.earlier.forget();
    // A token starts where the one before ends: white space belongs to the token after it.
    this.cursor = token === 0 ? 0 : (this.row[token - 1]?.end ?? this.text.length);
    this.ended &&= this.cursor === this.text.length;
    void this.refresh();
  }

  /** Continues with a token. If the text already has it here, the rest of the text stays. */
  continueWith(candidate: Pick<Candidate, 'id' | 'text'>): void {
    if (!this.#current) return;
    this.stop();
    this.#append(candidate);
    void this.refresh();
  }

  /** Drops the continuation and keeps the typed beginning. */
  restart(): void {
    this.earlier.forget();
    this.put(this.text.slice(0, this.typed));
    void this.refresh();
  }

  get writable(): boolean {
    return this.asked !== undefined && !this.ended && !this.full;
  }

  /** Whether the text has reached the model's length limit. */
  get full(): boolean {
    const { asked, loader } = this;
    return asked ? asked.result.promptTokens.length >= (loader.info?.maxSourceLength ?? 0) : false;
  }

  async step(): Promise<void> {
    this.stop();
    await this.#draw();
  }

  /** Writes token by token until it is stopped or the review ends. */
  async play(): Promise<void> {
    const { signal } = this.#start('playing');
    while (!signal.aborted && this.writable) {
      const begin = performance.now();
      await this.#draw();
      const left = beat - (performance.now() - begin);
      if (left > 0) await new Promise((resolve) => setTimeout(resolve, left));
    }
    if (!signal.aborted) this.stage = 'rest';
  }

  /** Writes the rest at full speed. */
  async finish(): Promise<void> {
    const { signal } = this.#start('finishing');
    this.earlier.forget();
    if (await this.#caughtUp()) await this.#stream(signal);
    if (!signal.aborted) this.stage = 'rest';
    void this.refresh();
  }

  stop(): void {
    this.#writing.abort();
    this.stage = 'rest';
  }

  // --- what may come next -----------------------------------------------------------------------

  set(sampling: Partial<Sampling>): void {
    this.sampling = { ...this.sampling, ...sampling };
  }

  /** All of the model's tokens, the most probable first. */
  get candidates(): readonly Candidate[] {
    return this.#candidates;
  }

  readonly #candidates = $derived(
    this.asked ? candidatesOf(this.asked.result.next, this.sampling) : [],
  );

  /** The prediction to compare with: without interventions or, lacking any, before the edit. */
  get before(): Asked | undefined {
    const { asked, untouched, earlier } = this;
    const before = this.touched ? untouched : earlier.value;
    const same = before?.text === asked?.text && before?.off === asked?.off;
    return asked && !same ? before : undefined;
  }

  /** The chance of each token in that prediction, by id. */
  get chancesBefore(): ReadonlyMap<number, number> | undefined {
    return this.#chancesBefore;
  }

  readonly #chancesBefore = $derived(
    this.before &&
      new Map(
        candidatesOf(this.before.result.next, this.sampling).map(({ id, chance }) => [id, chance]),
      ),
  );

  /** The index of the token after the cursor; the row's length at the end. */
  get place(): number {
    if (this.cursor >= this.text.length) return this.row.length;
    return this.row.filter(({ end }) => end <= this.cursor).length;
  }

  /** The token after the cursor, if any. */
  get standing(): RowToken | undefined {
    return this.row[this.place];
  }

  get touched(): boolean {
    return this.choice.off.length > 0;
  }

  // --- attention --------------------------------------------------------------------------------

  get layers(): number {
    return this.loader.info?.layers ?? 5;
  }

  get heads(): number {
    return this.loader.info?.heads ?? 4;
  }

  readonly attended: TextAttention | undefined = $derived.by(() => {
    const { text, result } = this.asked ?? {};
    if (text === undefined || !result) return undefined;
    return { maps: result.attention, source: labelsFromStart(text, result.promptTokens) };
  });

  firstCellOf(matrix: Matrix): Cell {
    return lastCell(matrix);
  }

  /** The chosen head's attention weights from the last token before the cursor, per token. */
  get looks(): Float32Array | undefined {
    const { matrix } = this.choice;
    return matrix?.weights.subarray((matrix.queries - 1) * matrix.keys);
  }

  /** The text before the cursor, whose scores can be explained. */
  get scored(): ScoreSubject<Generator> | undefined {
    const { asked } = this;
    if (!asked) return undefined;
    const text = asked.text || endToken;
    return { name: 'writer', explain: (model, options) => model.explain(text, options) };
  }

  async traceOf(trace: readonly string[]): Promise<Trace> {
    const { asked } = this;
    if (!asked || !this.loader.model) return {};
    const options = { count: 1, ablate: this.choice.off, trace };
    return (await this.loader.model.next(asked.text || endToken, options)).trace;
  }

  toJson(): object {
    const { asked } = this;
    return asked ? predictionJson(asked.text, asked.result, this.choice.off) : {};
  }

  // --- private -----------------------------------------------------------------------------------

  protected take(link: Link): void {
    const { text, typed = 0, cursor = 0, head, off = [], ...sampling } = fromWritingLink(link);
    if (text !== undefined) {
      this.put(text);
      this.typed = typed;
      this.cursor = cursor;
    }
    this.set(sampling);
    this.choice.take(link, head, off);
  }

  #start(stage: 'playing' | 'finishing'): AbortController {
    this.stop();
    this.stage = stage;
    return (this.#writing = new AbortController());
  }

  /** Whether the shown prediction belongs to the current text. */
  get #current(): boolean {
    return this.asked?.text === this.text.slice(0, this.cursor);
  }

  async #caughtUp(): Promise<boolean> {
    if (!this.#current) await this.refresh();
    return this.#current;
  }

  /** Writes one token, drawn with the current settings. */
  async #draw(): Promise<void> {
    if (!(await this.#caughtUp())) return;
    const whole = this.#candidates.filter(({ text }) => !isPartial(text));
    const chances = whole.reduce((sum, { chance }) => sum + chance, 0);
    const token = drawn(whole, Math.random() * chances);
    if (token === undefined) return this.stop();
    this.#append(token, false);
    await this.refresh();
  }

  /** Writes the rest at full speed and shows new tokens once per frame. */
  async #stream(signal: AbortSignal): Promise<void> {
    const { model, info } = this.loader;
    const prefix = this.text.slice(0, this.cursor);
    if (!model || !this.asked || !info) return;
    this.typed = Math.min(this.typed, prefix.length);
    const room = info.maxSourceLength - this.asked.result.promptTokens.length;
    const { temperature, topK, topP } = this.sampling;
    const drawing = new PerFrame();
    try {
      const steps = model.stream(prefix || endToken, {
        ...(temperature > 0 ? { temperature, topK, topP } : { sample: false }),
        seed: Math.floor(Math.random() * 2 ** 32),
        maxNewTokens: room,
        ablate: this.choice.off,
        signal,
      });
      const before = prefix === '' ? [] : this.#rowOf(prefix, this.asked.result.promptTokens);
      const written: Token[] = [];
      for await (const step of steps) {
        if (signal.aborted) break;
        if (!step.done) written.push(step.token);
        drawing.ask(() => {
          // The user may have changed the text meanwhile.
          if (signal.aborted) return;
          this.text = prefix + step.text;
          this.cursor = this.text.length;
          if (step.done) this.ended = step.result.ended;
          const own = this.#rowOf(step.text, written, before.length, prefix.length);
          this.row = this.#drawn([...before, ...own]);
        });
      }
    } catch (error) {
      if (!signal.aborted) this.failure = writeFailure(error);
    }
    drawing.flush();
  }

  #append({ id, text }: Pick<Candidate, 'id' | 'text'>, stays = true): void {
    const { standing } = this;
    if (stays && standing?.id === id) {
      this.cursor = standing.end;
      return;
    }
    this.earlier.forget();
    const before = this.text.slice(0, this.cursor);
    const end = text === endToken;
    this.text = end ? before : before + text;
    this.typed = Math.min(this.typed, before.length);
    this.cursor = this.text.length;
    this.ended = end;
  }

  /** Returns the row with tokens that are drawn already as the same objects, to avoid redrawing. */
  #drawn(row: readonly RowToken[]): RowToken[] {
    return row.map((token, i) => {
      const drawn = this.row[i];
      return drawn && sameToken(drawn, token) ? drawn : token;
    });
  }

  #rowOf(text: string, tokens: readonly Token[], first = 0, offset = 0): RowToken[] {
    return shownTokens(text, tokens).map((shown, i) => ({
      ...shown,
      index: shown.index + first,
      spaced: shown.spaced || (i === 0 && first > 0 && /^\s/.test(tokens[0]!.text)),
      id: tokens[i]!.id,
      end: tokens[i]!.end + offset,
    }));
  }

  /** An empty text has a prediction, too: the review's first token. */
  protected readonly empty = false;

  protected override failureOf(error: unknown): Failure {
    return writeFailure(error);
  }

  protected async ask(_: Generator, signal: AbortSignal): Promise<void> {
    const prefix = this.text.slice(0, this.cursor);
    const whole = await this.#ask(this.text, this.touched && prefix === this.text, signal);
    const asked = prefix === this.text ? whole : await this.#ask(prefix, this.touched, signal);
    const untouched = this.touched ? await this.#ask(prefix, false, signal) : asked;
    this.row = this.#drawn(
      this.text === '' ? [] : this.#rowOf(this.text, whole.result.promptTokens),
    );
    this.beforehand = undefined;
    this.asked = asked;
    this.untouched = untouched;
    this.busy = false;
    this.choice.followMatrix();
  }

  protected clear(): void {
    this.stop();
    this.beforehand = undefined;
    this.asked = this.untouched = undefined;
    this.row = [];
    this.busy = false;
  }

  async #ask(text: string, touched: boolean, signal: AbortSignal): Promise<Asked> {
    const ablate = touched ? this.choice.off : [];
    const off = JSON.stringify(ablate);
    const key = `${off} ${text}`;
    const known = this.#known.get(key);
    if (known) return known;
    const begin = performance.now();
    // In the training data, an end token comes before each review's first token.
    const result = await this.loader.model!.next(text || endToken, { ...allNext, ablate, signal });
    this.milliseconds = performance.now() - begin;
    // A long text's result has millions of weights, which took time: lets the page draw.
    await anotherTask();
    signal.throwIfAborted();
    const asked = { text, off, result };
    this.#known.set(key, asked);
    for (const old of this.#known.keys()) {
      if (this.#known.size <= kept) break;
      this.#known.delete(old);
    }
    return asked;
  }
}
