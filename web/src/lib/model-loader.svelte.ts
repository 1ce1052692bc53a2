/** A model that loads: how far that is, what went wrong, and whose place it takes. */
import type { LoadOptions, ModelInfo, Progress } from 'glassformer';
import { loadFailure, type Failure } from './failure.ts';
import { folderOf, type ModelName } from './models.ts';
import { workOffline } from './offline.ts';

interface Model {
  readonly info: ModelInfo;
  dispose(): void;
}

export class ModelLoader<M extends Model = Model> {
  phase = $state<'loading' | 'ready' | 'failed'>('loading');
  failure = $state.raw<Failure>();
  /** How much of the model has come, in bytes. */
  progress = $state.raw<Progress['overall']>();
  info = $state.raw<M['info']>();
  model: M | undefined;

  readonly #open: (folder: URL, options: LoadOptions) => Promise<M>;
  #loading: AbortController | undefined;

  constructor(open: (folder: URL, options: LoadOptions) => Promise<M>) {
    this.#open = open;
  }

  get begun(): boolean {
    return this.#loading !== undefined;
  }

  /**
   * Loads a model: for the first time, again where that failed, or in the place of another. Resolves
   * to whether it is there; it is not where it failed, or where another was asked for meanwhile.
   */
  async load(name: ModelName): Promise<boolean> {
    this.#loading?.abort();
    const { signal } = (this.#loading = new AbortController());
    this.model?.dispose();
    this.model = undefined;
    this.info = undefined;
    this.progress = undefined;
    this.phase = 'loading';
    this.failure = undefined;
    try {
      this.model = await this.#open(folderOf(name), {
        signal,
        onProgress: ({ overall }) => (this.progress = overall),
      });
    } catch (error) {
      if (signal.aborted) return false;
      this.failure = loadFailure(error, `models/${name}`);
      this.phase = 'failed';
      return false;
    }
    this.info = this.model.info;
    this.phase = 'ready';
    void workOffline(name);
    return true;
  }
}
