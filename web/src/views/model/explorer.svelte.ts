/** The state of the “Your model” view: the files, the model in them, and its answer. */
import { binaries } from '../../models/models.ts';
import {
  inspect,
  load,
  type Compute,
  type Generator,
  type ImageClassification,
  type ImageClassifier,
  type ImageMatch,
  type Inspection,
  type LanguagePair,
  type Model,
  type TranslatorInfo,
  type ZeroShotImageClassifier,
} from 'glassformer';
import type { Alignment } from '../../panels/alignment/alignment.ts';
import { WordPointer, type WordsOnView } from '../../panels/alignment/word-pointer.svelte.ts';
import type { TextAttention } from '../../panels/attention/text-attention.ts';
import type { Conversation } from './chat/conversation.svelte.ts';
import { Explorer } from '../../models/explorer.svelte.ts';
import { pictureFailure, readFailure, type Failure } from '../../ui/failure.ts';
import { filesFailure } from '../../ui/files-failure.ts';
import { hubFailure, licenseOf, nameIn, type HubModel } from './hub.ts';
import { PictureAnswer } from './picture.svelte.ts';
import { memoryOf, typesIn } from './stored.ts';
import type { Stroke } from '../../panels/pictures/drawing.ts';
import {
  HeadChoice,
  type AttentionKind,
  type AttentionOnView,
} from '../../panels/heads/head-choice.svelte.ts';
import {
  handedOver,
  filesByName,
  filesOfEntries,
  type ChosenFiles,
  type FoundFile,
} from '../../models/model-files.ts';
import { Loader } from '../../models/model-loader.svelte.ts';
import { asking, ofKind, type Answered, type AnswerOutcome } from './asking.ts';
import {
  isTask,
  linesOf,
  tasks,
  type Input,
  type Search,
  type Task,
  type TaskName,
} from '../../models/tasks/tasks.ts';
import type { Figured } from '../../ui/figured.ts';
import type { Link } from '../../ui/link.ts';
import type { Trace } from '../../panels/attention/query-key.ts';
import { attentionJson } from '../../panels/attention/files/result-json.ts';
import type { SearchOnView } from '../../panels/search/search-tree.ts';
import { withList } from '../../ui/text/per-sentence.ts';

/** Delay between typing and the model's run, in milliseconds. */
const pause = 250;

/** A model that needs more bytes is loaded on confirmation, in 8-bit integers by default. */
export const large = 400e6;

/** The most attention weights of a conversation that the page shows. */
const mostWeights = 64e6;

const isImage = ({ type }: File): boolean => type.startsWith('image/');

const asItsMakersSay: Search = { beams: 0, forced: [] };

/** Returns the languages that a model of many begins with. */
function firstPair({ languages = [], ...info }: Partial<TranslatorInfo>): LanguagePair {
  if (languages.length === 0) return {};
  const chosen = (wanted = '', usual: string) =>
    languages.find((code) => code === wanted) ??
    languages.find((code) => code.startsWith(usual)) ??
    languages[0];
  return { from: chosen(info.sourceLanguage, 'en'), to: chosen(info.targetLanguage, 'de') };
}

export class ModelExplorer
  extends Explorer<Model>
  implements AttentionOnView, SearchOnView, WordsOnView
{
  readonly loader = new Loader<Model>();
  readonly choice = new HeadChoice(this, () => void this.refresh());

  files = $state.raw<ChosenFiles>();
  /** The model of a hub that is in their place. */
  hub = $state.raw<HubModel>();
  /** The text in the box for the name of such a model. */
  hubName = $state('');
  /** Whether the hub is being asked. */
  lookingUp = $state(false);
  /** The package's inspection of the files; without tensors if they are not a model. */
  found = $state.raw<Inspection>();
  /** The arithmetic to load the model in. */
  compute = $state<Compute>('f32');
  /** The names of the files that were read while loading. */
  read = $state.raw<ReadonlySet<string>>(new Set());
  stage = $state<'empty' | 'found' | 'opened'>('empty');
  /** Whether the browser could not read the dropped files. */
  lost = $state(false);

  input = $state.raw<Input>({ first: '', second: '' });
  outcome = $state.raw<AnswerOutcome>();
  /** The picture of a model that classifies pictures. */
  readonly pictured = new PictureAnswer();
  /** Its answer. */
  verdict = $state.raw<ImageClassification | ImageMatch>();
  /** The index of the chosen text, if there are several. */
  chosen = $state(0);
  attention = $state<AttentionKind>('encoder');
  /** The search settings of a translator. */
  how = $state.raw<Search>(asItsMakersSay);
  /** Whether the visitor talks with a model that was trained for it. */
  talking = $state(false);
  #conversation: Conversation | undefined;
  readonly pointer: WordPointer = new WordPointer(this);

  #hubAsked = new AbortController();

  readonly viewpoint = ['hub'];

  constructor(link: Link = {}) {
    super();
    this.follow(link);
  }

  // A link cannot contain files, and the input is only meaningful together with its model.
  get link(): Link {
    return this.hub ? { hub: this.hub.name } : {};
  }

  /** Only a model of a hub can be in the address. */
  override get ready(): boolean {
    return this.hub !== undefined;
  }

  /** Opens the files that another view handed over. */
  override start(): void {
    const files = handedOver('model');
    if (files) void this.take(files);
  }

  /** A link may name a model of a hub. It is not asked for before the visitor says so. */
  follow({ hub }: Link): void {
    const name = nameIn(hub ?? '');
    if (name !== undefined && name !== this.hub?.name) this.hubName = name;
  }

  get figure(): Figured | undefined {
    const { loader } = this;
    const { architecture } = (loader.phase === 'ready' && loader.model) || {};
    if (this.stage !== 'opened' || !architecture) return undefined;
    const { encoder, decoder } = architecture;
    const written = decoder ? 'decoder' : 'encoder';
    const kind = encoder && decoder ? 'encoder-decoder' : written;
    return { architecture, kind: this.readsPictures ? 'pictures' : kind, rows: {} };
  }

  override get working(): boolean {
    return this.stage === 'opened' && (this.loader.phase === 'loading' || this.busy);
  }

  /** Takes files that were dropped onto the page. */
  async takeDropped(entries: readonly FileSystemEntry[]): Promise<void> {
    this.lost = false;
    try {
      const found = await filesOfEntries(entries);
      const [first] = found;
      const isPicture = found.length === 1 && first !== undefined && isImage(first.file);
      if (isPicture && this.readsPictures) await this.openPicture(first.file);
      else await this.take(found);
    } catch {
      this.lost = true;
    }
  }

  /** Takes the files of a folder; a small model is loaded at once. */
  async take(found: readonly FoundFile[]): Promise<void> {
    this.lost = false;
    if (found.length === 0) return;
    this.forget();
    const files = filesByName(found);
    this.files = files;
    this.stage = 'found';
    const inspected = await inspect(files).catch((): Inspection => ({ tensors: [] }));
    if (this.files !== files) return;
    this.#showFound(inspected);
    if (memoryOf(inspected.tensors, 'f32') <= large) await this.load();
  }

  /** Asks the hub about a model, without its weights. */
  async lookUp(name: string): Promise<void> {
    this.forget();
    const { signal } = (this.#hubAsked = new AbortController());
    this.lookingUp = true;
    try {
      const [inspected, license] = await Promise.all([
        inspect(`hf:${name}`, { signal, urls: binaries, cache: true }),
        licenseOf(name, signal),
      ]);
      signal.throwIfAborted();
      this.hub = { name, license };
      this.stage = 'found';
      this.#showFound(inspected);
    } catch (error) {
      if (!signal.aborted) this.failure = hubFailure(error, name);
    } finally {
      if (!signal.aborted) this.lookingUp = false;
    }
  }

  #showFound(inspected: Inspection): void {
    this.found = inspected;
    const memory = memoryOf(inspected.tensors, 'f32');
    const types = typesIn(inspected.tensors);
    const integers = types.includes('I8') || memory > large;
    this.compute = types.includes('U8') ? 'int4' : integers ? 'int8' : 'f32';
  }

  forget(): void {
    this.interrupt();
    this.#endTalk();
    this.#hubAsked.abort();
    this.lookingUp = false;
    this.loader.close();
    this.hub = undefined;
    this.files = this.found = this.outcome = this.verdict = this.failure = undefined;
    this.read = new Set();
    this.stage = 'empty';
    this.busy = false;
  }

  async load(): Promise<void> {
    const { files, hub, compute } = this;
    const source = files ?? (hub && `hf:${hub.name}`);
    if (!source) return;
    this.interrupt();
    this.#endTalk();
    this.stage = 'opened';
    this.outcome = this.verdict = this.failure = undefined;
    const read = new Set<string>();
    const opened = await this.loader.open(
      ({ onProgress, ...options }) =>
        load(source, {
          ...options,
          cache: hub !== undefined,
          compute,
          urls: binaries,
          onProgress: (progress) => {
            read.add(progress.file);
            onProgress?.(progress);
          },
        }),
      (error) =>
        hub ? hubFailure(error, hub.name) : filesFailure(error, Object.keys(files ?? {})),
    );
    if (!opened) return;
    this.read = read;
    const { info, model } = this.loader;
    if (info && model && this.readsPictures) {
      this.pictured.begin(model.architecture, info);
      void this.refresh();
    }
    if (!info || !isTask(info.task)) return;
    this.talking = this.chats;
    this.input = this.task!.example;
    this.attention = this.kinds.find((kind) => kind === 'cross') ?? this.kinds[0] ?? this.attention;
    this.choice.off = [];
    this.choice.keep();
    this.choice.letGo();
    this.chosen = 0;
    this.how = { ...asItsMakersSay, ...firstPair(info as Partial<TranslatorInfo>) };
    void this.refresh();
  }

  /** Changes the arithmetic, which requires loading again. */
  computeIn(compute: Compute): void {
    this.compute = compute;
    if (this.stage === 'opened') void this.load();
  }

  /** The files that the model did not need. */
  get ignored(): string[] {
    const { files = {}, read } = this;
    return read.size === 0 ? [] : Object.keys(files).filter((name) => !read.has(name));
  }

  get #taskName(): TaskName | undefined {
    const { task } = this.loader.info ?? {};
    if (this.talking) return 'chat';
    return isTask(task) ? task : undefined;
  }

  /** The task of the model, if it reads texts. */
  get task(): Task | undefined {
    const name = this.#taskName;
    return name && tasks[name];
  }

  edit(input: Partial<Input>): void {
    this.input = { ...this.input, ...input };
    this.how = { ...this.how, forced: [] };
    this.pointer.lit = undefined;
    this.choice.letGo();
    this.interrupt();
    this.refreshAfter(pause);
  }

  choose(text: number): void {
    if (text === this.chosen) return;
    this.chosen = text;
    this.choice.letGo();
  }

  look(attention: AttentionKind): void {
    this.attention = attention;
    this.choice.stayWithin();
  }

  reset(): void {
    this.choice.off = [];
    void this.refresh();
  }

  // --- conversations ------------------------------------------------------------------------

  /** Whether the model was trained for conversations. */
  get chats(): boolean {
    return (this.loader.info as Partial<Generator['info']> | undefined)?.chatTemplate !== undefined;
  }

  /** Chooses between a conversation and a text that the model continues. */
  talk(talking: boolean): void {
    this.talking = talking;
    this.#read(talking ? this.#talked : tasks['text-generation'].example);
  }

  /** Returns the conversation, which `begin` begins with the model. */
  talkIn(begin: (model: Generator) => Conversation): Conversation {
    return (this.#conversation ??= begin(this.loader.model as Generator));
  }

  /** Says something, then reads the whole conversation for its attention. Returns whether the model answered. */
  async say(content: string): Promise<boolean> {
    const conversation = this.#conversation!;
    this.interrupt();
    if (!(await conversation.say(content, ofKind(this.choice.off, 'decoder')))) return false;
    const { layers = 0, heads = 0 } = this.loader.info ?? {};
    const { tokens = 0 } = conversation.facts ?? {};
    this.crowded = layers * heads * tokens ** 2 > mostWeights;
    this.#read(this.#talked);
    return true;
  }

  /** Whether the conversation has too many tokens for its attention to be shown. */
  crowded = $state(false);

  restart(): void {
    this.#conversation?.restart();
    this.crowded = false;
    this.#read(this.#talked);
  }

  /** The conversation as an input, unless it is crowded. */
  get #talked(): Input {
    return { first: (!this.crowded && this.#conversation?.text) || '', second: '' };
  }

  #read(input: Input): void {
    this.input = input;
    this.choice.letGo();
    void this.refresh();
  }

  #endTalk(): void {
    this.#conversation?.stop();
    this.#conversation = undefined;
    this.talking = this.crowded = false;
  }

  // --- pictures -----------------------------------------------------------------------------

  get readsPictures(): boolean {
    return this.loader.info?.task.endsWith('image-classification') ?? false;
  }

  /** Whether it compares them with texts. */
  get matchesTexts(): boolean {
    return this.loader.info?.task === 'zero-shot-image-classification';
  }

  label(labels: string): void {
    this.pictured.labels = labels;
    void this.refresh();
  }

  /** Reads a picture's file. */
  async openPicture(file: File): Promise<void> {
    this.failure = undefined;
    try {
      await this.pictured.open(file);
    } catch (error) {
      this.failure = this.failureOf(error);
      return;
    }
    void this.refresh();
  }

  draw(strokes: readonly Stroke[]): void {
    this.pictured.draw(strokes);
    void this.refresh();
  }

  protected override failureOf(error: unknown): Failure {
    return this.readsPictures ? pictureFailure(error) : readFailure(error);
  }

  // --- translators --------------------------------------------------------------------------

  get translates(): boolean {
    return this.loader.info?.task === 'translation';
  }

  get searched(): Extract<Answered, { task: 'translation' }> | undefined {
    const { answered } = this.outcome ?? {};
    return answered?.task === 'translation' ? answered : undefined;
  }

  get rendering(): ModelExplorer['searched'] {
    return this.searched;
  }

  get text(): string {
    return this.input.first;
  }

  /** The alignment; undefined if the text in the box has changed. */
  get alignment(): Alignment | undefined {
    const { searched } = this;
    return searched?.text === this.text ? searched.alignment : undefined;
  }

  get outdated(): boolean {
    return this.busy;
  }

  get beams(): number {
    return this.how.beams;
  }

  get sentence(): number {
    return this.chosen;
  }

  /** The languages of a translator of many; empty for one pair. */
  get languages(): readonly string[] {
    return this.#translator.languages ?? [];
  }

  /** The target language; empty if the model does not name it, or several, as in "deu+fra". */
  get target(): string {
    const code = this.how.to?.replace('_', '-') ?? this.#translator.targetLanguage ?? '';
    return /[^\w-]/.test(code) ? '' : code;
  }

  get #translator(): Partial<TranslatorInfo> {
    return (this.loader.info as Partial<TranslatorInfo> | undefined) ?? {};
  }

  translateBetween(pair: LanguagePair): void {
    this.how = { ...this.how, ...pair, forced: [] };
    void this.refresh();
  }

  get forcedTokens(): number {
    return this.how.forced[this.chosen]?.length ?? 0;
  }

  search(beams: number): void {
    this.how = { ...this.how, beams };
    void this.refresh();
  }

  force(ids: readonly number[]): void {
    this.how = { ...this.how, forced: withList(this.how.forced, this.chosen, ids) };
    void this.refresh();
  }

  // --- attention --------------------------------------------------------------------------------

  /** The kinds of attention that the model has. */
  get kinds(): readonly AttentionKind[] {
    const { attended } = this;
    if (attended) {
      const all: AttentionKind[] = ['encoder', 'decoder', 'cross'];
      return all.filter((kind) => attended.maps[kind]);
    }
    const { figure } = this.task ?? {};
    if (figure === 'encoder-decoder') return ['encoder', 'decoder', 'cross'];
    return figure === 'decoder' ? ['decoder'] : ['encoder'];
  }

  /** The attention on the chosen text. */
  get attended(): TextAttention | undefined {
    const { texts = [] } = this.outcome ?? {};
    return texts[this.chosen] ?? texts[0];
  }

  get layers(): number {
    return this.attended?.maps[this.attention]?.layers ?? this.layersOf(this.attention);
  }

  get heads(): number {
    return this.attended?.maps[this.attention]?.heads ?? this.loader.info?.heads ?? 1;
  }

  async traceOf(trace: readonly string[]): Promise<Trace> {
    const { outcome } = this;
    const task = this.#taskName;
    const { model } = this.loader;
    if (!outcome || !task || !model) return {};
    const { signal } = this.asking;
    const { texts } = await asking[task](model, outcome.input, {
      ablate: this.choice.off,
      search: this.how,
      signal,
      trace,
    });
    return (texts[this.chosen] ?? texts[0])?.trace ?? {};
  }

  toJson(): object {
    const { outcome, attended, choice } = this;
    if (!outcome || !attended) return {};
    const { maps, source, target = [] } = attended;
    return attentionJson({ ...outcome.input, source, target, ablate: choice.off }, maps);
  }

  layersOf(attention: AttentionKind): number {
    const { info } = this.loader;
    const decoder = (info as { decoderLayers?: number } | undefined)?.decoderLayers;
    return (attention === 'encoder' ? undefined : decoder) ?? info?.layers ?? 1;
  }

  protected get empty(): boolean {
    const { input, task } = this;
    if (this.readsPictures) {
      const { picture, labels } = this.pictured;
      return !picture || (this.matchesTexts && linesOf(labels).length === 0);
    }
    return (
      !task ||
      linesOf(input.first).length === 0 ||
      (task.needsSecond === true && !input.second.trim())
    );
  }

  protected async ask(model: Model, signal: AbortSignal): Promise<void> {
    const { input } = this;
    const task = this.#taskName;
    const begin = performance.now();
    if (this.readsPictures) {
      this.verdict = await this.pictured.ask(
        model as ImageClassifier | ZeroShotImageClassifier,
        signal,
      );
      this.milliseconds = performance.now() - begin;
      this.busy = false;
    }
    if (!task) return;
    const { off: ablate } = this.choice;
    const made = await asking[task](model, input, { ablate, search: this.how, signal });
    this.milliseconds = performance.now() - begin;
    this.#show({ input, ...made });
  }

  protected clear(): void {
    this.verdict = undefined;
    this.#show(undefined);
  }

  #show(outcome: AnswerOutcome | undefined): void {
    this.busy = false;
    this.outcome = outcome;
    this.pointer.stayWithin();
    if (outcome && this.chosen >= outcome.texts.length) this.chosen = 0;
    this.choice.followMatrix();
  }
}
