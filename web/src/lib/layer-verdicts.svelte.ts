/** What the model's head reads from each layer: the logit lens (nostalgebraist 2020). */
import { Classifier, type Explanations } from 'glassformer';
import { readFailure, type Failure } from './failure.ts';
import { ModelLoader } from './model-loader.svelte.ts';

/** The verdict as it stands before a layer, or after the last. */
export type LayerVerdict = Explanations['lens']['layers'][number];

export class LayerVerdicts {
  /** A model of its own: the view's may be unable to explain. */
  readonly loader = new ModelLoader((folder, options) =>
    Classifier.load(folder, { ...options, explain: true }),
  );

  /** One more than there are layers. */
  verdicts = $state.raw<readonly LayerVerdict[]>();
  failure = $state.raw<Failure>();

  #reading = new AbortController();

  /** Reads a text; where it is called again meanwhile, that one counts. */
  async read(text: string): Promise<void> {
    this.#reading.abort();
    const { signal } = (this.#reading = new AbortController());
    this.failure = undefined;
    if (!this.loader.model && !(await this.loader.load('sentiment'))) {
      this.failure = this.loader.failure;
      return;
    }
    if (signal.aborted) return;
    try {
      const { layers } = await this.loader.model!.explain<'lens'>(text, { method: 'lens', signal });
      this.verdicts = layers;
    } catch (error) {
      if (signal.aborted) return;
      this.verdicts = undefined;
      this.failure = readFailure(error);
    }
  }

  /** Lets the model go. */
  close(): void {
    this.#reading.abort();
    this.loader.model?.dispose();
    this.loader.model = undefined;
    this.verdicts = undefined;
  }
}
