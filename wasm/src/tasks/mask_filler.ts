import { textKind } from '../engine/input.js';
import type { Texts } from '../engine/input.js';
import type { ExplainableLoadOptions, ModelFiles } from '../loading/options.js';
import type { Given } from '../model/call_options.js';
import type { ModelInfo } from '../model/info.js';
import { LoadedModel } from '../model/model.js';
import { openModel } from '../model/open_model.js';
import type { OpenedModel } from '../model/open_model.js';
import type {
  FilledTextFields,
  Outcome,
  WithAttention,
  WithGradients,
  WithTrace,
} from '../model/results.js';
import type { StatesExplanations } from './explain.js';
import { explainStatesOptions } from './explain_options.js';
import type { ExplainStatesMethod, ExplainStatesOptions } from './explain_options.js';
import { fillOptions } from './options.js';
import type { FillOptions } from './options.js';

export interface MaskFillerInfo extends ModelInfo {
  /** The text of a mask, "[MASK]" or "<mask>". */
  maskToken: string;
}

/** The tokens for the masks of a text. `Options` tells which options were set. */
export type FilledText<Options extends FillOptions = FillOptions> = FilledTextFields &
  WithAttention<Options> &
  WithTrace<Options> &
  WithGradients<Options>;

const methods = {
  fill: { name: 'fill', options: fillOptions },
  explain: { name: 'explain', options: explainStatesOptions },
};

/** Says which tokens may stand at the masks of a text. */
export class MaskFiller extends LoadedModel<MaskFillerInfo> {
  /** The task of this class. It narrows the type of a model that `load` returned. */
  readonly task = 'fill-mask';

  private constructor(model: OpenedModel<MaskFillerInfo>) {
    super(model, textKind);
  }

  /** Loads the model in a folder; see `Classifier.load`. */
  static async load(
    folder: string | URL | ModelFiles,
    options: ExplainableLoadOptions = {},
  ): Promise<MaskFiller> {
    return new MaskFiller(await openModel('fill-mask', folder, options));
  }

  /** Fills the masks of a text, which are written as `info.maskToken`. */
  fill<Options extends FillOptions = {}>(
    text: string,
    options?: Given<FillOptions, Options>,
  ): Promise<FilledText<Options>> {
    return this.one(text, options, methods.fill);
  }

  /**
   * Fills the masks of several texts. Returns their results in order. If a text is refused, the batch
   * is rejected; the message tells which text it was.
   */
  fillBatch<Options extends FillOptions = {}>(
    texts: readonly string[],
    options?: Given<FillOptions, Options>,
  ): Promise<FilledText<Options>[]> {
    return this.batch(texts, options, methods.fill);
  }

  /** Fills the masks of any number of texts; see `Classifier.classifyEach`. */
  fillEach<Options extends FillOptions = {}>(
    texts: Texts,
    options?: Given<FillOptions, Options>,
  ): AsyncGenerator<Outcome<FilledText<Options>>, void, void> {
    return this.each(texts, options, methods.fill);
  }

  /** Explains a number of the model for a text, such as an attention's score. */
  explain<Method extends ExplainStatesMethod>(
    text: string,
    options: ExplainStatesOptions[Method] & { method: Method },
  ): Promise<StatesExplanations[Method]> {
    return this.explained(text, options, methods.explain);
  }
}
