/** The word under the pointer, in a text or in its translation. */
import type { Translation } from 'glassformer';
import type { AttentionKind, HeadChoice } from '../heads/head-choice.svelte.ts';
import type { Alignment, Draft, Lit, Side } from './alignment.ts';

interface Translated {
  text: string;
  result: Translation;
  alignment: Alignment;
}

/** The interface of a view that shows a text, its translation and the links between their words. */
export interface WordsOnView {
  readonly attention: AttentionKind;
  readonly choice: HeadChoice;
  /** The text in the box. */
  readonly text: string;
  /** The translation, possibly still that of the previous text. */
  readonly rendering: Translated | undefined;
  /** The linked words, if the translation is that of `text`. */
  readonly alignment: Alignment | undefined;
  readonly pointer: WordPointer;
  /** The translation so far, while it grows. */
  readonly draft?: Draft | undefined;
  /** The translation to compare with: words that it lacks are marked. */
  readonly before?: Translated | undefined;
  /** The inspected sentence. */
  readonly sentence: number;
  /** The target language, if it is known. */
  readonly target: string;
  choose(sentence: number): void;
}

export class WordPointer {
  lit = $state.raw<Lit>();
  readonly #view: WordsOnView;

  constructor(view: WordsOnView) {
    this.#view = view;
  }

  /** Highlights a word and the words aligned with it; the heat map follows if it can. */
  light(side: Side, word: number | undefined): void {
    this.lit = word === undefined ? undefined : { side, word };
    if (word !== undefined) this.#follow(side, word);
  }

  /** Moves the heat map to a word, if its side has the queries. */
  #follow(side: Side, word: number): void {
    const { rendering, alignment, sentence, attention, choice } = this.#view;
    const at = alignment?.[side][word];
    const whole = rendering?.result.sentences[sentence];
    if (!at || !whole || at.sentence !== sentence) return;
    if (side !== (attention === 'encoder' ? 'source' : 'target')) return;
    const tokens = side === 'source' ? whole.sourceTokens : whole.tokens;
    const query = tokens.findIndex(({ end }) => end > at.start);
    if (query >= 0) choice.hover({ query, key: choice.strongestKeyOf(query) });
  }

  /** After a run, lets go of a word that the new translation doesn't have. */
  stayWithin(): void {
    const { lit } = this;
    if (lit && !this.#view.alignment?.[lit.side][lit.word]) this.lit = undefined;
  }
}
