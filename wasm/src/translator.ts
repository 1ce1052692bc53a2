/// <reference lib="esnext.disposable" preserve="true" />

import type { AttentionMap } from './attention.js';
import { Calls } from './calls.js';
import { explain, explainTranslationOptions } from './explain.js';
import type {
  ExplainTranslationMethod,
  ExplainTranslationOptions,
  TranslationExplanations,
} from './explain.js';
import { toText } from './inputs.js';
import { ModelHandle } from './handle.js';
import { iterate } from './iterate.js';
import { encodeOptions } from './encode.js';
import { assemble } from './tensors.js';
import type {
  AlignmentOptions,
  ModelFiles,
  Outcome,
  OutputToken,
  StreamOptions,
  StreamedSentence,
  TensorNames,
  Texts,
  TokenStep,
  TranslateOptions,
  Translation,
  TranslationAttention,
  TranslationStep,
  TranslatorInfo,
  TranslatorLoadOptions,
} from './types.js';

const streamOptions = ['attention', 'alignment', 'maxLength', 'trace', 'patch', 'ablate', 'signal'];
const translateOptions = [
  ...streamOptions,
  'beams',
  'lengthPenalty',
  'earlyStopping',
  'prefixes',
  'maskTokens',
  'hypotheses',
];

/**
 * A translator. It holds a WebAssembly instance, in a worker where the runtime has workers, until
 * it is disposed of. Calls and streams wait for one another: each is decoded to its end before the
 * next begins. Every error is a GlassformerError, and the call after it works.
 */
export class Translator {
  /** Tells what `load` gave: no other class has this one. */
  readonly task = 'translation';
  /** What the model is. */
  readonly info: TranslatorInfo;
  readonly #model: ModelHandle<TranslatorInfo>;
  readonly #calls: Calls;

  private constructor(model: ModelHandle<TranslatorInfo>) {
    this.#model = model;
    this.#calls = new Calls(model, translateOptions, toText);
    this.info = model.info;
  }

  /** Loads the model in a folder, which is named as for `Classifier.load`. */
  static async load(
    folder: string | URL | ModelFiles,
    options: TranslatorLoadOptions = {},
  ): Promise<Translator> {
    return new Translator(await ModelHandle.load('translation', folder, options));
  }

  /** Translates one text, sentence by sentence; the spacing between them stays. */
  translate<
    Attention extends boolean = false,
    Alignment extends boolean | AlignmentOptions = false,
    Hypotheses extends boolean = false,
    Trace extends TensorNames = undefined,
  >(
    text: string,
    options: TranslateOptions<Attention, Alignment, Hypotheses, Trace> = {},
  ): Promise<Translation<Attention, Alignment, Hypotheses, Trace>> {
    return this.#calls.one(text, options, 'translate');
  }

  /**
   * Translates several texts, with one result each, in order. Where a text is refused, so is the
   * whole batch; the message tells which.
   */
  translateBatch<
    Attention extends boolean = false,
    Alignment extends boolean | AlignmentOptions = false,
    Hypotheses extends boolean = false,
    Trace extends TensorNames = undefined,
  >(
    texts: readonly string[],
    options: TranslateOptions<Attention, Alignment, Hypotheses, Trace> = {},
  ): Promise<Translation<Attention, Alignment, Hypotheses, Trace>[]> {
    return this.#calls.batch(texts, options, 'translateBatch');
  }

  /**
   * Translates any number of texts, and gives each one's result, or the error by which it was
   * refused, as it comes; `index` counts the texts. Texts are read as they are needed, a few
   * ahead. Other calls get their turn in between. Leaving the loop ends the work.
   */
  translateEach<
    Attention extends boolean = false,
    Alignment extends boolean | AlignmentOptions = false,
    Hypotheses extends boolean = false,
    Trace extends TensorNames = undefined,
  >(
    texts: Texts,
    options: TranslateOptions<Attention, Alignment, Hypotheses, Trace> = {},
  ): AsyncGenerator<Outcome<Translation<Attention, Alignment, Hypotheses, Trace>>, void, void> {
    return this.#calls.each(texts, options, 'translateEach');
  }

  /**
   * Translates one text greedily, not by beams, and gives every token as it is decoded; the last
   * step, with `done: true`, has the whole result, which the generator also returns. It starts when
   * the first token is asked for and runs ahead of who asks, so that nobody who waits for the model
   * has to wait for them. Leaving the loop ends it.
   */
  async *stream<
    Attention extends boolean = false,
    Alignment extends boolean | AlignmentOptions = false,
    Trace extends TensorNames = undefined,
  >(
    text: string,
    options: StreamOptions<Attention, Alignment, Trace> = {},
  ): AsyncGenerator<
    TranslationStep<Attention, Alignment, Trace>,
    Translation<Attention, Alignment, false, Trace>,
    void
  > {
    const input = toText(text);
    const fixed = { beams: 1, stream: true };
    const encoded = encodeOptions(options, streamOptions, 'stream', fixed);
    const complete = stepCompleter();
    const work = (push: (step: TokenStep<Attention>) => void, inner: AbortSignal) =>
      this.#model.results<Translation<Attention, Alignment, false, Trace>>(
        [input],
        encoded,
        inner,
        (step) => push(complete(assemble<ShownStep>(step)) as TokenStep<Attention>),
      );
    const [result] = yield* iterate(options.signal, work);
    yield { done: true, text: result!.text, result: result! };
    return result!;
  }

  /** Explains the translation of a text by one of the methods of ExplainTranslationOptions. */
  async explain<Method extends ExplainTranslationMethod>(
    text: string,
    options: ExplainTranslationOptions[Method] & { method: Method },
  ): Promise<TranslationExplanations[Method]> {
    return explain(this.#model, toText(text), options, explainTranslationOptions);
  }

  /**
   * What every token of the vocabulary that translations are made of reads as, by its id: the text that it stands for behind
   * another one, with a space in front where it starts a word. What stands for no text, or for a
   * byte, reads as its name: `</s>`, `<0xE6>`.
   */
  vocabulary(): Promise<string[]> {
    return this.#model.vocabulary();
  }

  /** Ends the worker and frees the model. Calls and streams under way reject with `disposed`. */
  dispose(): void {
    this.#model.dispose();
  }
}

// Symbol.dispose, for `using`, is newer than the runtimes that the package supports.
export interface Translator {
  [Symbol.dispose](): void;
}
if (Symbol.dispose) Translator.prototype[Symbol.dispose] = Translator.prototype.dispose;

/**
 * What a step shows; what holds for the whole sentence comes with its first step only. `text` is the
 * sentence's output so far, `before` what goes between what the last step showed and that: a step
 * is as large as its sentence, however long the text is.
 */
interface ShownStep {
  token: OutputToken;
  text: string;
  before?: string;
  sentence?: StreamedSentence;
  attention?: Omit<TranslationAttention, 'encoder'> & { encoder?: AttentionMap };
}

// Gives every step the whole text so far, and what comes only with the first one of its sentence.
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
