/** What a writer would write next, had it to choose after each layer: the logit lens. */
import type { Generator, Head, NextToken } from 'glassformer';
import { writeFailure, type Failure } from '../../ui/failure.ts';

/** So many tokens are named of each layer. */
const named = 3;

export class WritingLayers {
  /** One more than there are layers: the likeliest tokens before each, and after the last. */
  guesses = $state.raw<readonly (readonly NextToken[])[]>();
  failure = $state.raw<Failure>();
  #reading = new AbortController();

  /**
   * Each layer's stream takes the last one's place, before the final norm and the projection. Where
   * it is called again meanwhile, that one counts.
   */
  async read(model: Generator, text: string, ablate: readonly Head<'decoder'>[]): Promise<void> {
    this.stop();
    const { signal } = (this.#reading = new AbortController());
    this.failure = undefined;
    const { layers } = model.info;
    const options = { count: named, temperature: 1, topK: 0, topP: 1, ablate, signal };
    try {
      const { trace, next } = await model.next(text, {
        ...options,
        trace: ['decoder.layers.*.input'] as const,
      });
      const guesses = [];
      for (let layer = 0; layer < layers; layer++) {
        const name = `decoder.layers.${layers - 1}.output`;
        const value = trace[`decoder.layers.${layer}.input`]!;
        guesses.push((await model.next(text, { ...options, patch: [{ name, value }] })).next);
      }
      this.guesses = [...guesses, next];
    } catch (error) {
      if (signal.aborted) return;
      this.guesses = undefined;
      this.failure = writeFailure(error);
    }
  }

  stop(): void {
    this.#reading.abort();
  }
}
