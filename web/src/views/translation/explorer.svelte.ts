/** The translation view's state: the text, its growing translation, and the interventions. */
import {
  Translator,
  type SentenceTranslation,
  type TokenStep,
  type Translation,
} from 'glassformer';
import {
  alignmentOf,
  type Alignment,
  type Draft,
  type Range,
} from '../../panels/alignment/alignment.ts';
import { labelsIn, shifted, type TextAttention } from '../../panels/attention/text-attention.ts';
import type { Figured, Words } from '../../ui/figured.ts';
import type { Link } from '../../ui/link.ts';
import {
  translationBeforehand,
  type TranslationBeforehand,
} from '../../models/beforehand/in-files.ts';
import { examples } from '../../panels/alignment/examples.ts';
import { translateFailure, type Failure } from '../../ui/failure.ts';
import { anotherTask, PerFrame } from '../../ui/frames.ts';
import type { AttentionKind } from '../../panels/heads/position.ts';
import { TextExplorer } from '../../panels/explorer/text-explorer.svelte.ts';
import { ModelLoader } from '../../models/model-loader.svelte.ts';
import type { ModelName, Target } from '../../models/models.ts';
import type { Trace } from '../../panels/attention/query-key.ts';
import type { ScoreSubject } from '../../panels/score/score-reading.svelte.ts';
import { translationJson } from '../../panels/attention/files/result-json.ts';
import { mostBeams, type SearchOnView } from '../../panels/search/search-tree.ts';
import { withList } from '../../ui/text/per-sentence.ts';
import { WordPointer, type WordsOnView } from '../../panels/alignment/word-pointer.svelte.ts';
import { HiddenTokens } from '../../panels/words/hidden-tokens.svelte.ts';
import { fromTranslationLink, toTranslationLink } from './link.ts';

/** A text together with its translation. */
export interface Rendering {
  text: string;
  /** 0 for a streamed translation, which has no tree. */
  beams: number;
  result: Translation;
  alignment: Alignment;
}

/** The speed of the last stream. */
export interface Pace {
  tokens: number;
  /** Time to the first token and in total, from the call on, including the encoder. */
  first: number;
  milliseconds: number;
}

/** Longer texts are not translated: the attention weights of all sentences need memory. */
export const longestText = 5000;

export class TranslationExplorer
  extends TextExplorer<Translator, Rendering, AttentionKind>
  implements SearchOnView, WordsOnView
{
  readonly loader = new ModelLoader(() => Translator);
  readonly hidden = new HiddenTokens(this, () => this.intervened());
  readonly pointer: WordPointer = new WordPointer(this);
  protected readonly pause = 250;

  /** The target language. */
  target = $state<Target>('de');
  readonly kinds: readonly AttentionKind[] = ['encoder', 'decoder', 'cross'];
  attention = $state<AttentionKind>('cross');
  beams = $state(4);
  /** The chosen sentence. */
  sentence = $state(0);
  /** Per sentence, the tokens that its translation must start with. */
  forced = $state.raw<readonly (readonly number[])[]>([]);

  /** The unfinished translation, while it grows or after it was stopped. */
  draft = $state.raw<Draft>();
  /** The translation with the interventions; that of the text before while `draft` grows. */
  rendering = $state.raw<Rendering>();
  /** The last translation from a beam search, not from a stream. */
  searched = $state.raw<Rendering>();
  /** The same text without interventions. */
  untouched = $state.raw<Rendering>();
  stage = $state<'rest' | 'streaming' | 'searching' | 'stopped'>('rest');
  pace = $state.raw<Pace>();
  beforehand = $state.raw<TranslationBeforehand>();

  #starting: Promise<void> | undefined;

  constructor(link: Link) {
    super();
    this.text = examples.de[0]!.text;
    this.take(link);
  }

  get name(): ModelName {
    return `en-${this.target}`;
  }

  override start(): void {
    // Comes before the model: it is a small file, and there is something to see at once.
    this.#starting ??= this.#showBeforehand().then(() => {
      if (!this.loader.begun) void this.load();
    });
  }

  /** Loads the model. Drops the results of the model before, including pending ones. */
  override load(): Promise<void> {
    this.interrupt();
    // The precomputed result is this model's and stays until the model is loaded.
    if (!this.beforehand) this.draft = this.rendering = this.searched = this.untouched = undefined;
    this.stage = 'rest';
    this.failure = undefined;
    return super.load();
  }

  /** Changes the target language: loads another model, with all heads on. */
  into(target: Target): void {
    this.earlier.forget();
    this.dropBeforehand();
    this.target = target;
    this.choice.off = [];
    this.forced = [];
    this.hidden.take([]);
    this.choice.letGo();
    void this.load();
  }

  override follow(link: Link): void {
    const { target } = fromTranslationLink(link);
    if (target && target !== this.target) this.into(target);
    super.follow(link);
  }

  readonly viewpoint = ['head', 'sentence'];

  get link(): Link {
    const { target, text, beams, sentence, forced, hidden, attention, choice } = this;
    const { selected: head, off } = choice;
    const touches = { forced, hidden: hidden.lists, off };
    const own = { target, text, beams, sentence, attention, head, ...touches };
    return { ...toTranslationLink(own), ...choice.link };
  }

  get figure(): Figured {
    const { inspected, attention, choice, name, text } = this;
    return {
      architecture: this.architecture,
      // The first row reads the start token, and no row reads the last token.
      rows: { encoder: inspected?.sourceTokens.length, decoder: inspected?.tokens.length },
      here: {
        parts: [attention === 'cross' ? 'cross' : 'attention'],
        stack: attention === 'encoder' ? 'encoder' : 'decoder',
        layer: choice.selected.layer,
      },
      inside: { model: name, text },
      ...(this.ready && {
        traceOf: (names) => this.traceOf(names),
        wordsOf: () => this.#words,
      }),
    };
  }

  /** The chosen sentence and its translation. */
  get #words(): Words | undefined {
    const { rendering, inspected, attended } = this;
    if (!rendering || !inspected || !attended) return undefined;
    const { source, target = [], start = '' } = attended;
    const { tokens } = inspected;
    const [first, last] = [tokens[0]?.start ?? 0, tokens.at(-1)?.end ?? 0];
    return {
      text: rendering.text.slice(inspected.start, inspected.end),
      read: { encoder: source, decoder: shifted(start, target) },
      translation: {
        text: rendering.result.text.slice(first, last).trim(),
        tokens: tokens.map(({ id }, i) => ({ text: target[i]!, id })),
      },
    };
  }

  override reset(): void {
    this.forced = [];
    this.hidden.take([]);
    super.reset();
  }

  /** Forces the sentence's translation to start with these tokens; an empty list undoes that. */
  force(ids: readonly number[]): void {
    if (this.frozen) return;
    this.forced = withList(this.forced, this.sentence, ids);
    void this.refresh();
  }

  /** The last token of a sentence cannot be hidden. */
  get mostHidden(): number {
    return (this.inspected?.sourceTokens.length ?? 0) - 1;
  }

  get outdated(): boolean {
    return this.searched !== this.rendering;
  }

  /** The number of forced tokens in the chosen sentence. */
  get forcedTokens(): number {
    return this.forced[this.sentence]?.length ?? 0;
  }

  protected get current(): Rendering | undefined {
    return this.searched;
  }

  protected override put(text: string): void {
    super.put(text);
    this.pointer.lit = undefined;
    this.sentence = 0;
    this.hidden.drop();
    this.forced = [];
    if (this.stage === 'stopped') this.stage = 'rest';
    this.interrupt();
  }

  search(beams: number): void {
    this.dropBeforehand();
    this.beams = beams;
    void this.refresh();
  }

  stop(): void {
    this.interrupt();
    this.stage = 'stopped';
    this.busy = false;
  }

  /** Continues after a stop. */
  again(): void {
    void this.refresh();
  }

  look(attention: AttentionKind): void {
    this.attention = attention;
    this.choice.stayWithin();
  }

  choose(sentence: number): void {
    if (sentence === this.sentence) return;
    this.sentence = sentence;
    this.choice.letGo();
  }

  /** The translation to compare with: the one without interventions, or the one before an edit. */
  get before(): Rendering | undefined {
    const { rendering, untouched, earlier, text } = this;
    if (!rendering || rendering !== this.searched || rendering.text !== text) return undefined;
    if (this.touched) return untouched === rendering ? undefined : untouched;
    return earlier.value?.text === text ? undefined : earlier.value;
  }

  get tooLong(): boolean {
    return this.text.length > longestText;
  }

  get touched(): boolean {
    const forced = this.forced.some((ids) => ids.length > 0);
    return forced || this.choice.off.length + this.hidden.count > 0;
  }

  /** The alignment, if it belongs to the current text. */
  get alignment(): Alignment | undefined {
    return this.rendering?.text === this.text ? this.rendering.alignment : undefined;
  }

  get inspected(): SentenceTranslation | undefined {
    const { sentences } = this.rendering?.result ?? {};
    return sentences?.[this.sentence] ?? sentences?.[0];
  }

  /** Whether the shown translation is final: the search for it has ended. */
  get settled(): boolean {
    return !this.busy && this.rendering === this.searched;
  }

  /** The text of the inspected sentence, once its translation is final. */
  get settledSentence(): string | undefined {
    const { inspected, rendering } = this;
    if (!this.settled || !inspected) return undefined;
    return rendering?.text.slice(inspected.start, inspected.end);
  }

  get layers(): number {
    return this.layersOf(this.attention);
  }

  layersOf(attention: AttentionKind): number {
    const { info } = this.loader;
    return attention === 'encoder' ? (info?.layers ?? 6) : (info?.decoderLayers ?? 2);
  }

  get heads(): number {
    return this.loader.info?.heads ?? 8;
  }

  readonly attended: TextAttention | undefined = $derived.by(() => {
    const { rendering, inspected } = this;
    if (!rendering || !inspected) return undefined;
    const { attention: maps = {}, sourceTokens, tokens, tree } = inspected;
    return {
      maps,
      source: labelsIn(rendering.text, sourceTokens),
      target: labelsIn(rendering.result.text, tokens),
      start: tree?.[0]?.text ?? '<s>',
    };
  });

  /** The chosen sentence and its translation, whose scores can be explained. */
  get scored(): ScoreSubject<Translator> | undefined {
    const { rendering, inspected, name } = this;
    if (!rendering || !inspected) return undefined;
    const text = rendering.text.slice(inspected.start, inspected.end);
    const ids = inspected.tokens.map(({ id }) => id);
    return {
      name,
      explain: (model, { query, ...options }) => {
        const rows = options.attention.startsWith('encoder') ? 0 : query;
        return model.explain(text, { ...options, query, prefix: ids.slice(0, rows) });
      },
    };
  }

  /** Traces the chosen sentence while its translation is forced word for word. */
  async traceOf(trace: readonly string[]): Promise<Trace> {
    const { rendering, inspected, hidden } = this;
    const { model } = this.loader;
    if (!rendering || !inspected || !model) return {};
    const text = rendering.text.slice(inspected.start, inspected.end);
    const ids = inspected.tokens.map(({ id }) => id);
    const own = { beams: 1, prefixes: [ids], maxLength: ids.length };
    const touches = { ablate: this.choice.off, maskTokens: [hidden.tokens] };
    return (await model.translate(text, { ...own, ...touches, trace })).sentences[0]!.trace;
  }

  toJson(): object {
    const { rendering } = this;
    if (!rendering) return {};
    const { text, result, beams } = rendering;
    return translationJson(text, result, {
      beams,
      ablate: this.choice.off,
      maskTokens: this.hidden.lists,
    });
  }

  /** Shows the precomputed translation, if it fits and the model isn't loaded yet. */
  async #showBeforehand(): Promise<void> {
    const wanted = () =>
      this.loader.phase === 'loading' &&
      this.target === 'de' &&
      this.text === examples.de[0]!.text &&
      !this.touched;
    if (!wanted()) return;
    const known = await translationBeforehand();
    if (!known || !wanted() || known.text !== this.text || known.beams !== this.beams) return;
    const { text, beams, result } = known;
    this.#show({ text, beams, result, alignment: alignmentOf(text, result) });
    this.beforehand = known;
  }

  protected get empty(): boolean {
    return this.text.trim() === '' || this.tooLong;
  }

  protected override failureOf(error: unknown): Failure {
    return translateFailure(error);
  }

  protected async ask(model: Translator, signal: AbortSignal): Promise<void> {
    const { text, beams } = this;
    if (this.rendering?.text !== text) await this.#stream(model, text, signal);
    this.stage = 'searching';
    const translate = async (options: object): Promise<Rendering> => {
      const all = { beams, attention: true, hypotheses: true, signal, ...options };
      const result = await model.translate(text, all);
      await anotherTask();
      signal.throwIfAborted();
      return { text, beams, result, alignment: alignmentOf(text, result) };
    };
    const known = this.untouched;
    const untouched = known?.text === text && known.beams === beams ? known : await translate({});
    const { choice, forced: prefixes, hidden } = this;
    const touches = { ablate: choice.off, prefixes, maskTokens: hidden.lists };
    const rendering = this.touched ? await translate(touches) : untouched;
    // Two tasks keep long texts responsive: draws the words first, then the panels.
    this.draft = undefined;
    this.rendering = rendering;
    await anotherTask();
    signal.throwIfAborted();
    this.untouched = untouched;
    this.#show(rendering);
  }

  protected clear(): void {
    this.untouched = undefined;
    this.#show(undefined);
  }

  /** Translates greedily, to show something at once. The beam search follows. */
  async #stream(model: Translator, text: string, signal: AbortSignal): Promise<void> {
    this.stage = 'streaming';
    this.pointer.lit = undefined;
    const begin = performance.now();
    const options = { attention: true as const, ablate: this.choice.off, signal };
    const tokens: Range[] = [];
    let first = 0;
    const drawing = new PerFrame();
    try {
      for await (const step of model.stream(text, options)) {
        if (step.done) {
          const { result } = step;
          const count = result.sentences.reduce((sum, { tokens: own }) => sum + own.length, 0);
          this.pace = { tokens: count, first, milliseconds: performance.now() - begin };
          // Reading the result took time: lets the page draw.
          await anotherTask();
          signal.throwIfAborted();
          drawing.drop();
          this.draft = undefined;
          this.rendering = { text, beams: 0, result, alignment: alignmentOf(text, result) };
        } else {
          const { start, end } = step.token;
          tokens.push({ start, end });
          first ||= performance.now() - begin;
          drawing.ask(() => {
            if (signal.aborted && this.stage !== 'stopped') return;
            this.draft = { text: step.text, tokens: [...tokens], glow: glowOf(step) };
          });
        }
      }
    } finally {
      // A stopped translation shows the words written so far.
      drawing.flush();
    }
    this.#stayWithin();
  }

  #show(rendering: Rendering | undefined): void {
    this.busy = false;
    this.beforehand = undefined;
    this.stage = 'rest';
    this.draft = undefined;
    this.rendering = rendering;
    this.searched = rendering;
    this.#stayWithin();
  }

  /** Clears a selection that the new translation doesn't have. */
  #stayWithin(): void {
    const count = this.rendering?.result.sentences.length ?? 0;
    if (this.sentence >= count) this.sentence = 0;
    this.pointer.stayWithin();
    this.choice.followMatrix();
  }

  protected take(link: Link): void {
    const { target, text, beams, sentence, attention, head, ...rest } = fromTranslationLink(link);
    this.dropBeforehand();
    const { off = [], forced = [], hidden = [] } = rest;
    if (target) this.target = target;
    if (text !== undefined) this.text = text;
    if (beams !== undefined) this.beams = Math.max(1, Math.min(mostBeams, beams));
    if (text !== undefined) this.sentence = sentence ?? 0;
    this.forced = forced;
    this.hidden.take(hidden);
    if (attention) this.attention = attention;
    this.choice.take(link, head, off);
  }
}

/** Returns the source words with the largest mean weight in the decoder's last cross-attention. */
function glowOf({ sentence, attention }: TokenStep<{ attention: true }>): Draft['glow'] {
  const { layers, heads, keys } = attention.cross;
  const mean = new Float32Array(keys);
  for (let head = 0; head < heads; head++)
    attention.cross.at(layers - 1, head).forEach((weight, key) => (mean[key]! += weight / heads));
  const words = sentence.sourceTokens
    .map(({ start, end }, key) => ({ start, end, weight: mean[key] ?? 0 }))
    .filter(({ start, end }) => end > start);
  const most = words.reduce((max, { weight }) => Math.max(max, weight), 0);
  return words.filter(({ weight }) => weight >= most / 2 && weight > 0);
}
