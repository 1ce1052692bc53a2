/** Reads a model's texts once per visit, to find those in which a head does most what it does. */
import { ModelLoader, type Model } from '../../../models/model-loader.svelte.ts';
import { isLoaded } from '../../../models/shared-models.ts';
import { ownModels } from '../../../models/tasks/own-models.ts';
import { readFailure, type Failure } from '../../../ui/failure.ts';
import type { ZooModel } from '../zoo.ts';
import { readers, textsOf, type ReadText } from './texts.ts';

export class TextSearch {
  readonly loader = new ModelLoader<Model>((name) => ownModels[name as ZooModel].opens);
  /** The number of texts so far; undefined if it is not running. */
  progress = $state<number>();
  failure = $state.raw<Failure>();
  #read = $state.raw<Partial<Record<ZooModel, readonly ReadText[]>>>({});
  #work = new AbortController();
  #model: ZooModel = 'sentiment';

  /** Returns the texts that a model has read, with the attention of its heads; undefined before. */
  of(model: ZooModel): readonly ReadText[] | undefined {
    return this.#read[model];
  }

  get running(): boolean {
    return this.progress !== undefined;
  }

  /** Whether nothing has to be loaded. */
  isNear = (model: ZooModel): boolean => isLoaded(model);

  stop(): void {
    this.#work.abort();
    this.progress = undefined;
    if (this.loader.phase === 'loading') this.loader.close();
  }

  /** Loads the model of the last search again. */
  load = (): Promise<void> => this.run(this.#model);

  async run(model: ZooModel): Promise<void> {
    if (this.running && this.#model === model) return;
    this.stop();
    this.#model = model;
    if (this.of(model)) return;
    const { signal } = (this.#work = new AbortController());
    this.failure = undefined;
    this.progress = 0;
    try {
      const { loader } = this;
      if (!(await loader.load(model)) || signal.aborted) return;
      const found: ReadText[] = [];
      for (const [i, text] of textsOf[model].entries()) {
        const read = await readers[model](loader.model!, text, signal);
        signal.throwIfAborted();
        if (read) found.push(read);
        this.progress = i + 1;
      }
      this.#read = { ...this.#read, [model]: found };
    } catch (error) {
      if (!signal.aborted) this.failure = readFailure(error);
    } finally {
      if (this.#work.signal === signal) this.progress = undefined;
    }
  }
}
