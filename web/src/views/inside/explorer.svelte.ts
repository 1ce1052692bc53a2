/** The inside view's state: model, text, the chosen token, layer and head, and the results. */
import type { HeadPosition } from '../../panels/heads/position.ts';
import type { Figured } from '../../ui/figured.ts';
import { answers } from '../../panels/verdict/answer-inside.ts';
import { partOf } from '../../panels/figure/part-of.ts';
import type { Link } from '../../ui/link.ts';
import { examples } from './examples.ts';
import { Explorer } from '../../models/explorer.svelte.ts';
import { loadFailure } from '../../ui/failure.ts';
import { ownModels } from '../../models/tasks/own-models.ts';
import { ModelLoader } from '../../models/model-loader.svelte.ts';
import { fromInsideLink, toInsideLink, type Key, type NumberAt, type Spot } from './link.ts';
import { models, type InsideModel } from './reading/models.ts';
import { read, type OpenModel, type Reading } from './reading/reading.ts';
import { WeightRows } from './reading/rows.svelte.ts';
import type { Source } from './steps/unfold.ts';
import { crumbOf, endingIn, isCross, isOfKeys, isOfPairs, leadingTo, type Crumb } from './trail.ts';

/** Delay between typing and the model's run, in milliseconds. */
const pause = 60;

export class InsideExplorer extends Explorer<OpenModel> {
  readonly loader = new ModelLoader<OpenModel>((model) => ownModels[model as InsideModel].opens);

  model = $state<InsideModel>(models[0]);
  text = $state('');
  spot = $state.raw<Spot>();
  head = $state.raw<HeadPosition>({ layer: 0, head: 0 });
  /** The chosen key; undefined selects the key with the largest attention weight. */
  key = $state.raw<Key>();
  untrained = $state(false);
  /** Undefined before the first run, and if the text has no tokens. */
  reading = $state.raw<Reading>();
  /** The unfolded numbers, at most one per tensor. */
  opened = $state.raw<readonly NumberAt[]>([]);
  /** The numbers that were followed, each computed from the next; the last one is in view. */
  trail = $state.raw<readonly Crumb[]>([]);
  /** The number that the view should scroll to. */
  sought = $state.raw<NumberAt>();
  /** The step at the top of the window. */
  step = $state<string>();
  /** The step that the view should scroll to. */
  soughtStep = $state<string>();
  /** The rows of the model's weights that were fetched. */
  weights = $state.raw<WeightRows>();

  /**
   * A number to unfold as soon as there is a reading with it: of a link, or of another stack, where it
   * continues the trail.
   */
  #awaited: (NumberAt & { continues: boolean }) | undefined;
  /** The model that the loader has or is loading. */
  #loaded = '';

  constructor(link: Link) {
    super();
    this.text = examples[this.model][0]!.text;
    this.#take(link);
  }

  async load(): Promise<void> {
    this.#loaded = this.#wanted;
    if (!(await this.loader.load(this.model, this.untrained))) return;
    const { model } = this;
    this.weights = new WeightRows(this.loader.model!, (error) => {
      this.failure = loadFailure(error, `models/${model}`);
    });
    void this.refresh();
  }

  follow(link: Link): void {
    this.#take(link);
    this.#renew();
  }

  readonly viewpoint = ['head', 'token', 'key'];

  get link(): Link {
    return toInsideLink(this);
  }

  /** The number in view, if one was followed. */
  get number(): NumberAt | undefined {
    return this.trail.at(-1);
  }

  get figure(): Figured {
    const { reading, model, text, step, head } = this;
    const { spot, run } = reading ?? {};
    const part = partOf(step);
    return {
      architecture: this.architecture,
      kind: ownModels[model].figure,
      rows: { encoder: run?.pieces.encoder?.length, decoder: run?.pieces.decoder?.length },
      here: { parts: part ? [part] : [], layer: head.layer, ...(spot && { stack: spot.stack }) },
      inside: { model, text, token: this.link.token },
    };
  }

  edit(text: string): void {
    this.trail = [];
    this.#awaited = undefined;
    this.text = text;
    this.refreshAfter(pause);
  }

  /** Shows an example. */
  show(text: string): void {
    this.#forget();
    this.edit(text);
  }

  /** Changes the model. An example of the old model is replaced by one of the new. */
  take(model: InsideModel): void {
    const own = examples[this.model].some(({ text }) => text === this.text);
    const fits = examples[model].some(({ text }) => text === this.text);
    this.model = model;
    if (own && !fits) this.text = examples[model][0]!.text;
    this.head = { layer: 0, head: 0 };
    this.#forget();
    this.#renew();
  }

  beforeTraining(untrained: boolean): void {
    this.untrained = untrained;
    this.#renew();
  }

  choose(spot: Spot): void {
    this.trail = [];
    this.spot = spot;
    this.key = undefined;
    if (this.reading?.spot.stack === spot.stack) {
      // Unfolded numbers stay open for another token, but not in another stack.
      this.reading = { ...this.reading, spot };
      return;
    }
    this.opened = [];
    this.head = { layer: 0, head: 0 };
    void this.refresh();
  }

  chooseLayer(layer: number): void {
    this.trail = [];
    this.head = { ...this.head, layer };
    this.key = undefined;
    this.opened = this.opened.map(({ tensor, index }) => ({
      tensor: tensor.replace(/layers\.\d+/, `layers.${layer}`),
      index,
    }));
    void this.refresh();
  }

  chooseHead(head: number): void {
    this.trail = [];
    this.head = { ...this.head, head };
    this.key = undefined;
    if (this.reading) this.reading = { ...this.reading, head };
  }

  look(key: Key): void {
    this.trail = [];
    this.key = key;
  }

  /** Unfolds a number, or folds it if it is open. */
  toggle({ tensor, index }: NumberAt): void {
    const open = this.openedOf(tensor) === index;
    if (open) this.#fold(tensor);
    else this.#unfold({ tensor, index });
  }

  openedOf(tensor: string): number | undefined {
    return this.opened.find((each) => each.tensor === tensor)?.index;
  }

  /** Goes to the step that computed a number, and unfolds it there. `from` was computed from it. */
  goTo(
    { tensor: name, index, of, at: other }: Source,
    { cross, key, from }: { cross: boolean; key: number; from: NumberAt },
  ): void {
    const { reading } = this;
    if (!reading) return;
    const { spot: here, layer: shown, head: ofHead } = reading;
    const origin = crumbOf(reading, from, { spot: here, layer: shown, head: ofHead, key });
    const trail = leadingTo(this.trail, origin);
    const [, stack = reading.spot.stack, layer] =
      /^(encoder|decoder)(?:\.layers\.(\d+))?/.exec(name) ?? [];
    if (/\.self_attn\.scores$/.test(name) || /\.encoder_attn\.scores$/.test(name)) {
      this.look({ cross, index });
      this.trail = trail;
      return;
    }
    const { tensor, head, at } = this.#siteOf(name, index);
    // Keys and values are shown for the key, everything else for the token.
    const ofKey = of === 'key' && isOfKeys(name);
    const row = other ?? (of === 'key' ? key : reading.spot.token);
    const token = ofKey ? reading.spot.token : row;
    const spot = { stack: stack as Spot['stack'], token };
    const moved =
      spot.stack !== reading.spot.stack ||
      (layer !== undefined && Number(layer) !== reading.layer && !/\.input$/.test(name));
    if (ofKey) this.look({ cross: isCross(name), index: row });
    else if (of === 'key' || other !== undefined) this.choose(spot);
    if (head !== undefined) this.chooseHead(head);
    if (moved && layer !== undefined) this.head = { ...this.head, layer: Number(layer) };
    const { layer: toLayer, head: toHead } = this.head;
    const to = { spot, layer: toLayer, head: toHead, key: ofKey ? row : undefined };
    const crumb = crumbOf(reading, { tensor, index: at }, to);
    this.trail = crumb ? endingIn(trail, crumb) : trail;
    if (!crumb && moved) this.#awaited = { tensor, index: at, continues: true };
    this.#unfold({ tensor, index: at });
    if (moved) void this.refresh();
    this.sought = { tensor, index: at };
  }

  /** Goes back to a number of the trail. */
  backTo(crumb: Crumb): void {
    const { tensor, index, spot, layer, head, key } = crumb;
    const trail = endingIn(this.trail, crumb);
    this.choose(spot);
    this.trail = trail;
    this.head = { layer, head };
    if (isOfPairs(tensor)) this.key = { cross: isCross(tensor), index };
    else this.#unfold({ tensor, index });
    if (key !== undefined) this.key = { cross: isCross(tensor), index: key };
    void this.refresh();
    this.sought = { tensor, index };
  }

  /**
   * Returns the tensor as the steps show it: some tensors have two names, and some are shown one
   * head at a time.
   */
  #siteOf(name: string, index: number): { tensor: string; at: number; head?: number } {
    const { shape = [] } = this.reading?.run.trace[name] ?? {};
    if (name.endsWith('.context') && shape.length === 3) {
      const width = shape[2]!;
      return { tensor: name, at: index % width, head: Math.floor(index / width) };
    }
    if (name.endsWith('.layers.0.input'))
      return { tensor: name.replace('layers.0.input', 'embeddings'), at: index };
    const last = name.replace(/^(encoder|decoder)\.output$/, '$1.layer_norm');
    return { tensor: last, at: index };
  }

  #unfold(opened: NumberAt): void {
    this.#fold(opened.tensor);
    this.opened = [...this.opened, opened];
  }

  #fold(tensor: string): void {
    this.opened = this.opened.filter((each) => each.tensor !== tensor);
  }

  get #wanted(): string {
    return `${this.model} ${this.untrained}`;
  }

  #forget(): void {
    this.trail = [];
    this.spot = undefined;
    this.key = undefined;
    this.opened = [];
  }

  #take(link: Link): void {
    const { model, text, spot, head, key, untrained = false, number } = fromInsideLink(link);
    const { trail } = this;
    if (model !== undefined) this.model = model;
    if (text !== undefined) {
      const same = this.text === text;
      this.text = text;
      this.#forget();
      if (same && number) this.trail = trail;
      this.#awaited = number && { ...number, continues: false };
      this.spot = spot;
      this.key = key;
    }
    if (head) this.head = head;
    this.untrained = untrained;
    this.soughtStep = link.step;
  }

  /** Runs again, with another model if that was chosen. */
  #renew(): void {
    if (this.loader.begun && this.#loaded !== this.#wanted) {
      this.reading = undefined;
      this.weights = undefined;
      this.busy = true;
      void this.load();
    } else void this.refresh();
  }

  protected get empty(): boolean {
    return this.text.trim() === '';
  }

  protected async ask(model: OpenModel, signal: AbortSignal): Promise<void> {
    const { text, model: name, spot, head, untrained } = this;
    const reading = await read(name, model, { text, spot, ...head, untrained, signal });
    if (!signal.aborted) this.#show(reading);
  }

  protected clear(): void {
    this.#show(undefined);
  }

  #show(reading: Reading | undefined): void {
    this.busy = false;
    this.reading = reading;
    if (!reading) return;
    this.head = { layer: reading.layer, head: reading.head };
    this.#showAwaited(reading);
  }

  #showAwaited(reading: Reading): void {
    const awaited = this.#awaited;
    if (!awaited) return;
    this.#awaited = undefined;
    const { spot, layer, head, steps } = reading;
    const tensor =
      awaited.tensor === answers
        ? steps.flatMap(({ answer }) => answer?.tensor ?? [])[0]
        : awaited.tensor;
    const number = { tensor: tensor ?? '', index: awaited.index };
    const key = this.key?.index;
    const crumb = crumbOf(reading, number, { spot, layer, head, key });
    if (!crumb) {
      this.trail = [];
      return;
    }
    const trail = endingIn(this.trail, crumb);
    // A link to a number that the trail lacks begins another one.
    const isNew = trail.length > this.trail.length;
    this.trail = isNew && !awaited.continues ? [crumb] : trail;
    this.#unfold(number);
    this.sought = number;
  }
}
