import { textKind } from '../engine/input.js';
import type { Texts } from '../engine/input.js';
import type { ExplainableLoadOptions, ModelFiles } from '../loading/options.js';
import type { Given } from '../model/call_options.js';
import type { ClassifierInfo } from '../model/info.js';
import { LoadedModel } from '../model/model.js';
import { openModel } from '../model/open_model.js';
import type { OpenedModel } from '../model/open_model.js';
import type {
  Outcome,
  TokenClassificationFields,
  WithAttention,
  WithGradients,
  WithTrace,
} from '../model/results.js';
import type { StatesExplanations } from './explain.js';
import { explainStatesOptions } from './explain_options.js';
import type { ExplainStatesMethod, ExplainStatesOptions } from './explain_options.js';
import { tokenClassifyOptions } from './options.js';
import type { TokenClassifyOptions } from './options.js';

/**
 * How tokens are combined to entities: not at all (`none`); neighbors with the same tag (`simple`);
 * or words with the same tag, where a word's label is that of its first token (`first`), the label
 * with the highest mean probability over its tokens (`average`), or that of its most certain token
 * (`max`).
 */
export type Aggregation = 'none' | 'simple' | 'first' | 'average' | 'max';

/** The entities of a text. `Options` tells which options were set. */
export type TokenClassification<Options extends TokenClassifyOptions = TokenClassifyOptions> =
  TokenClassificationFields & WithAttention<Options> & WithTrace<Options> & WithGradients<Options>;

const methods = {
  classify: { name: 'classify', options: tokenClassifyOptions },
  explain: { name: 'explain', options: explainStatesOptions },
};

/** Finds entities in texts, such as names of people and places. */
export class TokenClassifier extends LoadedModel<ClassifierInfo> {
  /** The task of this class. It narrows the type of a model that `load` returned. */
  readonly task = 'token-classification';

  private constructor(model: OpenedModel<ClassifierInfo>) {
    super(model, textKind);
  }

  /** Loads the model in a folder; see `Classifier.load`. */
  static async load(
    folder: string | URL | ModelFiles,
    options: ExplainableLoadOptions = {},
  ): Promise<TokenClassifier> {
    return new TokenClassifier(await openModel('token-classification', folder, options));
  }

  /** Finds the entities of a text. */
  classify<Options extends TokenClassifyOptions = {}>(
    text: string,
    options?: Given<TokenClassifyOptions, Options>,
  ): Promise<TokenClassification<Options>> {
    return this.one(text, options, methods.classify);
  }

  /**
   * Finds the entities of several texts. Returns their results in order. If a text is refused, the
   * batch is rejected; the message tells which text it was.
   */
  classifyBatch<Options extends TokenClassifyOptions = {}>(
    texts: readonly string[],
    options?: Given<TokenClassifyOptions, Options>,
  ): Promise<TokenClassification<Options>[]> {
    return this.batch(texts, options, methods.classify);
  }

  /** Finds the entities of any number of texts; see `Classifier.classifyEach`. */
  classifyEach<Options extends TokenClassifyOptions = {}>(
    texts: Texts,
    options?: Given<TokenClassifyOptions, Options>,
  ): AsyncGenerator<Outcome<TokenClassification<Options>>, void, void> {
    return this.each(texts, options, methods.classify);
  }

  /** Explains a number of the model for a text, such as an attention's score. */
  explain<Method extends ExplainStatesMethod>(
    text: string,
    options: ExplainStatesOptions[Method] & { method: Method },
  ): Promise<StatesExplanations[Method]> {
    return this.explained(text, options, methods.explain);
  }
}
