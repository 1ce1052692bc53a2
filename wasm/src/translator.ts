/// <reference lib="esnext.disposable" preserve="true" />

import { toAttentionMap, toAttentionMaps } from './attention.js';
import type { RawStep, RawTranslation } from './engine.js';
import { iterate } from './iterate.js';
import { checkOption, checkTexts, encodeOptions } from './options.js';
import { Session } from './session.js';
import type {
  AttentionMap,
  ModelFiles,
  StreamOptions,
  StreamedSentence,
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
  async translate(text: string, options: TranslateOptions = {}): Promise<Translation> {
    checkOption(typeof text === 'string', 'text', 'a string');
    return (await this.#translate([text], options))[0]!;
  }

  /**
   * Translates several texts, with one result each, in order. Where a text is refused, so is the
   * whole batch; the message tells which.
   */
  async translateBatch(
    texts: readonly string[],
    options: TranslateOptions = {},
  ): Promise<Translation[]> {
    checkTexts(texts);
    return this.#translate([...texts], options);
  }

  /**
   * Translates one text greedily and gives every token as it is decoded; the whole translation is
   * what the generator returns. It starts when the first token is asked for and runs ahead of who
   * asks, so that nobody who waits for the model has to wait for them. Leaving the loop ends it.
   */
  async *stream(
    text: string,
    options: StreamOptions = {},
  ): AsyncGenerator<TranslationStep, Translation, void> {
    checkOption(typeof text === 'string', 'text', 'a string');
    const request = {
      texts: [text],
      options: encodeOptions(options, streamOptions, 'stream', { beams: 1, stream: true }),
    };
    const complete = stepCompleter();
    const work = (push: (step: TranslationStep) => void, inner: AbortSignal) =>
      this.#session.call('translate', request, inner, (step) => push(complete(step)));
    const [translation] = yield* iterate(options.signal, work);
    return toTranslation(translation!);
  }

  /** Ends the worker and frees the model. Calls and streams under way reject with `disposed`. */
  dispose(): void {
    this.#session.dispose();
  }

  async #translate(texts: string[], options: TranslateOptions): Promise<Translation[]> {
    const request = { texts, options: encodeOptions(options, translateOptions, 'translate') };
    const results = await this.#session.call('translate', request, options.signal);
    return results.map(toTranslation);
  }
}

// Symbol.dispose, for `using`, is newer than the runtimes that the package supports.
export interface Translator {
  [Symbol.dispose](): void;
}
if (Symbol.dispose) Translator.prototype[Symbol.dispose] = Translator.prototype.dispose;

function toTranslation({ sentences, ...rest }: RawTranslation): Translation {
  return {
    ...rest,
    sentences: sentences.map(({ attention, ...sentence }) =>
      attention ? { ...sentence, attention: toAttentionMaps(attention) } : sentence,
    ),
  };
}

// Gives every step what comes only with the first one of its sentence.
function stepCompleter(): (step: RawStep) => TranslationStep {
  let sentence: StreamedSentence;
  let encoder: AttentionMap;
  return ({ token, text, attention, ...first }) => {
    sentence = first.sentence ?? sentence;
    if (!attention) return { token, text, sentence };
    if (attention.encoder) encoder = toAttentionMap(attention.encoder);
    const rows = toAttentionMaps({ decoder: attention.decoder, cross: attention.cross });
    return { token, text, sentence, attention: { encoder, ...rows } };
  };
}
