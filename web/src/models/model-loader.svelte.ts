/** A model that loads: how far that is, what went wrong, and whose place it takes. */
import type { LoadOptions, ModelInfo, Progress } from 'glassformer';
import { loadFailure, type Failure } from '../ui/failure.ts';
import { folderOf, type ModelName } from './models.ts';
import { workOffline } from './offline.ts';

/** Of whatever class. */
export interface Model {
  readonly info: ModelInfo;
  vocabulary(): Promise<string[]>;
  dispose(): void;
}

/** Loads one model at a time, from wherever that is. */
export class Loader<M extends Model = Model> {
  phase = $state<'loading' | 'ready' | 'failed'>('loading');
  failure = $state.raw<Failure>();
  /** How much of the model has come, in bytes. */
  progress = $state.raw<Progress['overall']>();
  info = $state.raw<M['info']>();
  model: M | undefined;

  #loading: AbortController | undefined;

  get begun(): boolean {
    return this.#loading !== undefined;
  }

  /**
   * Loads a model: for the first time, again where that failed, or in the place of another. Resolves
   * to whether it is there; it is not where it failed, or where another was asked for meanwhile.
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

  /** Lets the model go, or what of it has come. */
  close(): void {
    this.#loading?.abort();
    this.model?.dispose();
    this.model = undefined;
    this.info = undefined;
    this.progress = undefined;
    this.failure = undefined;
  }
}

/** Loads models that lie beside the page. */
export class ModelLoader<M extends Model = Model> extends Loader<M> {
  /** The model that was asked for last. */
  name: ModelName | undefined;
  /** Whether its binary can explain answers. */
  explains = false;
  readonly #open: (folder: URL, options: LoadOptions) => Promise<M>;

  constructor(open: (folder: URL, options: LoadOptions) => Promise<M>) {
    super();
    this.#open = open;
  }

  /** Replaces the model by the same one in a binary that explains. */
  upgrade(model: M): void {
    const { model: before } = this;
    this.model = model;
    this.explains = true;
    // A model's calls wait for one another: this call is answered after those in progress.
    before
      ?.vocabulary()
      .catch(() => undefined)
      .finally(() => before.dispose());
  }

  /** Gives the model to another owner, which disposes of it. */
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
