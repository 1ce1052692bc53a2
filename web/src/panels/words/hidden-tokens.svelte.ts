/** The tokens that are hidden from a model. */
import { withList } from '../../ui/text/per-sentence.ts';

/** The text whose tokens can be hidden. */
export interface HidingOnView {
  /** Whether nothing can be hidden yet, because the model is not loaded. */
  readonly frozen: boolean;
  /** The chosen sentence, if the text has several. */
  readonly sentence?: number;
  /** The most tokens of the sentence that can be hidden; by default, all. */
  readonly mostHidden?: number;
}

export class HiddenTokens {
  /** The hidden tokens per sentence, in the order of the text. */
  lists = $state.raw<readonly (readonly number[])[]>([]);
  /** The number of hidden tokens that an edit changed, so that they are no longer hidden. */
  unhidden = $state(0);

  readonly #view: HidingOnView;
  readonly #onswitch: () => void;

  /** `onswitch` is called after a token is hidden or shown again. */
  constructor(view: HidingOnView, onswitch: () => void) {
    this.#view = view;
    this.#onswitch = onswitch;
  }

  /** The hidden tokens of the chosen sentence. */
  get tokens(): readonly number[] {
    return this.lists[this.#view.sentence ?? 0] ?? [];
  }

  /** The number of hidden tokens in all sentences. */
  get count(): number {
    return this.lists.reduce((sum, tokens) => sum + tokens.length, 0);
  }

  has(token: number): boolean {
    return this.tokens.includes(token);
  }

  /** Hides a token from the model, or shows it again. */
  toggle(token: number): void {
    const { frozen, sentence = 0, mostHidden = Infinity } = this.#view;
    if (frozen) return;
    const others = this.tokens.filter((each) => each !== token);
    if (!this.has(token)) {
      if (others.length >= mostHidden) return;
      others.push(token);
    }
    this.take(
      withList(
        this.lists,
        sentence,
        others.sort((a, b) => a - b),
      ),
    );
    this.#onswitch();
  }

  /** Hides these tokens, and no others. */
  take(lists: readonly (readonly number[])[]): void {
    this.lists = lists;
    this.unhidden = 0;
  }

  /** Shows all tokens again, because an edit changed them. */
  drop(): void {
    this.unhidden += this.count;
    this.lists = [];
  }
}
