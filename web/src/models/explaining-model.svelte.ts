/** A view's model in a binary that can explain answers. It is loaded for the first question. */
import type { LoadOptions } from 'glassformer';
import { readFailure, type Failure } from '../ui/failure.ts';
import { ModelLoader, type Model } from './model-loader.svelte.ts';
import type { ModelName } from './models.ts';

export class ExplainingModel<M extends Model> {
  readonly loader: ModelLoader<M>;
  readonly #view: ModelLoader<M> | undefined;
  #name: ModelName | undefined;
  #loading: Promise<boolean> | undefined;

  /** `view` is the loader of the view's own model, which this model replaces to save memory. */
  constructor(loader: ModelLoader<M>, view?: ModelLoader<M>) {
    this.loader = loader;
    this.#view = view;
  }

  /** Returns undefined if loading failed or another model was requested meanwhile. */
  async get(name: ModelName): Promise<M | undefined> {
    const shared = this.#sharedOf(name);
    if (shared?.explains) return shared.model;
    const gone = this.loader.phase === 'ready' && !this.loader.model;
    if (name !== this.#name || gone || this.loader.phase === 'failed') this.#loading = undefined;
    this.#name = name;
    this.#loading ??= this.loader.load(name);
    const there = await this.#loading;
    if (!there || this.#name !== name) return undefined;
    const view = this.#sharedOf(name);
    if (!view) return this.loader.model;
    // Another panel of the view may have loaded the same model meanwhile.
    if (view.explains) this.loader.close();
    else view.upgrade(this.loader.release()!);
    return view.model;
  }

  #sharedOf(name: ModelName): ModelLoader<M> | undefined {
    const view = this.#view;
    return view?.phase === 'ready' && view.name === name ? view : undefined;
  }

  close(): void {
    this.loader.close();
    this.#name = this.#loading = undefined;
  }
}

type Loadable<M> = {
  load(folder: URL, options: LoadOptions & { explain: boolean }): Promise<M>;
};

/** Returns a model in a binary that can explain answers. It replaces the view's own model. */
export const explainingModel = <M extends Model>(
  kind: Loadable<M>,
  view: ModelLoader<M>,
): ExplainingModel<M> =>
  new ExplainingModel(
    new ModelLoader((folder, options) => kind.load(folder, { ...options, explain: true })),
    view,
  );

/** Returns a model in f32, in a binary that can explain answers, in addition to the view's own. */
export const explainingInFloats = <M extends Model>(kind: Loadable<M>): ExplainingModel<M> =>
  new ExplainingModel(
    new ModelLoader((folder, options) =>
      kind.load(folder, { ...options, compute: 'f32', explain: true }),
    ),
  );

/** Returns a model in f32, in the binary with gradients, in addition to the view's own. */
export const gradientsInFloats = <M extends Model>(kind: {
  load(folder: URL, options: LoadOptions & { gradients: boolean }): Promise<M>;
}): ExplainingModel<M> =>
  new ExplainingModel(
    new ModelLoader((folder, options) =>
      kind.load(folder, { ...options, compute: 'f32', gradients: true }),
    ),
  );

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
