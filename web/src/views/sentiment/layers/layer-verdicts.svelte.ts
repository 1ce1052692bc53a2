/** The verdict read from each layer: the logit lens (nostalgebraist 2020). */
import type { Classifier, Explanations } from 'glassformer';
import { Question, type ExplainingModel } from '../../../models/explaining-model.svelte.ts';

/** The verdict read before a layer, or after the last. */
export type LayerVerdict = Explanations['lens']['layers'][number];

export class LayerVerdicts {
  readonly question: Question<Classifier>;
  /** One per layer, before it, and one after the last. */
  verdicts = $state.raw<readonly LayerVerdict[]>();

  constructor(model: ExplainingModel<Classifier>) {
    this.question = new Question(model);
  }

  /** Reads a text. A later call replaces an earlier one. */
  async read(text: string): Promise<void> {
    await this.question.ask('sentiment', async (model, signal) => {
      const { layers } = await model.explain<'lens'>(text, { method: 'lens', signal });
      this.verdicts = layers;
    });
    if (this.question.failure) this.verdicts = undefined;
  }
}
