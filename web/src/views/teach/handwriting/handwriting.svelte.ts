/** A few drawn digits that the model of digits is taught, and what they change. */
import { ImageClassifier, type Pixels } from 'glassformer';
import type { Stroke } from '../../../panels/pictures/drawing.ts';
import { folderOf } from '../../../models/models.ts';
import { borrow } from '../../../models/shared-models.ts';
import { Learning } from '../learning/learning.svelte.ts';
import { exampleOf, firstDrawn, pixelsOf, probes, rehearsals, type Drawn } from './drawn.ts';

/** The model's verdict on a picture. */
export interface Verdict {
  label: string;
  score: number;
}

/** Verdicts before and after the lesson. */
export interface Change {
  before: Verdict;
  after?: Verdict | undefined;
}

const options = {
  heldOut: 0,
  rate: 3e-4,
  warmUp: 0.1,
  decay: 'none',
  dropout: 0,
  smoothing: 0.05,
  averaging: 0,
  weightDecay: 0,
  distortion: 0.5,
} as const;
const epochs = 60;
/** The lesson ends when all pictures of a step are right and their mean loss is below this. */
const enough = 0.32;
/** How often each taught digit is read in an epoch; a rehearsed one is read once. */
const copies = 3;
/** More drawings make a step longer than a page should wait for. */
export const mostDrawn = 40;

export class Handwriting {
  readonly learning = new Learning();
  rows = $state.raw<readonly Drawn[]>(firstDrawn);
  /** Whether the model also rehearses digits that it knows. */
  rehearses = $state(true);
  /** The drawing on the pad, and what it is. */
  pad = $state.raw<readonly Stroke[]>([]);
  label = $state('1');
  /** The verdicts on the pad. */
  read = $state.raw<Change>();
  /** The verdicts on each row; those after the lesson are missing before it. */
  readonly changes = $derived.by(() => this.rows.map((row) => this.#known.get(row)));
  /** The verdicts on the probes, as the last lesson left them. */
  probed = $state.raw<readonly Change[]>([]);
  #known = $state.raw<ReadonlyMap<Drawn, Change>>(new Map());
  #model: Promise<ImageClassifier> | undefined;
  #reading = 0;

  /** Shows what the shipped model says of the rows. */
  async look(): Promise<void> {
    await Promise.all(this.rows.map((row) => this.#lookAt(row)));
  }

  async #lookAt(row: Drawn): Promise<void> {
    if (this.#known.has(row)) return;
    const before = await this.#before(pixelsOf(row.strokes)).catch(() => undefined);
    if (before) this.#learn(row, { before });
  }

  #learn(row: Drawn, change: Change): void {
    this.#known = new Map([...this.#known, [row, change]]);
  }

  /** The shipped model's verdict. The model is loaded once. */
  async #before(picture: Pixels): Promise<Verdict> {
    this.#model ??= borrow({ source: 'digits', kind: ImageClassifier, explains: false });
    this.#model.catch(() => (this.#model = undefined));
    return verdictOf(await this.#model, picture);
  }

  /** Shows strokes on the pad, and what the models read. */
  async draw(strokes: readonly Stroke[]): Promise<void> {
    this.pad = strokes;
    const reading = ++this.#reading;
    if (strokes.length === 0) this.read = undefined;
    if (strokes.length === 0) return;
    const picture = pixelsOf(strokes);
    const { trainer, running } = this.learning;
    const before = await this.#before(picture).catch(() => undefined);
    const after = trainer && !running ? await verdictOf(trainer, picture) : undefined;
    if (reading === this.#reading && before) this.read = { before, after };
  }

  /** Adds the drawing on the pad, and empties the pad. */
  add(): void {
    const row = { strokes: this.pad, label: this.label };
    const { read } = this;
    if (read) this.#learn(row, { before: read.before });
    this.rows = [...this.rows, row];
    if (!read) void this.#lookAt(row);
    void this.draw([]);
  }

  relabel(index: number, label: string): void {
    const row = this.rows[index]!;
    const changed = { ...row, label };
    const change = this.#known.get(row);
    if (change) this.#learn(changed, change);
    this.rows = this.rows.map((each) => (each === row ? changed : each));
  }

  remove(index: number): void {
    this.rows = this.rows.filter((_, i) => i !== index);
  }

  clear(): void {
    this.rows = [];
  }

  /** Teaches the shipped model the digits of the rows. */
  async teach(): Promise<void> {
    const { rows } = this;
    this.probed = [];
    const examples = async () => {
      for (const row of rows)
        this.#learn(row, { before: await this.#before(pixelsOf(row.strokes)) });
      const before: Change[] = [];
      for (const { strokes } of probes)
        before.push({ before: await this.#before(pixelsOf(strokes)) });
      this.probed = before;
      const taught = Array.from({ length: copies }, () => rows).flat();
      return [...taught, ...(this.rehearses ? rehearsals : [])].map(exampleOf);
    };
    await this.learning.run({
      start: folderOf('digits'),
      examples: examples(),
      // A step reads all examples, 50 rows each, so that its accuracy is that of all.
      options: { ...options, batchTokens: 50 * (copies * rows.length + rehearsals.length) },
      train: { epochs },
      until: ({ accuracy, loss }) => accuracy === 1 && loss < enough,
      atEnd: async (trainer) => {
        for (const row of rows) {
          const { before } = this.#known.get(row)!;
          this.#learn(row, { before, after: await verdictOf(trainer, pixelsOf(row.strokes)) });
        }
        const after: Change[] = [];
        for (const [i, { strokes }] of probes.entries()) {
          const { before } = this.probed[i]!;
          after.push({ before, after: await verdictOf(trainer, pixelsOf(strokes)) });
        }
        this.probed = after;
      },
    });
  }
}

async function verdictOf(
  model: { classify(picture: Pixels): Promise<Verdict> },
  picture: Pixels,
): Promise<Verdict> {
  const { label, score } = await model.classify(picture);
  return { label, score };
}
