/// <reference lib="esnext.disposable" preserve="true" />

import { Calls } from './calls.js';
import { toQuestion } from './inputs.js';
import { ModelHandle } from './handle.js';
import type {
  LoadOptions,
  ModelFiles,
  ModelInfo,
  Outcome,
  ReadOptions,
  TensorNames,
  WithAttention,
  WithTrace,
} from './types.js';

/** A question, and the text that may answer it. */
export interface Question {
  question: string;
  context: string;
}

export interface AnswerOptions<
  Attention extends boolean = boolean,
  Trace extends TensorNames = TensorNames,
> extends Omit<ReadOptions<Attention, Trace>, 'maskTokens'> {
  /** Most tokens that the model reads at once, at most its own limit; 384 by default. */
  maxSequenceLength?: number | undefined;
  /**
   * A longer context is read in windows, each with the whole question: how many tokens of it a
   * window shares with the one before. 128 by default, or half of `maxSequenceLength` where that
   * is less.
   */
  docStride?: number | undefined;
  /** Most tokens of an answer; 15 by default. */
  maxAnswerLength?: number | undefined;
  /** The answer may be that there is none; false by default. */
  handleImpossibleAnswer?: boolean | undefined;
}

/** A type argument tells whether its option was set. */
export type Answer<
  Attention extends boolean = boolean,
  Trace extends TensorNames = TensorNames,
> = WithAttention<Attention> &
  WithTrace<Trace> & {
    /** A part of the context; empty where the model finds none, with `handleImpossibleAnswer`. */
    answer: string;
    /** Its probability. */
    score: number;
    /** Where it lies in the context, in UTF-16 code units. */
    start: number;
    end: number;
  };

const options = [
  'attention',
  'trace',
  'patch',
  'ablate',
  'maxSequenceLength',
  'docStride',
  'maxAnswerLength',
  'handleImpossibleAnswer',
  'signal',
];

/**
 * Answers questions by a part of a text. It holds a WebAssembly instance, in a worker where the
 * runtime has workers, until it is disposed of. Calls wait for one another. Every error is a
 * GlassformerError, and the call after it works.
 */
export class QuestionAnswerer {
  /** Tells what `load` gave: no other class has this one. */
  readonly task = 'question-answering';
  /** What the model is. */
  readonly info: ModelInfo;
  readonly #model: ModelHandle<ModelInfo>;
  readonly #calls: Calls;

  private constructor(model: ModelHandle<ModelInfo>) {
    this.#model = model;
    this.#calls = new Calls(model, options, toQuestion);
    this.info = model.info;
  }

  /** Loads the model in a folder, which is named as for `Classifier.load`. */
  static async load(
    folder: string | URL | ModelFiles,
    options: LoadOptions = {},
  ): Promise<QuestionAnswerer> {
    return new QuestionAnswerer(await ModelHandle.load('question-answering', folder, options));
  }

  /**
   * Answers one question. Tokens, attention and trace are those of the window of the context that
   * has the answer; patches are for every window.
   */
  answer<Attention extends boolean = false, Trace extends TensorNames = undefined>(
    question: string,
    context: string,
    options: AnswerOptions<Attention, Trace> = {},
  ): Promise<Answer<Attention, Trace>> {
    return this.#calls.one({ question, context }, options, 'answer');
  }

  /**
   * Answers several questions, in order. Where one is refused, so is the whole batch; the message
   * tells which.
   */
  answerBatch<Attention extends boolean = false, Trace extends TensorNames = undefined>(
    questions: readonly Question[],
    options: AnswerOptions<Attention, Trace> = {},
  ): Promise<Answer<Attention, Trace>[]> {
    return this.#calls.batch(questions, options, 'answerBatch');
  }

  /** Answers any number of questions, as `Classifier.classifyEach` does it with texts. */
  answerEach<Attention extends boolean = false, Trace extends TensorNames = undefined>(
    questions: Iterable<Question> | AsyncIterable<Question>,
    options: AnswerOptions<Attention, Trace> = {},
  ): AsyncGenerator<Outcome<Answer<Attention, Trace>>, void, void> {
    return this.#calls.each(questions, options, 'answerEach');
  }

  /**
   * What every token of the vocabulary reads as, by its id: the text that it stands for behind
   * another one, with a space in front where it starts a word. What stands for no text, or for a
   * byte, reads as its name: `</s>`, `<0xE6>`.
   */
  vocabulary(): Promise<string[]> {
    return this.#model.vocabulary();
  }

  /** Ends the worker and frees the model. Calls that are under way reject with `disposed`. */
  dispose(): void {
    this.#model.dispose();
  }
}

// Symbol.dispose, for `using`, is newer than the runtimes that the package supports.
export interface QuestionAnswerer {
  [Symbol.dispose](): void;
}
if (Symbol.dispose) {
  QuestionAnswerer.prototype[Symbol.dispose] = QuestionAnswerer.prototype.dispose;
}
