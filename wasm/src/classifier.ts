/// <reference lib="esnext.disposable" preserve="true" />

import { toAttentionMaps } from './attention.js';
import type { RawClassification } from './engine.js';
import { checkOption, checkTexts, encodeOptions } from './options.js';
import { Session } from './session.js';
import type {
  Classification,
  ClassifierInfo,
  ClassifyOptions,
  LoadOptions,
  ModelFiles,
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
  async classify(text: string, options: ClassifyOptions = {}): Promise<Classification> {
    checkOption(typeof text === 'string', 'text', 'a string');
    return (await this.#classify([text], options))[0]!;
  }

  /**
   * Classifies several texts, with one result each, in order. Where a text is refused, so is the
   * whole batch; the message tells which.
   */
  async classifyBatch(
    texts: readonly string[],
    options: ClassifyOptions = {},
  ): Promise<Classification[]> {
    checkTexts(texts);
    return this.#classify([...texts], options);
  }

  /** Ends the worker and frees the model. Calls that are under way reject with `disposed`. */
  dispose(): void {
    this.#session.dispose();
  }

  async #classify(texts: string[], options: ClassifyOptions): Promise<Classification[]> {
    const request = { texts, options: encodeOptions(options, classifyOptions, 'classify') };
    const results = await this.#session.call('classify', request, options.signal);
    return results.map(toClassification);
  }
}

// Symbol.dispose, for `using`, is newer than the runtimes that the package supports.
export interface Classifier {
  [Symbol.dispose](): void;
}
if (Symbol.dispose) Classifier.prototype[Symbol.dispose] = Classifier.prototype.dispose;

function toClassification({ attention, ...rest }: RawClassification): Classification {
  return attention ? { ...rest, attention: toAttentionMaps(attention) } : rest;
}
