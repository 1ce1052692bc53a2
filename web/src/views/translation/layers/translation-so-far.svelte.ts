/**
 * A sentence's translation read from each encoder layer (DecoderLens, Langedijk et al. 2023), and
 * its next tokens read from each decoder layer (logit lens, nostalgebraist 2020).
 */
import { Translator, type TranslationExplanations } from 'glassformer';
import { ExplainingModel, Question } from '../../../models/explaining-model.svelte.ts';
import type { ModelLoader } from '../../../models/model-loader.svelte.ts';
import type { ModelName } from '../../../models/models.ts';

type Of<Method extends 'lens' | 'decoder_lens'> =
  TranslationExplanations[Method]['sentences'][number];

export interface SoFar {
  name: ModelName;
  sentence: string;
  /** One per encoder layer, before it, and one after the last. */
  encoder: Of<'decoder_lens'>['layers'];
  /** The tokens that were written, including the end. */
  tokens: Of<'lens'>['tokens'];
  /** Per decoder layer and step, the most likely tokens. */
  decoder: Of<'lens'>['layers'];
}

export class TranslationSoFar {
  readonly #model: ExplainingModel<Translator>;
  readonly question: Question<Translator>;
  read = $state.raw<SoFar>();

  /** `view` is the loader of the view's own model. */
  constructor(view: ModelLoader<Translator>) {
    this.#model = new ExplainingModel(Translator, view);
    this.question = new Question(this.#model);
  }

  async ask(name: ModelName, sentence: string, beams: number): Promise<void> {
    await this.question.ask(name, async (model, signal) => {
      const asked = { beams, signal };
      const encoder = await model.explain(sentence, { method: 'decoder_lens', ...asked });
      const decoder = await model.explain(sentence, { method: 'lens', ...asked });
      const [from, by] = [encoder.sentences[0], decoder.sentences[0]];
      if (!from || !by) return;
      const { tokens, layers } = by;
      this.read = { name, sentence, encoder: from.layers, tokens, decoder: layers };
    });
    if (this.question.failure) this.read = undefined;
  }

  close(): void {
    this.question.stop();
    this.#model.close();
  }
}

/** Returns the layer from which on the text no longer changes. */
export function settledAt(texts: readonly string[]): number {
  const last = texts.at(-1);
  return texts.map((text) => text !== last).lastIndexOf(true) + 1;
}
