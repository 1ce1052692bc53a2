/** The effect of each token of a text on one next token's lead over another. */
import type { Generator, Head, NextToken } from 'glassformer';
import { readFailure, type Failure } from '../../ui/failure.ts';

/** Each token is hidden in turn; longer texts would take too long. */
export const longestContrast = 192;

/** The subject of a contrast; a new one is measured again. */
export interface Contrasted {
  /** The number of tokens that can be hidden. */
  tokens: number;
  /** Returns the log-probabilities or logits of the next token by id, without one of the tokens. */
  logprobs: (signal: AbortSignal, without?: number) => Promise<Float32Array>;
}

/** Returns patches that mask a token in all layers; the softmax covers the other tokens. */
export const unseen = (layers: number, token: number) =>
  Array.from({ length: layers }, (_, layer) => ({
    name: `decoder.layers.${layer}.self_attn.scores`,
    keys: [token],
    value: -Infinity,
  }));

/** Returns the log-probabilities of the next token after a text. */
export async function writerLogprobs(
  model: Generator,
  text: string,
  ablate: readonly Head<'decoder'>[],
  signal: AbortSignal,
  without?: number,
): Promise<Float32Array> {
  const patch = without === undefined ? [] : unseen(model.info.layers, without);
  const all = { count: 0, temperature: 1, topK: 0, topP: 1 };
  const { next } = await model.next(text, { ...all, ablate, patch, signal });
  return byId(next);
}

function byId(next: readonly NextToken[]): Float32Array {
  const logprobs = new Float32Array(next.reduce((most, { id }) => Math.max(most, id), 0) + 1);
  for (const { id, logprob } of next) logprobs[id] = logprob;
  return logprobs;
}

export class WordContrast {
  /** The log-probabilities with every token, and without each of them as far as known. */
  whole = $state.raw<Float32Array>();
  without = $state.raw<readonly Float32Array[]>([]);
  /** The subject that they belong to. */
  of = $state.raw<Contrasted>();
  failure = $state.raw<Failure>();
  #work = new AbortController();

  /** Measures a contrast. A later call replaces an earlier one. */
  async measure(of: Contrasted): Promise<void> {
    this.stop();
    const { signal } = (this.#work = new AbortController());
    this.of = of;
    this.whole = this.failure = undefined;
    this.without = [];
    try {
      const whole = await of.logprobs(signal);
      if (!signal.aborted) this.whole = whole;
      for (let token = 0; token < of.tokens && !signal.aborted; token++) {
        const logprobs = await of.logprobs(signal, token);
        if (!signal.aborted) this.without = [...this.without, logprobs];
      }
    } catch (error) {
      if (!signal.aborted) this.failure = readFailure(error);
    }
  }

  /** Returns the change of the lead without each token, in nats, after − before; NaN if unknown. */
  effects(first: number, second: number, tokens: number): Float32Array {
    const lead = (logprobs: Float32Array) => logprobs[first]! - logprobs[second]!;
    return Float32Array.from({ length: tokens }, (_, token) => {
      const { whole, without } = this;
      return whole && without[token] ? lead(without[token]) - lead(whole) : NaN;
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
