/**
 * Loads the models of all views. Each one is loaded once, in floats, for all views that use it: so
 * the numbers of one thing agree between views. If a view needs more than a model's binary can do,
 * the model is replaced, for all views, by itself in a larger binary.
 */
import type { LoadOptions, ModelInfo, Progress } from 'glassformer';
import type { ChosenFiles } from './model-files.ts';
import { binaries, folderOf, type ModelName } from './models.ts';

/** A model of any class. */
export interface Model {
  readonly info: ModelInfo;
  vocabulary(): Promise<string[]>;
  dispose(): void;
}

/** A model next to the page, or the files of one that the visitor trained. */
export type Source = ModelName | ChosenFiles;

/** A class of the package. */
export interface Loadable<M> {
  load(
    folder: URL | ChosenFiles,
    options: LoadOptions & { explain?: boolean; untrained?: boolean },
  ): Promise<M>;
}

export interface Wanted<M> {
  source: Source;
  kind: Loadable<M>;
  /** Whether answers will be explained. */
  explains: boolean;
  /** Whether the weights should be random. */
  untrained?: boolean;
}

/** What a loan does while the model is being loaded. */
type Loan = Pick<LoadOptions, 'signal' | 'onProgress'>;

class SharedModel {
  model: Model | undefined;
  /** Whether the model is in the binary with everything. */
  explains = false;
  /** How much of it was loaded when it was last reported. */
  progress: Progress | undefined;
  /** Where the model is lent to. */
  readonly loans = new Set<Loan>();
  #loading: Promise<unknown> = Promise.resolve();
  readonly #end = new AbortController();

  /** Loads the model after what is being loaded, unless it can do enough by then. */
  load({ source, kind, explains, untrained = false }: Wanted<Model>): Promise<void> {
    // The small binary is for the first verdict.
    const explain = explains || source !== 'sentiment';
    const loading = this.#loading
      .catch(() => undefined)
      .then(async () => {
        if (this.model && (this.explains || !explain)) return;
        const { model: before } = this;
        this.model = await kind.load(typeof source === 'string' ? folderOf(source) : source, {
          compute: 'f32',
          untrained,
          urls: binaries,
          // The smallest models gain little from threads, whose binary is larger.
          ...((source === 'sentiment' || source === 'digits') && { threads: 1 }),
          ...(explain && { explain }),
          signal: this.#end.signal,
          onProgress: (progress) => {
            this.progress = progress;
            for (const { onProgress } of this.loans) onProgress?.(progress);
          },
        });
        this.explains = explain;
        // A model handles its calls in order: this one ends after those in progress.
        before
          ?.vocabulary()
          .catch(() => undefined)
          .finally(() => before.dispose());
      });
    this.#loading = loading;
    return loading;
  }

  end(): void {
    this.#end.abort();
    this.model?.dispose();
  }
}

const shared = new Map<unknown, SharedModel>();

/** Whether a model is loaded in a binary that explains. */
export const canExplain = (source: Source): boolean => shared.get(source)?.explains ?? false;

/** Whether a model is loaded, for any view. */
export const isLoaded = (source: Source): boolean => shared.get(source)?.model !== undefined;

/** Lends a model until its `dispose` is called. It is disposed of when nobody has it. */
export async function borrow<M extends Model>(wanted: Wanted<M>, loan: Loan = {}): Promise<M> {
  const { signal } = loan;
  const key = wanted.untrained ? `${wanted.source as ModelName} untrained` : wanted.source;
  const of = shared.get(key) ?? new SharedModel();
  shared.set(key, of);
  of.loans.add(loan);
  if (of.progress) loan.onProgress?.(of.progress);
  const dispose = () => {
    if (!of.loans.delete(loan) || of.loans.size > 0) return;
    shared.delete(key);
    of.end();
  };
  signal?.addEventListener('abort', dispose);
  try {
    await of.load(wanted);
    signal?.throwIfAborted();
  } catch (error) {
    dispose();
    throw error;
  }
  signal?.removeEventListener('abort', dispose);
  return new Proxy(of.model as M, {
    get(_, name) {
      if (name === 'dispose') return dispose;
      const { model } = of;
      const value: unknown = Reflect.get(model!, name, model);
      return typeof value === 'function' ? value.bind(model) : value;
    },
  });
}
