/// <reference lib="esnext.disposable" preserve="true" />

import { AttentionMap, toAttentionMaps } from './attention.js';
import { outcomesOf } from './each.js';
import { resultsOf } from './engine.js';
import type { RawStep, RawTranslation } from './engine.js';
import { iterate } from './iterate.js';
import { checkOption, checkTexts, encodeOptions } from './options.js';
import { Session } from './session.js';
import type {
  AlignmentOptions,
  ModelFiles,
  Outcome,
  StreamOptions,
  StreamedSentence,
  Texts,
  TokenStep,
  TranslateOptions,
  Translation,
  TranslationStep,
  TranslatorInfo,
  TranslatorLoadOptions,
} from './types.js';

const streamOptions = ['attention', 'alignment', 'maxLength', 'ablate', 'signal'];
const translateOptions = [...streamOptions, 'beams', 'lengthPenalty', 'hypotheses'];

/**
 * A translator. It holds a WebAssembly instance, in a worker where the runtime has workers, until
 * it is disposed of. Calls and streams wait for one another: each is decoded to its end before the
 * next begins. Every error is a GlassformerError, and the call after it works.
 */
export class Translator {
  /** What the model is. */
  readonly info: TranslatorInfo;
  readonly #session: Session<TranslatorInfo>;

  private constructor(session: Session<TranslatorInfo>) {
    this.#session = session;
    this.info = session.info;
  }

  /**
   * Loads the model in a folder: a URL with or without trailing slash, in Node also a path; or the
   * files of a model, as a model's npm package exports them.
   */
  static async load(
    folder: string | URL | ModelFiles,
    options: TranslatorLoadOptions = {},
  ): Promise<Translator> {
    return new Translator(await Session.load('translate', folder, options));
  }

  /** Translates one text, sentence by sentence; the spacing between them stays. */
  async translate<
    Attention extends boolean = false,
    Alignment extends boolean | AlignmentOptions = false,
    Hypotheses extends boolean = false,
  >(
    text: string,
    options: TranslateOptions<Attention, Alignment, Hypotheses> = {},
  ): Promise<Translation<Attention, Alignment, Hypotheses>> {
    checkOption(typeof text === 'string', 'text', 'a string');
    return (await this.#translate([text], options))[0]!;
  }

  /**
   * Translates several texts, with one result each, in order. Where a text is refused, so is the
   * whole batch; the message tells which.
   */
  async translateBatch<
    Attention extends boolean = false,
    Alignment extends boolean | AlignmentOptions = false,
    Hypotheses extends boolean = false,
  >(
    texts: readonly string[],
    options: TranslateOptions<Attention, Alignment, Hypotheses> = {},
  ): Promise<Translation<Attention, Alignment, Hypotheses>[]> {
    checkTexts(texts);
    return this.#translate([...texts], options);
  }

  /**
   * Translates any number of texts, and gives each one's result, or the error by which it was
   * refused, as it comes; `index` counts the texts. Texts are read as they are needed, a few
   * ahead. Other calls get their turn in between. Leaving the loop ends the work.
   */
  async *translateEach<
    Attention extends boolean = false,
    Alignment extends boolean | AlignmentOptions = false,
    Hypotheses extends boolean = false,
  >(
    texts: Texts,
    options: TranslateOptions<Attention, Alignment, Hypotheses> = {},
  ): AsyncGenerator<Outcome<Translation<Attention, Alignment, Hypotheses>>, void, void> {
    const encoded = encodeOptions(options, translateOptions, 'translateEach');
    const outcomes = outcomesOf(this.#session, texts, options.signal, (some, inner) =>
      this.#session.call('translate', { texts: some, options: encoded, each: true }, inner),
    );
    for await (const { index, result, error } of outcomes) {
      yield error ? { index, error } : { index, result: toTranslation(result) };
    }
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
  >(
    text: string,
    options: StreamOptions<Attention, Alignment> = {},
  ): AsyncGenerator<
    TranslationStep<Attention, Alignment>,
    Translation<Attention, Alignment, false>,
    void
  > {
    checkOption(typeof text === 'string', 'text', 'a string');
    const fixed = { beams: 1, stream: true };
    const encoded = encodeOptions(options, streamOptions, 'stream', fixed);
    const request = { texts: [text], options: encoded, each: false };
    const complete = stepCompleter();
    const work = (push: (step: TokenStep<Attention>) => void, inner: AbortSignal) =>
      this.#session.call('translate', request, inner, (step) =>
        push(complete(step) as TokenStep<Attention>),
      );
    const answers = yield* iterate(options.signal, work);
    const result = toTranslation<Translation<Attention, Alignment, false>>(
      resultsOf(answers, 1)[0]!,
    );
    yield { done: true, text: result.text, result };
    return result;
  }

  /** Ends the worker and frees the model. Calls and streams under way reject with `disposed`. */
  dispose(): void {
    this.#session.dispose();
  }

  async #translate<Result extends Translation>(
    texts: string[],
    options: TranslateOptions,
  ): Promise<Result[]> {
    const encoded = encodeOptions(options, translateOptions, 'translate');
    const request = { texts, options: encoded, each: false };
    const answers = await this.#session.call('translate', request, options.signal);
    return resultsOf(answers, texts.length).map(toTranslation<Result>);
  }
}

// Symbol.dispose, for `using`, is newer than the runtimes that the package supports.
export interface Translator {
  [Symbol.dispose](): void;
}
if (Symbol.dispose) Translator.prototype[Symbol.dispose] = Translator.prototype.dispose;

// What was asked for is there.
function toTranslation<Result extends Translation>({ sentences, ...rest }: RawTranslation): Result {
  return {
    ...rest,
    sentences: sentences.map(({ attention, ...sentence }) =>
      attention ? { ...sentence, attention: toAttentionMaps(attention) } : sentence,
    ),
  } as Result;
}

// Gives every step the whole text so far, and what comes only with the first one of its sentence.
function stepCompleter(): (step: RawStep) => TokenStep {
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
    if (attention.encoder) encoder = new AttentionMap(attention.encoder);
    const rows = toAttentionMaps({ decoder: attention.decoder, cross: attention.cross });
    return { done: false, token, text, sentence, attention: { encoder, ...rows } };
  };
}
