/// <reference lib="esnext.disposable" preserve="true" />

import { ModelHandle } from './handle.js';
import { checkOption, checkTexts, encodeOptions } from './options.js';
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
  readonly #model: ModelHandle<ClassifierInfo>;

  private constructor(model: ModelHandle<ClassifierInfo>) {
    this.#model = model;
    this.info = model.info;
  }

  /**
   * Loads the model in a folder: a URL with or without trailing slash, in Node also a path; or the
   * files of a model, as a model's npm package exports them.
   */
  static async load(
    folder: string | URL | ModelFiles,
    options: LoadOptions = {},
  ): Promise<Classifier> {
    return new Classifier(await ModelHandle.load('classify', folder, options));
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
    yield* this.#model.outcomes<Classification<Attention, Contributions>>(
      texts,
      encoded,
      options.signal,
    );
  }

  /** Ends the worker and frees the model. Calls that are under way reject with `disposed`. */
  dispose(): void {
    this.#model.dispose();
  }

  async #classify<Result extends Classification>(
    texts: string[],
    options: ClassifyOptions,
  ): Promise<Result[]> {
    const encoded = encodeOptions(options, classifyOptions, 'classify');
    return this.#model.results<Result>(texts, encoded, options.signal);
  }
}

// Symbol.dispose, for `using`, is newer than the runtimes that the package supports.
export interface Classifier {
  [Symbol.dispose](): void;
}
if (Symbol.dispose) Classifier.prototype[Symbol.dispose] = Classifier.prototype.dispose;
