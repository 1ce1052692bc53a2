/** The next token read from each layer of a writer: the logit lens. */
import type { Generator, Head, NextToken } from 'glassformer';
import { writeFailure, type Failure } from '../../ui/failure.ts';

/** The number of tokens shown per layer. */
const named = 3;

export class WritingLayers {
  /** The most likely tokens before each layer and, as the last entry, after the last layer. */
  guesses = $state.raw<readonly (readonly NextToken[])[]>();
  failure = $state.raw<Failure>();
  #reading = new AbortController();

  /**
   * Patches each layer's input in place of the last layer's output, before the final norm and the
   * projection. A later call replaces an earlier one.
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
