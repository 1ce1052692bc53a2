/** The attention of the watched text at the chosen moment of a training. */
import { matrixIn, type Matrix } from '../../../panels/attention/attention.ts';
import {
  HeadChoice,
  type AttentionOnView,
  type HeadPosition,
  type Reader,
} from '../../../panels/heads/head-choice.svelte.ts';
import { shownTokens } from '../../../panels/words/tokens.ts';
import type { Learning } from './learning.svelte.ts';

export class Watched implements AttentionOnView<'encoder'> {
  readonly attention = 'encoder';
  readonly reader: Reader = ['', 'attends to'];
  readonly frozen = true;
  readonly choice = new HeadChoice<'encoder'>(this, () => undefined);
  readonly #learning: Learning;

  constructor(learning: Learning) {
    this.#learning = learning;
  }

  get layers(): number {
    return this.#map?.layers ?? 0;
  }

  get heads(): number {
    return this.#map?.heads ?? 0;
  }

  matrixOf(head: HeadPosition): Matrix | undefined {
    return matrixIn(this.#map, head, false);
  }

  get queryLabels(): readonly string[] {
    return this.#labels;
  }

  get keyLabels(): readonly string[] {
    return this.#labels;
  }

  get #map() {
    return this.#learning.snapshot?.answer.attention.encoder;
  }

  readonly #labels = $derived.by(() => {
    const { text = '', answer } = this.#learning.snapshot ?? {};
    return shownTokens(text, answer?.tokens ?? []).map(({ label }) => label);
  });
}
