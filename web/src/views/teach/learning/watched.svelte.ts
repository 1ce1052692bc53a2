/** The attention of the watched text at the chosen moment of a training. */
import { labelsIn, type TextAttention } from '../../../panels/attention/text-attention.ts';
import { HeadChoice, type AttentionOnView } from '../../../panels/heads/head-choice.svelte.ts';
import type { Learning } from './learning.svelte.ts';

export class Watched implements AttentionOnView<'encoder'> {
  readonly attention = 'encoder';
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

  get #map() {
    return this.#learning.snapshot?.answer.attention.encoder;
  }

  readonly attended: TextAttention | undefined = $derived.by(() => {
    const { snapshot } = this.#learning;
    if (!snapshot) return undefined;
    const { text, answer } = snapshot;
    const source = labelsIn(text, answer.tokens);
    return { maps: answer.attention, source };
  });
}
