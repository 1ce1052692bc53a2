import { textOrPairKind } from '../engine/input.js';
import type { TextPair } from '../engine/input.js';
import type { ExplainableLoadOptions, ModelFiles } from '../loading/options.js';
import type { AttentionMap } from '../model/attention.js';
import type { Given } from '../model/call_options.js';
import type { ClassifierInfo } from '../model/info.js';
import { LoadedModel } from '../model/model.js';
import { openModel } from '../model/open_model.js';
import type { OpenedModel } from '../model/open_model.js';
import type {
  Asked,
  ClassificationFields,
  Outcome,
  WithAttention,
  WithContributions,
  WithGradients,
  WithTrace,
} from '../model/results.js';
import type { CircuitOfPair, Explanations } from './explain.js';
import { explainOptions } from './explain_options.js';
import type { ExplainMethod, ExplainOptions } from './explain_options.js';
import { classifyOptions } from './options.js';
import type { ClassifyOptions } from './options.js';

/** The classification of a text. `Options` tells which options were set. */
export type Classification<Options extends ClassifyOptions = ClassifyOptions> =
  ClassificationFields &
    WithAttention<Options> &
    Asked<
      Options,
      'attention',
      {
        /**
         * Of a model with a decoder: its attention to its own rows, and to the encoder's. The decoder
         * reads the same text, shifted by one token: row i has token i - 1, and row 0 a start token.
         */
        attention: { decoder?: AttentionMap; cross?: AttentionMap };
      }
    > &
    WithTrace<Options> &
    WithGradients<Options> &
    WithContributions<Options>;

export const classifyMethod = { name: 'classify', options: classifyOptions };
const methods = {
  classify: classifyMethod,
  explain: { name: 'explain', options: explainOptions },
};

/** A text classifier. */
export class Classifier extends LoadedModel<ClassifierInfo> {
  /** The task of this class. It narrows the type of a model that `load` returned. */
  readonly task = 'text-classification';

  private constructor(model: OpenedModel<ClassifierInfo>) {
    super(model, textOrPairKind);
  }

  /**
   * Loads the model in a folder. The folder is a URL, with or without a slash at its end, or, in
   * Node, a path; or a model's files, as its npm package exports them or a user has chosen them; or a
   * model of a hub, `hf:owner/name` or `hf:owner/name@revision`, which is downloaded.
   */
  static async load(
    folder: string | URL | ModelFiles,
    options: ExplainableLoadOptions = {},
  ): Promise<Classifier> {
    return new Classifier(await openModel('text-classification', folder, options));
  }

  /** Classifies a text or, if the model reads pairs, two texts together: `{ text, pair }`. */
  classify<Options extends ClassifyOptions = {}>(
    text: string | TextPair,
    options?: Given<ClassifyOptions, Options>,
  ): Promise<Classification<Options>> {
    return this.one(text, options, methods.classify);
  }

  /**
   * Classifies several texts. Returns their results in order. If a text is refused, the batch is
   * rejected; the message tells which text it was.
   */
  classifyBatch<Options extends ClassifyOptions = {}>(
    texts: readonly (string | TextPair)[],
    options?: Given<ClassifyOptions, Options>,
  ): Promise<Classification<Options>[]> {
    return this.batch(texts, options, methods.classify);
  }

  /**
   * Classifies any number of texts. Yields the result or the error of each text as soon as it is
   * known; `index` counts the texts. Texts are read a few ahead of the results. Other calls run in
   * between. Leaving the loop ends the work.
   */
  classifyEach<Options extends ClassifyOptions = {}>(
    texts: Iterable<string | TextPair> | AsyncIterable<string | TextPair>,
    options?: Given<ClassifyOptions, Options>,
  ): AsyncGenerator<Outcome<Classification<Options>>, void, void> {
    return this.each(texts, options, methods.classify);
  }

  /**
   * Explains the answer to a text by one of the methods of ExplainOptions or, with the methods
   * "activation_patching" and "circuit", the difference between the answers to two texts:
   * `{ text, pair }`. Aborting `signal` stops a long search between two steps.
   */
  explain(texts: TextPair, options: ExplainOptions['circuit']): Promise<CircuitOfPair>;
  explain<Method extends ExplainMethod>(
    text: string | TextPair,
    options: ExplainOptions[Method] & { method: Method },
  ): Promise<Explanations[Method]>;
  explain(text: string | TextPair, options: ExplainOptions[ExplainMethod]): Promise<unknown> {
    return this.explained(text, options, methods.explain);
  }
}
