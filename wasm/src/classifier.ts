/// <reference lib="esnext.disposable" preserve="true" />

import { Calls } from './calls.js';
import { explain, explainOptions } from './explain.js';
import type { ExplainMethod, ExplainOptions, Explanations } from './explain.js';
import { toTextOrPair } from './inputs.js';
import { ModelHandle } from './handle.js';
import type {
  Classification,
  ClassifyOptions,
  ClassifierInfo,
  ExplainableLoadOptions,
  ModelFiles,
  Outcome,
  TensorNames,
  TextPair,
} from './types.js';

const options = [
  'attention',
  'contributions',
  'trace',
  'patch',
  'ablate',
  'maskTokens',
  'window',
  'stride',
  'signal',
];

/**
 * A text classifier. It holds a WebAssembly instance, in a worker where the runtime has workers,
 * until it is disposed of. Calls wait for one another. Every error is a GlassformerError, and the
 * call after it works.
 */
export class Classifier {
  /** Tells what `load` gave: no other class has this one. */
  readonly task = 'text-classification';
  /** What the model is. */
  readonly info: ClassifierInfo;
  readonly #model: ModelHandle<ClassifierInfo>;
  readonly #calls: Calls;

  private constructor(model: ModelHandle<ClassifierInfo>) {
    this.#model = model;
    this.#calls = new Calls(model, options, toTextOrPair);
    this.info = model.info;
  }

  /**
   * Loads the model in a folder: a URL with or without trailing slash, in Node also a path; the files
   * of a model, as a model's npm package exports them, or a page's user chooses them; or a model of
   * a hub, `hf:owner/name` or `hf:owner/name@revision`, which is downloaded from there.
   */
  static async load(
    folder: string | URL | ModelFiles,
    options: ExplainableLoadOptions = {},
  ): Promise<Classifier> {
    return new Classifier(await ModelHandle.load('text-classification', folder, options));
  }

  /** Classifies one text or, of a model for that, two texts together: `{ text, pair }`. */
  classify<
    Attention extends boolean = false,
    Contributions extends boolean = false,
    Trace extends TensorNames = undefined,
  >(
    text: string | TextPair,
    options: ClassifyOptions<Attention, Contributions, Trace> = {},
  ): Promise<Classification<Attention, Contributions, Trace>> {
    return this.#calls.one(text, options, 'classify');
  }

  /**
   * Classifies several texts, with one result each, in order. Where a text is refused, so is the
   * whole batch; the message tells which.
   */
  classifyBatch<
    Attention extends boolean = false,
    Contributions extends boolean = false,
    Trace extends TensorNames = undefined,
  >(
    texts: readonly (string | TextPair)[],
    options: ClassifyOptions<Attention, Contributions, Trace> = {},
  ): Promise<Classification<Attention, Contributions, Trace>[]> {
    return this.#calls.batch(texts, options, 'classifyBatch');
  }

  /**
   * Classifies any number of texts, and gives each one's result, or the error by which it was
   * refused, as it comes; `index` counts the texts. Texts are read as they are needed, a few
   * ahead. Other calls get their turn in between. Leaving the loop ends the work.
   */
  classifyEach<
    Attention extends boolean = false,
    Contributions extends boolean = false,
    Trace extends TensorNames = undefined,
  >(
    texts: Iterable<string | TextPair> | AsyncIterable<string | TextPair>,
    options: ClassifyOptions<Attention, Contributions, Trace> = {},
  ): AsyncGenerator<Outcome<Classification<Attention, Contributions, Trace>>, void, void> {
    return this.#calls.each(texts, options, 'classifyEach');
  }

  /**
   * Explains the model's answer to a text by one of the methods of ExplainOptions, or what makes the
   * answers to two of them differ: `{ text, pair }` with method "transplant". A long search stops
   * between two steps where `signal` aborts.
   */
  async explain<Method extends ExplainMethod>(
    text: string | TextPair,
    options: ExplainOptions[Method] & { method: Method },
  ): Promise<Explanations[Method]> {
    return explain(this.#model, toTextOrPair(text), options, explainOptions);
  }

  /**
   * What every token of the vocabulary reads as, by its id: the text that it stands for behind
   * another one, with a space in front where it starts a word. What stands for no text, or for a
   * byte, reads as its name: `</s>`, `<0xE6>`.
   */
  vocabulary(): Promise<string[]> {
    return this.#model.vocabulary();
  }

  /** Ends the worker and frees the model. Calls that are under way reject with `disposed`. */
  dispose(): void {
    this.#model.dispose();
  }
}

// Symbol.dispose, for `using`, is newer than the runtimes that the package supports.
export interface Classifier {
  [Symbol.dispose](): void;
}
if (Symbol.dispose) Classifier.prototype[Symbol.dispose] = Classifier.prototype.dispose;
