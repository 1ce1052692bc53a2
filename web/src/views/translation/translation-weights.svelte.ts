/**
 * The effect of each source token and of each head: the log-probability of the sentence's
 * translation, word for word, with it minus without it, in nats.
 */
import type { TranslateOptions } from 'glassformer';
import type { AttentionKind } from '../../panels/heads/head-choice.svelte.ts';
import type { Rendering, TranslationExplorer } from './explorer.svelte.ts';

/** Effects on one sentence of a translation; NaN if unknown. */
export interface Weights {
  of: Rendering;
  sentence: number;
  /** The attention whose heads were measured; undefined for tokens. */
  attention: AttentionKind | undefined;
  values: Float32Array;
  done: boolean;
}

/** Each token is hidden in turn: longer sentences would take too long. */
export const longestForWeighing = 64;

export class TranslationWeights {
  tokens = $state.raw<Weights>();
  heads = $state.raw<Weights>();

  readonly #explorer: TranslationExplorer;
  #work = { tokens: new AbortController(), heads: new AbortController() };

  constructor(explorer: TranslationExplorer) {
    this.#explorer = explorer;
  }

  /** Whether the effects belong to the visible translation. */
  get tokensAreCurrent(): boolean {
    return this.#isCurrent(this.tokens);
  }

  get headsAreCurrent(): boolean {
    return this.#isCurrent(this.heads) && this.heads?.attention === this.#explorer.attention;
  }

  /** Hides each source token in turn. */
  async weighTokens(): Promise<void> {
    const { inspected } = this.#explorer;
    const { tokens: hidden } = this.#explorer.hidden;
    const count = inspected?.sourceTokens.length ?? 0;
    if (count > longestForWeighing) return;
    const { beforehand, rendering: of, sentence } = this.#explorer;
    if (beforehand && of) {
      const { effects: values } = beforehand;
      this.tokens = { of, sentence, attention: undefined, values, done: true };
      return;
    }
    await this.#weigh('tokens', undefined, count, (token) =>
      hidden.includes(token) || hidden.length + 1 >= count
        ? undefined
        : { maskTokens: [[...hidden, token]] },
    );
  }

  /** Switches off each head of the chosen attention in turn: [layers × heads]. */
  async weighHeads(): Promise<void> {
    const { attention, layers, heads, choice } = this.#explorer;
    const { off } = choice;
    await this.#weigh('heads', attention, layers * heads, (i) => {
      const at = { layer: Math.floor(i / heads), head: i % heads };
      return choice.isOff(at) ? undefined : { ablate: [...off, { attention, ...at }] };
    });
  }

  stop(): void {
    this.#work.tokens.abort();
    this.#work.heads.abort();
  }

  #isCurrent(weights: Weights | undefined): boolean {
    const { rendering, sentence } = this.#explorer;
    return weights !== undefined && weights.of === rendering && weights.sentence === sentence;
  }

  async #weigh(
    what: 'tokens' | 'heads',
    attention: AttentionKind | undefined,
    count: number,
    without: (i: number) => Partial<TranslateOptions> | undefined,
  ): Promise<void> {
    this.#work[what].abort();
    const { signal } = (this.#work[what] = new AbortController());
    const { rendering: of, inspected, sentence, hidden, choice, loader } = this.#explorer;
    const { model } = loader;
    if (!of || !inspected || !model) return;
    const text = of.text.slice(inspected.start, inspected.end);
    const ids = inspected.tokens.map(({ id }) => id);
    const own = { beams: 1, prefixes: [ids], maxLength: ids.length, signal };
    const now = { ablate: choice.off, maskTokens: [hidden.tokens] };
    const sumOf = async (options: Partial<TranslateOptions>): Promise<number> => {
      const { sentences } = await model.translate(text, { ...own, ...now, ...options });
      return sentences[0]!.tokens.reduce((sum, { logprob }) => sum + logprob, 0);
    };
    try {
      const whole = await sumOf({});
      const values = new Float32Array(count).fill(NaN);
      for (let i = 0; i < count; i++) {
        const options = without(i);
        if (options) values[i] = whole - (await sumOf(options));
        if (signal.aborted) return;
        const weights = { of, sentence, attention, values: values.slice(), done: i === count - 1 };
        if (what === 'tokens') this.tokens = weights;
        else this.heads = weights;
      }
    } catch (error) {
      // Ignored if the translation is gone, and its model with it.
      if (!signal.aborted && this.#explorer.rendering === of) throw error;
    }
  }
}
