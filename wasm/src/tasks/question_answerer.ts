import { questionKind } from '../engine/input.js';
import type { ExplainableLoadOptions, ModelFiles } from '../loading/options.js';
import type { Given } from '../model/call_options.js';
import type { ModelInfo } from '../model/info.js';
import { LoadedModel } from '../model/model.js';
import { openModel } from '../model/open_model.js';
import type { OpenedModel } from '../model/open_model.js';
import type {
  AnswerFields,
  Outcome,
  WithAttention,
  WithGradients,
  WithTrace,
} from '../model/results.js';
import type { StatesExplanations } from './explain.js';
import { explainStatesOptions } from './explain_options.js';
import type { ExplainStatesMethod, ExplainStatesOptions } from './explain_options.js';
import { answerOptions } from './options.js';
import type { AnswerOptions } from './options.js';

/** A question, and the text that may contain its answer. */
export interface Question {
  question: string;
  context: string;
}

/** An answer. `Options` tells which options were set. */
export type Answer<Options extends AnswerOptions = AnswerOptions> = AnswerFields &
  WithAttention<Options> &
  WithTrace<Options> &
  WithGradients<Options>;

const methods = {
  answer: { name: 'answer', options: answerOptions },
  explain: { name: 'explain', options: explainStatesOptions },
};

/** Answers questions with a part of a text. */
export class QuestionAnswerer extends LoadedModel<ModelInfo> {
  /** The task of this class. It narrows the type of a model that `load` returned. */
  readonly task = 'question-answering';

  private constructor(model: OpenedModel<ModelInfo>) {
    super(model, questionKind);
  }

  /** Loads the model in a folder; see `Classifier.load`. */
  static async load(
    folder: string | URL | ModelFiles,
    options: ExplainableLoadOptions = {},
  ): Promise<QuestionAnswerer> {
    return new QuestionAnswerer(await openModel('question-answering', folder, options));
  }

  /**
   * Answers a question. Tokens, attention, trace and gradients are those of the window with the
   * answer; patches apply to every window.
   */
  answer<Options extends AnswerOptions = {}>(
    question: string,
    context: string,
    options?: Given<AnswerOptions, Options>,
  ): Promise<Answer<Options>> {
    return this.one({ question, context }, options, methods.answer);
  }

  /**
   * Answers several questions. Returns their results in order. If a question is refused, the batch
   * is rejected; the message tells which question it was.
   */
  answerBatch<Options extends AnswerOptions = {}>(
    questions: readonly Question[],
    options?: Given<AnswerOptions, Options>,
  ): Promise<Answer<Options>[]> {
    return this.batch(questions, options, methods.answer);
  }

  /** Answers any number of questions; see `Classifier.classifyEach`. */
  answerEach<Options extends AnswerOptions = {}>(
    questions: Iterable<Question> | AsyncIterable<Question>,
    options?: Given<AnswerOptions, Options>,
  ): AsyncGenerator<Outcome<Answer<Options>>, void, void> {
    return this.each(questions, options, methods.answer);
  }

  /** Explains a number of the model for a question and its text, such as an attention's score. */
  explain<Method extends ExplainStatesMethod>(
    question: string,
    context: string,
    options: ExplainStatesOptions[Method] & { method: Method },
  ): Promise<StatesExplanations[Method]> {
    return this.explained({ question, context }, options, methods.explain);
  }
}
