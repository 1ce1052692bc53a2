/** Loads a model, and reports its progress or failure. */
import type { LoadOptions, Progress } from 'glassformer';
import { loadFailure, type Failure } from '../ui/failure.ts';
import { borrow, type Loadable, type Model, type Source } from './shared-models.ts';

export type { Model };

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

/** Loads the page's own models. Views share them; see shared-models.ts. */
export class ModelLoader<M extends Model = Model> extends Loader<M> {
  /** The model that was requested last. */
  source: Source | undefined;
  readonly #kindOf: (source: Source) => Loadable<M>;
  readonly #explains: boolean;

  /** `kindOf` returns the class of a model; `explains`: whether answers will be explained. */
  constructor(kindOf: (source: Source) => Loadable<M>, { explains = false } = {}) {
    super();
    this.#kindOf = kindOf;
    this.#explains = explains;
  }

  /** `untrained`: with random weights. */
  async load(source: Source, untrained = false): Promise<boolean> {
    this.source = source;
    const kind = this.#kindOf(source);
    const name = typeof source === 'string' ? source : undefined;
    const there = await this.open(
      (options) => borrow({ source, kind, explains: this.#explains, untrained }, options),
      (error) => loadFailure(error, `models/${name ?? ''}`),
    );
    if (there && name) {
      const { binary } = this.info!;
      // The code is not needed for the first answer. Without a network, it is not needed at all.
      import('./offline.ts').then((it) => it.workOffline(name, binary!)).catch(() => undefined);
    }
    return there;
  }
}
