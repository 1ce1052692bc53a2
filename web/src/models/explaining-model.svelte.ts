/** A view's model once more, in a binary that explains: fetched when something is first asked of it. */
import type { LoadOptions } from 'glassformer';
import { readFailure, type Failure } from '../ui/failure.ts';
import { ModelLoader, type Model } from './model-loader.svelte.ts';
import type { ModelName } from './models.ts';

/** Several questions share one. */
export class ExplainingModel<M extends Model> {
  readonly loader: ModelLoader<M>;
  #name: ModelName | undefined;
  #loading: Promise<boolean> | undefined;

  constructor(loader: ModelLoader<M>) {
    this.loader = loader;
  }

  /** Undefined where it did not come, or another was asked for meanwhile. */
  async get(name: ModelName): Promise<M | undefined> {
    if (name !== this.#name || this.loader.phase === 'failed') this.#loading = undefined;
    this.#name = name;
    this.#loading ??= this.loader.load(name);
    const there = await this.#loading;
    return there && this.#name === name ? this.loader.model : undefined;
  }

  close(): void {
    this.loader.close();
    this.#name = this.#loading = undefined;
  }
}

/** One of this class, loaded as the view's is but for `more`. */
export const explainingModel = <M extends Model>(
  kind: { load(folder: URL, options: LoadOptions & { explain: boolean }): Promise<M> },
  more?: LoadOptions,
): ExplainingModel<M> =>
  new ExplainingModel(
    new ModelLoader((folder, options) => kind.load(folder, { ...options, ...more, explain: true })),
  );

/** What is asked of such a model: a new question takes the place of the one before. */
export class Question<M extends Model> {
  busy = $state(false);
  /** Why it was not answered. */
  failure = $state.raw<Failure>();

  readonly #of: ExplainingModel<M>;
  #asking = new AbortController();

  constructor(of: ExplainingModel<M>) {
    this.#of = of;
  }

  /** `answer` says what it finds; where its signal is aborted, that is of no use any more. */
  async ask(
    name: ModelName,
    answer: (model: M, signal: AbortSignal) => Promise<void>,
  ): Promise<void> {
    this.stop();
    const { signal } = (this.#asking = new AbortController());
    this.failure = undefined;
    this.busy = true;
    try {
      const model = await this.#of.get(name);
      if (signal.aborted) return;
      if (model) await answer(model, signal);
      else this.failure = this.#of.loader.failure;
    } catch (error) {
      if (!signal.aborted) this.failure = readFailure(error);
    }
    if (!signal.aborted) this.busy = false;
  }

  stop(): void {
    this.#asking.abort();
    this.busy = false;
  }
}
