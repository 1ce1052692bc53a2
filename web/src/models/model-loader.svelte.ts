/** Loads a model, and reports its progress or failure. */
import type { LoadOptions, ModelInfo, Progress } from 'glassformer';
import { loadFailure, type Failure } from '../ui/failure.ts';
import { folderOf, type ModelName } from './models.ts';
import { workOffline } from './offline.ts';

/** A model of any class. */
export interface Model {
  readonly info: ModelInfo;
  vocabulary(): Promise<string[]>;
  dispose(): void;
}

/** Loads one model at a time, from any source. */
export class Loader<M extends Model = Model> {
  phase = $state<'loading' | 'ready' | 'failed'>('loading');
  failure = $state.raw<Failure>();
  /** The bytes loaded so far, and their total if it is known. */
  progress = $state.raw<Progress['overall']>();
  info = $state.raw<M['info']>();
  model: M | undefined;

  #loading: AbortController | undefined;

  get begun(): boolean {
    return this.#loading !== undefined;
  }

  /**
   * Loads a model: for the first time, after a failure, or in place of another. Resolves to false
   * if loading failed or if another model was requested meanwhile.
   */
  async open(
    load: (options: LoadOptions) => Promise<M>,
    failureOf: (error: unknown) => Failure,
  ): Promise<boolean> {
    this.close();
    const { signal } = (this.#loading = new AbortController());
    this.phase = 'loading';
    try {
      this.model = await load({
        signal,
        onProgress: ({ overall }) => (this.progress = overall),
      });
    } catch (error) {
      if (signal.aborted) return false;
      this.failure = failureOf(error);
      this.phase = 'failed';
      return false;
    }
    this.info = this.model.info;
    this.phase = 'ready';
    return true;
  }

  /** Disposes of the model, or stops loading it. */
  close(): void {
    this.#loading?.abort();
    this.model?.dispose();
    this.model = undefined;
    this.info = undefined;
    this.progress = undefined;
    this.failure = undefined;
  }
}

/** Loads models from folders next to the page. */
export class ModelLoader<M extends Model = Model> extends Loader<M> {
  /** The model that was requested last. */
  name: ModelName | undefined;
  /** Whether its binary can explain answers. */
  explains = false;
  readonly #open: (folder: URL, options: LoadOptions) => Promise<M>;

  constructor(open: (folder: URL, options: LoadOptions) => Promise<M>) {
    super();
    this.#open = open;
  }

  /** Replaces the model with the same one in a binary that can explain answers. */
  upgrade(model: M): void {
    const { model: before } = this;
    this.model = model;
    this.explains = true;
    // A model handles its calls in order: this one ends after those in progress.
    before
      ?.vocabulary()
      .catch(() => undefined)
      .finally(() => before.dispose());
  }

  /** Hands the model over to another owner, which must dispose of it. */
  release(): M | undefined {
    const { model } = this;
    this.model = undefined;
    return model;
  }

  async load(name: ModelName): Promise<boolean> {
    this.name = name;
    this.explains = false;
    const there = await this.open(
      (options) => this.#open(folderOf(name), options),
      (error) => loadFailure(error, `models/${name}`),
    );
    if (there) void workOffline(name);
    return there;
  }
}
