/** Why a writer would write one token and not another: what each token before counts for that. */
import type { Generator, Head, NextToken } from 'glassformer';
import { writeFailure, type Failure } from './failure.ts';

/** Each token is left out in turn: of a longer text that would take too long. */
export const longestContrast = 192;

/** Log-probabilities of all tokens, by id; a difference of two is one of their logits, too. */
function byId(next: readonly NextToken[]): Float32Array {
  const logprobs = new Float32Array(next.reduce((most, { id }) => Math.max(most, id), 0) + 1);
  for (const { id, logprob } of next) logprobs[id] = logprob;
  return logprobs;
}

/** Nobody attends to the token at this place, in any layer: the softmax shares out what is left. */
export const unseen = (layers: number, token: number) =>
  Array.from({ length: layers }, (_, layer) => ({
    name: `decoder.layers.${layer}.self_attn.scores`,
    keys: [token],
    value: -Infinity,
  }));

export class WordContrast {
  /** With every token there, and with each of them left out, as far as that is known. */
  whole = $state.raw<Float32Array>();
  without = $state.raw<readonly Float32Array[]>([]);
  /** What that is of. */
  of = $state.raw<unknown>();
  failure = $state.raw<Failure>();
  #work = new AbortController();

  /** Where it is called again meanwhile, that one counts. */
  async measure(
    model: Generator,
    { of, text, tokens }: { of: unknown; text: string; tokens: number },
    ablate: readonly Head<'decoder'>[],
  ): Promise<void> {
    this.stop();
    const { signal } = (this.#work = new AbortController());
    const options = { count: 0, temperature: 1, topK: 0, topP: 1, ablate, signal };
    this.of = of;
    this.whole = this.failure = undefined;
    this.without = [];
    try {
      this.whole = byId((await model.next(text, options)).next);
      for (let token = 0; token < tokens; token++) {
        const patch = unseen(model.info.layers, token);
        const { next } = await model.next(text, { ...options, patch });
        this.without = [...this.without, byId(next)];
      }
    } catch (error) {
      if (!signal.aborted) this.failure = writeFailure(error);
    }
  }

  /** How much less the first leads the second without each token, in nats; NaN where not known yet. */
  effects(first: number, second: number, tokens: number): Float32Array {
    const lead = (logprobs: Float32Array) => logprobs[first]! - logprobs[second]!;
    return Float32Array.from({ length: tokens }, (_, token) => {
      const { whole, without } = this;
      return whole && without[token] ? lead(whole) - lead(without[token]) : NaN;
    });
  }

  lead(first: number, second: number): number | undefined {
    const { whole } = this;
    return whole && whole[first]! - whole[second]!;
  }

  stop(): void {
    this.#work.abort();
  }
}
