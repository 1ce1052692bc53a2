/** The view's state: a drawing or a picture, the model's answer to it, and the interventions. */
import {
  ImageClassifier,
  readPicture,
  type ImageClassification,
  type PatchGrid,
  type PictureRegion,
} from 'glassformer';
import { headName, headsIn, type HeadPosition } from '../../panels/heads/position.ts';
import { Explorer } from '../../models/explorer.svelte.ts';
import { filesByName, handedOver, type ChosenFiles } from '../../models/model-files.ts';
import { ModelLoader } from '../../models/model-loader.svelte.ts';
import type { Figured, Words } from '../../ui/figured.ts';
import { percent } from '../../ui/text/format.ts';
import { pictureFailure, type Failure } from '../../ui/failure.ts';
import { numbersIn, type Link } from '../../ui/link.ts';
import { examples } from '../../panels/pictures/digits.ts';
import {
  pictureOf,
  side,
  strokesIn,
  strokesText,
  wiped,
  type Stroke,
} from '../../panels/pictures/drawing.ts';
import {
  attentionTo,
  placeName,
  type PatchesOnView,
  type Picture,
  type Reading,
} from '../../panels/pictures/patches.ts';
import { evidenceFor } from '../../panels/reasons/reasons.ts';

/** Returns a patch's place in a picture, in pixels. */
export function placeOf(patch: number, { rows, columns }: PatchGrid, region: PictureRegion) {
  const width = region.width / columns;
  const height = region.height / rows;
  return {
    left: region.left + (patch % columns) * width,
    top: region.top + Math.floor(patch / columns) * height,
    width,
    height,
  };
}

function wordsOf({ picture, result: { grid, region, scores } }: Reading): Words {
  const patches = Array.from({ length: grid.rows * grid.columns }, (_, i) => i);
  const special = grid.special.map((_, i) => (i === 0 ? 'class token' : grid.special[i]!));
  return {
    text: '',
    read: {
      encoder: [...special, ...patches.map((patch) => `patch in ${placeName(patch, grid)}`)],
    },
    scores,
    picture: {
      pixels: picture,
      places: [
        ...special.map(() => undefined),
        ...patches.map((patch) => placeOf(patch, grid, region)),
      ],
    },
  };
}

export class DigitsExplorer extends Explorer<ImageClassifier> implements PatchesOnView {
  readonly loader = new ModelLoader(() => ImageClassifier);

  /** The files of a model that the visitor taught, in place of the page's own. */
  taught = $state.raw<ChosenFiles>();
  strokes = $state.raw<readonly Stroke[]>([]);
  /** A file that was opened in place of a drawing. */
  opened = $state.raw<Picture>();
  /** Wiped patches, in their order. */
  wiped = $state.raw<readonly number[]>([]);
  /** The chosen head. */
  head = $state.raw<HeadPosition>({ layer: 0, head: 0 });
  /** The patch whose attention is shown; undefined: that of the class token. */
  query = $state<number>();

  /** With wiped patches; undefined before the first run and without a drawing. */
  reading = $state.raw<Reading>();
  /** The same picture with nothing wiped. */
  untouched = $state.raw<Reading>();
  /** Per patch, how much the evidence for the answer falls if it is wiped; see `measure`. */
  effects = $state.raw<{ of: Reading; label: string; values: Float32Array }>();
  #measuring = new AbortController();

  constructor(link: Link) {
    super();
    this.strokes = strokesIn(examples[3]!.strokes);
    this.#take(link);
  }

  override start(): void {
    const files = handedOver('digits');
    if (!files) return super.start();
    this.taught = filesByName(files);
    void this.load();
  }

  async load(): Promise<void> {
    const { taught, loader } = this;
    this.interrupt();
    this.clear();
    if (await loader.load(taught ?? 'digits')) void this.refresh();
  }

  /** Returns to the page's own model. */
  leaveTaught(): void {
    this.taught = undefined;
    void this.load();
  }

  follow(link: Link): void {
    this.#take(link);
    void this.refresh();
  }

  readonly viewpoint = ['head', 'query'];

  get link(): Link {
    const { strokes, head, query, wiped: patches, opened } = this;
    return {
      ...(!opened && { drawing: strokesText(strokes) }),
      ...(!opened && patches.length > 0 && { wipe: patches.join(',') }),
      ...((head.layer > 0 || head.head > 0) && { head: headName(head) }),
      ...(query !== undefined && { query: `${query}` }),
    };
  }

  get figure(): Figured {
    const { reading, grid, head } = this;
    const { label, score = 0 } = reading?.result ?? {};
    return {
      architecture: this.architecture,
      rows: { encoder: grid && grid.rows * grid.columns + grid.special.length },
      answer: reading && `${label} ${percent(score)}`,
      here: { parts: ['attention'], layer: head.layer },
      ...(reading && {
        traceOf: async (trace) =>
          (await this.loader.model!.classify(reading.picture, { trace })).trace,
        wordsOf: () => wordsOf(reading),
      }),
    };
  }

  #take(link: Link): void {
    if (link.drawing !== undefined) {
      this.opened = undefined;
      this.strokes = strokesIn(link.drawing);
      this.wiped = numbersIn(link.wipe, 4);
    }
    const [head] = headsIn(link.head);
    if (head) this.head = head;
    this.query = numbersIn(link.query, 4)[0];
  }

  get picture(): Picture {
    return this.opened ?? { width: side, height: side, data: pictureOf(this.strokes) };
  }

  get grid(): PatchGrid | undefined {
    return this.untouched?.result.grid;
  }

  get layers(): number {
    return this.loader.info?.layers ?? 0;
  }

  get heads(): number {
    return this.loader.info?.heads ?? 0;
  }

  get labels(): readonly string[] {
    return this.loader.info?.labels ?? [];
  }

  /** Shows strokes: while they are drawn, or an example. */
  draw(strokes: readonly Stroke[]): void {
    this.opened = undefined;
    this.wiped = [];
    this.strokes = strokes;
    void this.refresh();
  }

  undo(): void {
    this.draw(this.strokes.slice(0, -1));
  }

  protected clear(): void {
    this.reading = this.untouched = undefined;
    this.effects = undefined;
    this.busy = false;
  }

  /** Reads a picture's file. */
  async open(file: Blob): Promise<void> {
    this.failure = undefined;
    try {
      this.opened = await readPicture(file);
    } catch (error) {
      this.failure = this.failureOf(error);
      return;
    }
    this.wiped = [];
    void this.refresh();
  }

  protected override failureOf(error: unknown): Failure {
    return pictureFailure(error);
  }

  toggle(patch: number): void {
    this.wiped = this.wiped.includes(patch)
      ? this.wiped.filter((each) => each !== patch)
      : [...this.wiped, patch].sort((a, b) => a - b);
    void this.refresh();
  }

  restore(): void {
    this.wiped = [];
    void this.refresh();
  }

  protected get empty(): boolean {
    return !this.opened && this.strokes.length === 0;
  }

  /** Returns a picture with some patches black. */
  #without(picture: Picture, patches: readonly number[], { grid, region }: ImageClassification) {
    return patches
      .filter((patch) => patch < grid.rows * grid.columns)
      .reduce((left, patch) => wiped(left, placeOf(patch, grid, region)), picture);
  }

  protected async ask(model: ImageClassifier, signal: AbortSignal): Promise<void> {
    const { picture } = this;
    const options = { attention: true, signal } as const;
    const start = performance.now();
    const untouched = { picture, result: await model.classify(picture, options) };
    let reading: Reading = untouched;
    if (this.wiped.length > 0) {
      const left = this.#without(picture, this.wiped, untouched.result);
      reading = { picture: left, result: await model.classify(left, options) };
    }
    if (signal.aborted) return;
    this.milliseconds = performance.now() - start;
    this.untouched = untouched;
    this.reading = reading;
    this.busy = false;
  }

  /** Wipes each patch in turn, which takes as many runs as there are patches. */
  async measure(reading: Reading): Promise<void> {
    this.stopMeasuring();
    const { model } = this.loader;
    if (!model) return;
    const { signal } = (this.#measuring = new AbortController());
    const { grid, label } = reading.result;
    const patches = Array.from({ length: grid.rows * grid.columns }, (_, patch) => patch);
    const pictures = patches.map((patch) =>
      this.#without(reading.picture, [patch], reading.result),
    );
    try {
      const results = await model.classifyBatch(pictures, { signal });
      const evidenceIn = ({ scores }: ImageClassification) =>
        evidenceFor(
          scores.find((each) => each.label === label)!.logit,
          scores.map(({ logit }) => logit),
        );
      const whole = evidenceIn(reading.result);
      const values = Float32Array.from(results, (each) => whole - evidenceIn(each));
      if (!signal.aborted) this.effects = { of: reading, label, values };
    } catch {
      // A new drawing replaces this one, or the next run shows the failure.
    }
  }

  stopMeasuring(): void {
    this.#measuring.abort();
  }

  attentionOf(head: HeadPosition): Float32Array | undefined {
    return attentionTo(this.reading?.result, head, this.query);
  }
}
