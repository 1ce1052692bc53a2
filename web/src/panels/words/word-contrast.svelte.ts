/** Why a model prefers one next token to another: the effect of each token before it. */
import type { Generator, Head, NextToken } from 'glassformer';
import { readFailure, type Failure } from '../../ui/failure.ts';

/** Each token is left out in turn, which would take too long for longer texts. */
export const longestContrast = 192;

/** The subject of a contrast. A new subject is measured again. */
export interface Contrasted {
  /** The number of tokens that can be left out. */
  tokens: number;
  /** Returns log-probabilities or logits of all next tokens, by id, without one of the tokens. */
  logprobs: (signal: AbortSignal, without?: number) => Promise<Float32Array>;
}

/** Returns patches that hide a token from attention in all layers, before the softmax. */
export const unseen = (layers: number, token: number) =>
  Array.from({ length: layers }, (_, layer) => ({
    name: `decoder.layers.${layer}.self_attn.scores`,
    keys: [token],
    value: -Infinity,
  }));

/** Returns the log-probabilities of the next token of a text, by id. */
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
  /** The numbers with all tokens, and without each token, as far as they are known. */
  whole = $state.raw<Float32Array>();
  without = $state.raw<readonly Float32Array[]>([]);
  /** The subject of these numbers. */
  of = $state.raw<Contrasted>();
  failure = $state.raw<Failure>();
  #work = new AbortController();

  /** Measures a subject. A later call replaces this one. */
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

  /** The first's lead over the second with each token minus without it, in nats; NaN if not known yet. */
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
