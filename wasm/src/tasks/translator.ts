import { textKind, textOrPairKind } from '../engine/input.js';
import type { TextPair, Texts } from '../engine/input.js';
import type { ModelFiles, TranslatorLoadOptions } from '../loading/options.js';
import { assemble } from '../model/assemble.js';
import type { AttentionMap } from '../model/attention.js';
import type { Given } from '../model/call_options.js';
import type { TranslatorInfo } from '../model/info.js';
import { LoadedModel, without } from '../model/model.js';
import { openModel } from '../model/open_model.js';
import type { OpenedModel } from '../model/open_model.js';
import type { Outcome, OutputToken } from '../model/results.js';
import type { TranslationExplanations } from './explain.js';
import { explainTranslationOptions } from './explain_options.js';
import type { ExplainTranslationMethod, ExplainTranslationOptions } from './explain_options.js';
import type {
  StreamOptions,
  StreamedSentence,
  TokenStep,
  Translation,
  TranslationAttention,
  TranslationStep,
} from './translation.js';
import type { TranslateOptions } from './options.js';
import { translateOptions } from './options.js';
import { ofSearch } from './translation.js';

const methods = {
  translate: { name: 'translate', options: translateOptions },
  stream: { name: 'stream', options: without(translateOptions, ofSearch) },
  explain: { name: 'explain', options: explainTranslationOptions, inputs: textOrPairKind },
};

/** A translator. Each call or stream is decoded to its end before the next one begins. */
export class Translator extends LoadedModel<TranslatorInfo> {
  /** The task of this class. It narrows the type of a model that `load` returned. */
  readonly task = 'translation';

  private constructor(model: OpenedModel<TranslatorInfo>) {
    super(model, textKind);
  }

  /** Loads the model in a folder; see `Classifier.load`. */
  static async load(
    folder: string | URL | ModelFiles,
    options: TranslatorLoadOptions = {},
  ): Promise<Translator> {
    return new Translator(await openModel('translation', folder, options));
  }

  /** Translates a text sentence by sentence. The spacing between sentences is kept. */
  translate<Options extends TranslateOptions = {}>(
    text: string,
    options?: Given<TranslateOptions, Options>,
  ): Promise<Translation<Options>> {
    return this.one(text, options, methods.translate);
  }

  /**
   * Translates several texts. Returns their results in order. If a text is refused, the batch is
   * rejected; the message tells which text it was.
   */
  translateBatch<Options extends TranslateOptions = {}>(
    texts: readonly string[],
    options?: Given<TranslateOptions, Options>,
  ): Promise<Translation<Options>[]> {
    return this.batch(texts, options, methods.translate);
  }

  /** Translates any number of texts; see `Classifier.classifyEach`. */
  translateEach<Options extends TranslateOptions = {}>(
    texts: Texts,
    options?: Given<TranslateOptions, Options>,
  ): AsyncGenerator<Outcome<Translation<Options>>, void, void> {
    return this.each(texts, options, methods.translate);
  }

  /**
   * Translates a text greedily, without beams, and yields each token when it is decoded. The last
   * step, with `done: true`, has the whole result, which the generator also returns. Decoding starts
   * when the first token is requested and runs ahead of the requests. Leaving the loop ends it.
   */
  async *stream<Options extends StreamOptions = {}>(
    text: string,
    options?: Given<StreamOptions, Options>,
  ): AsyncGenerator<TranslationStep<Options>, Translation<Options>, void> {
    const complete = stepCompleter();
    const result: Translation<Options> = yield* this.steps(
      text,
      options,
      methods.stream,
      (raw) => complete(assemble<ShownStep>(raw)) as TokenStep<Options>,
    );
    yield { done: true, text: result.text, result };
    return result;
  }

  /**
   * Explains the translation of a text by one of the methods of ExplainTranslationOptions or, with
   * methods "activation_patching" and "circuit", the difference between those of two texts: `{ text, pair }`.
   */
  explain<Method extends ExplainTranslationMethod>(
    text: string | TextPair,
    options: ExplainTranslationOptions[Method] & { method: Method },
  ): Promise<TranslationExplanations[Method]> {
    return this.explained(text, options, methods.explain);
  }
}

/**
 * A step as the engine sends it. Data about the whole sentence comes only with the first step of the
 * sentence. `text` is the sentence's translation so far, `before` the text between the last sentence
 * and this one: the size of a step depends on its sentence, not on the whole text.
 */
interface ShownStep {
  token: OutputToken;
  text: string;
  before?: string;
  sentence?: StreamedSentence;
  attention?: Omit<TranslationAttention, 'encoder'> & { encoder?: AttentionMap };
}

// Completes steps with the whole text so far, and with the data from their sentence's first step.
function stepCompleter(): (step: ShownStep) => TokenStep {
  let sentence: StreamedSentence;
  let encoder: AttentionMap;
  let settled = '';
  let text = '';
  return ({ token, text: added, attention, ...first }) => {
    if (first.sentence) {
      sentence = first.sentence;
      settled = text + first.before;
    }
    text = settled + added;
    if (!attention) return { done: false, token, text, sentence };
    if (attention.encoder) encoder = attention.encoder;
    return { done: false, token, text, sentence, attention: { ...attention, encoder } };
  };
}
