/** A view's model in the binary with everything, which is loaded for the first question. */
import { readFailure, type Failure } from '../ui/failure.ts';
import { ModelLoader, type Model } from './model-loader.svelte.ts';
import { canExplain, type Loadable, type Source } from './shared-models.ts';

export class ExplainingModel<M extends Model> {
  /** Loads the larger binary. */
  readonly loader: ModelLoader<M>;
  readonly #view: ModelLoader<M> | undefined;
  #source: Source | undefined;
  #loading: Promise<boolean> | undefined;

  /** `view` is the loader of the view's own model, which only the view keeps. */
  constructor(kind: Loadable<M>, view: ModelLoader<M> | undefined) {
    this.loader = new ModelLoader(() => kind, { explains: true });
    this.#view = view;
  }

  /** Returns undefined if loading failed or another model was requested meanwhile. */
  async get(source: Source): Promise<M | undefined> {
    const there = this.#viewModel(source);
    if (there && canExplain(source)) return there;
    const { loader } = this;
    const gone = loader.phase === 'ready' && !loader.model;
    if (source !== this.#source || gone || loader.phase === 'failed') this.#loading = undefined;
    this.#source = source;
    this.#loading ??= loader.load(source);
    if (!(await this.#loading) || this.#source !== source) return undefined;
    const own = this.#viewModel(source);
    if (!own) return loader.model;
    loader.model?.dispose();
    loader.model = undefined;
    return own;
  }

  #viewModel(source: Source): M | undefined {
    const view = this.#view;
    return view?.phase === 'ready' && view.source === source ? view.model : undefined;
  }

  close(): void {
    this.loader.close();
    this.#source = this.#loading = undefined;
  }
}

/** A question to an explaining model. A new question replaces the one before. */
export class Question<M extends Model> {
  busy = $state(false);
  /** Why there is no answer. */
  failure = $state.raw<Failure>();

  readonly #of: ExplainingModel<M>;
  #asking = new AbortController();

  constructor(of: ExplainingModel<M>) {
    this.#of = of;
  }

  /** `answer` shows what it finds. If its signal is aborted, the result is outdated. */
  async ask(
    source: Source,
    answer: (model: M, signal: AbortSignal) => Promise<void>,
  ): Promise<void> {
    this.stop();
    const { signal } = (this.#asking = new AbortController());
    this.failure = undefined;
    this.busy = true;
    try {
      const model = await this.#of.get(source);
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
