/**
 * What the two views' states have in common: a model that loads, heads of which one is chosen and
 * some may be off, and the chosen head's attention with one cell pointed at.
 */
import type { Head, LoadOptions, ModelInfo, Progress } from 'glassformer';
import { SvelteSet } from 'svelte/reactivity';
import { strongestCell, type Cell, type Habit, type Matrix } from './attention.ts';
import { loadFailure, type Failure } from './failure.ts';
import { folderOf, type ModelName } from './models.ts';
import { workOffline } from './offline.ts';

export type AttentionKind = 'encoder' | 'decoder' | 'cross';

export interface HeadPosition {
  layer: number;
  head: number;
}

interface Model<Info> {
  readonly info: Info;
  dispose(): void;
}

/** How a heat map's cell is read out: before the query, and between query and key. */
export type Reader = readonly [before: string, between: string];

export abstract class HeadExplorer<
  Kind extends AttentionKind = AttentionKind,
  Info extends ModelInfo = ModelInfo,
  M extends Model<Info> = Model<Info>,
> {
  phase = $state<'loading' | 'ready' | 'failed'>('loading');
  failure = $state.raw<Failure>();
  /** How much of the model has come, in bytes. */
  progress = $state.raw<Progress['overall']>();
  info = $state.raw<Info>();

  text = $state('');
  /** Whether what is shown is older than the text or the interventions. */
  busy = $state(true);

  selected = $state.raw<HeadPosition>({ layer: 0, head: 0 });
  cell = $state.raw<Cell>({ query: 0, key: 0 });
  /** Whether `cell` was pointed at; until then it follows the strongest weight. */
  pointed = $state(false);

  abstract readonly name: ModelName;
  /** Whose heads are on view. */
  abstract readonly attention: Kind;
  abstract readonly layers: number;
  abstract readonly heads: number;
  /** A head's attention; undefined before there is any. */
  abstract matrixOf(head: HeadPosition): Matrix | undefined;
  abstract readonly queryLabels: readonly string[];
  abstract readonly keyLabels: readonly string[];
  abstract readonly reader: Reader;
  /** What a head mostly does with this text. */
  abstract habitOf(matrix: Matrix): Habit;
  /** What the page shows as a file, every head's attention included. */
  abstract toJson(): string;

  protected abstract open(folder: URL, options: LoadOptions): Promise<M>;
  /** Asks the model anew, after a change of the interventions. */
  protected abstract refresh(): Promise<void>;
  /** Whether the model has this head; before it is loaded every head may exist. */
  protected abstract exists(head: Head<Kind>): boolean;

  protected model: M | undefined;
  #off = new SvelteSet<string>();
  #loading: AbortController | undefined;

  /** Loads the model, once. */
  start(): void {
    if (!this.#loading) void this.load();
  }

  /** Loads the model: again where that failed, or in the place of another. */
  async load(): Promise<void> {
    this.#loading?.abort();
    const { signal } = (this.#loading = new AbortController());
    this.model?.dispose();
    this.model = undefined;
    this.info = undefined;
    this.progress = undefined;
    this.phase = 'loading';
    this.failure = undefined;
    const { name } = this;
    try {
      this.model = await this.open(folderOf(name), {
        signal,
        onProgress: ({ overall }) => (this.progress = overall),
      });
    } catch (error) {
      if (signal.aborted) return;
      this.failure = loadFailure(error, `models/${name}`);
      this.phase = 'failed';
      return;
    }
    this.info = this.model.info;
    if (!this.exists({ attention: this.attention, ...this.selected }))
      this.selected = { layer: 0, head: 0 };
    this.off = this.off.filter((head) => this.exists(head));
    this.phase = 'ready';
    void this.refresh();
    await workOffline(name);
  }

  /** Whether an answer is on its way: the model loads, or reads. */
  get working(): boolean {
    return this.phase === 'loading' || (this.phase === 'ready' && this.busy);
  }

  /** The heads that are switched off, of whatever attention. */
  get off(): Head<Kind>[] {
    return [...this.#off].map((key) => {
      const [attention, layer, head] = key.split('.');
      return { attention: attention as Kind, layer: Number(layer), head: Number(head) };
    });
  }

  protected set off(heads: readonly Head<Kind>[]) {
    this.#off.clear();
    for (const head of heads) this.#off.add(this.#keyOf(head, head.attention));
  }

  isOff(head: HeadPosition): boolean {
    return this.#off.has(this.#keyOf(head));
  }

  toggleHead(head: HeadPosition): void {
    const key = this.#keyOf(head);
    if (!this.#off.delete(key)) this.#off.add(key);
    void this.refresh();
  }

  toggleLayer(layer: number): void {
    const heads = Array.from({ length: this.heads }, (_, head) => ({ layer, head }));
    const on = heads.every((head) => this.isOff(head));
    for (const head of heads) {
      if (on) this.#off.delete(this.#keyOf(head));
      else this.#off.add(this.#keyOf(head));
    }
    void this.refresh();
  }

  /** Takes all interventions back. */
  reset(): void {
    this.#off.clear();
    void this.refresh();
  }

  select(head: HeadPosition): void {
    this.selected = head;
    if (!this.pointed) this.followStrongest();
  }

  point(cell: Cell): void {
    this.cell = cell;
    this.pointed = true;
  }

  /** The chosen head's attention. */
  get matrix(): Matrix | undefined {
    return this.matrixOf(this.selected);
  }

  /** The key that a query looks at most. */
  strongestKeyOf(query: number): number {
    const { matrix } = this;
    if (!matrix) return 0;
    const row = matrix.weights.subarray(query * matrix.keys, (query + 1) * matrix.keys);
    return row.reduce((best, weight, key) => (weight > row[best]! ? key : best), 0);
  }

  /** Keeps the cell inside a new matrix, and at the strongest weight unless it was pointed at. */
  protected followMatrix(): void {
    const { matrix, cell } = this;
    const within = matrix && cell.query < matrix.queries && cell.key < matrix.keys;
    if (!this.pointed || !within) this.followStrongest();
  }

  protected followStrongest(): void {
    if (this.matrix) this.cell = strongestCell(this.matrix);
  }

  #keyOf({ layer, head }: HeadPosition, attention: AttentionKind = this.attention): string {
    return `${attention}.${layer}.${head}`;
  }
}
