/** The state of the view Teach: the chosen lesson, and the trainings of all four. */
import type { Link } from '../../ui/link.ts';
import type { ViewState } from '../../ui/view.ts';
import { firstMessage, Scratch } from './scratch.svelte.ts';
import { digitsOf, drawnIn, firstDrawn } from './handwriting/drawn.ts';
import { Handwriting } from './handwriting/handwriting.svelte.ts';
import { rowsIn, textOf } from './link.ts';
import { firstSentences, Sentences } from './sentences/sentences.svelte.ts';

/**
 * A few sentences for the sentiment model; the visitor's handwriting for the model of digits; a model
 * from scratch; the visitor's own file.
 */
export const lessons = ['sentences', 'digits', 'spam', 'file'] as const;
export type Lesson = (typeof lessons)[number];

export class TeachExplorer implements ViewState {
  lesson = $state<Lesson>('sentences');
  readonly sentences = new Sentences();
  readonly handwriting = new Handwriting();
  readonly spam = new Scratch();
  readonly own = new Scratch();

  readonly ready = true;
  readonly viewpoint = ['lesson'];

  constructor(link: Link) {
    this.follow(link);
  }

  start(): void {}

  follow(link: Link): void {
    this.lesson = lessons.find((each) => each === link.lesson) ?? 'sentences';
    if (link.text !== undefined) this.sentences.rows = rowsIn(link.text) ?? firstSentences;
    if (link.digits !== undefined) this.handwriting.rows = drawnIn(link.digits) ?? firstDrawn;
    this.spam.learning.watched = link.watch ?? firstMessage;
  }

  /** A training shows its progress itself; only its preparation counts as work. */
  get working(): boolean {
    return this.#learnings.some(({ phase }) => phase === 'making');
  }

  /** Whether a training is in progress. */
  get learns(): boolean {
    return this.#learnings.some(({ running }) => running);
  }

  get #learnings() {
    return [this.sentences, this.handwriting, this.spam, this.own].map(({ learning }) => learning);
  }

  get link(): Link {
    const { lesson, sentences, handwriting, spam } = this;
    return {
      text: textOf(sentences.rows),
      ...(lesson !== 'sentences' && { lesson }),
      ...(handwriting.rows !== firstDrawn && { digits: digitsOf(handwriting.rows) }),
      ...(spam.learning.watched !== firstMessage && { watch: spam.learning.watched }),
    };
  }
}
