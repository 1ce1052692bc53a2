/// <reference lib="esnext.disposable" preserve="true" />

import { toAttentionMaps } from './attention.js';
import { outcomesOf } from './each.js';
import { resultsOf } from './engine.js';
import type { RawClassification } from './engine.js';
import { checkOption, checkTexts, encodeOptions } from './options.js';
import { Session } from './session.js';
import type {
  Classification,
  ClassifierInfo,
  ClassifyOptions,
  LoadOptions,
  ModelFiles,
  Outcome,
  Texts,
} from './types.js';

const classifyOptions = ['attention', 'contributions', 'ablate', 'maskTokens', 'signal'];

/**
 * A text classifier. It holds a WebAssembly instance, in a worker where the runtime has workers,
 * until it is disposed of. Calls wait for one another. Every error is a GlassformerError, and the
 * call after it works.
 */
export class Classifier {
  /** What the model is. */
  readonly info: ClassifierInfo;
  readonly #session: Session<ClassifierInfo>;

  private constructor(session: Session<ClassifierInfo>) {
    this.#session = session;
    this.info = session.info;
  }

  /**
   * Loads the model in a folder: a URL with or without trailing slash, in Node also a path; or the
   * files of a model, as a model's npm package exports them.
   */
  static async load(
    folder: string | URL | ModelFiles,
    options: LoadOptions = {},
  ): Promise<Classifier> {
    return new Classifier(await Session.load('classify', folder, options));
  }

  /** Classifies one text. */
  async classify<Attention extends boolean = false, Contributions extends boolean = false>(
    text: string,
    options: ClassifyOptions<Attention, Contributions> = {},
  ): Promise<Classification<Attention, Contributions>> {
    checkOption(typeof text === 'string', 'text', 'a string');
    const [result] = await this.#classify<Classification<Attention, Contributions>>(
      [text],
      options,
    );
    return result!;
  }

  /**
   * Classifies several texts, with one result each, in order. Where a text is refused, so is the
   * whole batch; the message tells which.
   */
  async classifyBatch<Attention extends boolean = false, Contributions extends boolean = false>(
    texts: readonly string[],
    options: ClassifyOptions<Attention, Contributions> = {},
  ): Promise<Classification<Attention, Contributions>[]> {
    checkTexts(texts);
    return this.#classify<Classification<Attention, Contributions>>([...texts], options);
  }

  /**
   * Classifies any number of texts, and gives each one's result, or the error by which it was
   * refused, as it comes; `index` counts the texts. Texts are read as they are needed, a few
   * ahead. Other calls get their turn in between. Leaving the loop ends the work.
   */
  async *classifyEach<Attention extends boolean = false, Contributions extends boolean = false>(
    texts: Texts,
    options: ClassifyOptions<Attention, Contributions> = {},
  ): AsyncGenerator<Outcome<Classification<Attention, Contributions>>, void, void> {
    const encoded = encodeOptions(options, classifyOptions, 'classifyEach');
    const outcomes = outcomesOf(this.#session, texts, options.signal, (some, inner) =>
      this.#session.call('classify', { texts: some, options: encoded, each: true }, inner),
    );
    for await (const { index, result, error } of outcomes) {
      yield error ? { index, error } : { index, result: toClassification(result) };
    }
  }

  /** Ends the worker and frees the model. Calls that are under way reject with `disposed`. */
  dispose(): void {
    this.#session.dispose();
  }

  async #classify<Result extends Classification>(
    texts: string[],
    options: ClassifyOptions,
  ): Promise<Result[]> {
    const encoded = encodeOptions(options, classifyOptions, 'classify');
    const request = { texts, options: encoded, each: false };
    const answers = await this.#session.call('classify', request, options.signal);
    return resultsOf(answers, texts.length).map(toClassification<Result>);
  }
}

// Symbol.dispose, for `using`, is newer than the runtimes that the package supports.
export interface Classifier {
  [Symbol.dispose](): void;
}
if (Symbol.dispose) Classifier.prototype[Symbol.dispose] = Classifier.prototype.dispose;

// What was asked for is there.
function toClassification<Result extends Classification>(raw: RawClassification): Result {
  const { attention, ...rest } = raw;
  return (attention ? { ...rest, attention: toAttentionMaps(attention) } : rest) as Result;
}
