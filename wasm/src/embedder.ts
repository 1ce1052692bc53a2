/// <reference lib="esnext.disposable" preserve="true" />

import { Calls } from './calls.js';
import { toText } from './inputs.js';
import { ModelHandle } from './handle.js';
import { checkOption } from './options.js';
import type {
  Clipped,
  LoadOptions,
  ModelFiles,
  ModelInfo,
  Outcome,
  ReadOptions,
  Texts,
  TensorNames,
  WithAttention,
  WithTrace,
} from './types.js';

/**
 * How one vector is made of a text's token vectors: their mean, the first token's, the largest
 * number in each dimension, their sum / √tokens, their mean with the k-th counted k times, or the
 * last token's.
 */
export type Pooling = 'mean' | 'cls' | 'max' | 'mean_sqrt_len' | 'weightedmean' | 'lasttoken';

export interface EmbedderInfo extends ModelInfo {
  /** What the model is made for; vectors of several poolings are put side by side. */
  poolings: Pooling[];
  /** Whether its vectors have length 1. */
  normalize: boolean;
  /** Texts that the folder has for `promptName`. */
  prompts: Record<string, string>;
  /** The name of the prompt that is used where a call names none. */
  defaultPrompt?: string;
  /**
   * The architecture that a published config.json names, such as "BertForMaskedLM", if it has a head
   * that is not run: vectors are made without it.
   */
  unusedHead?: string;
}

export interface EmbedOptions<
  Attention extends boolean = boolean,
  Trace extends TensorNames = TensorNames,
> extends ReadOptions<Attention, Trace> {
  /** As the model says by default. */
  pooling?: Pooling | readonly Pooling[] | undefined;
  /** Scales the vector to length 1; as the model says by default. */
  normalize?: boolean | undefined;
  /** A text to put before each text; ranges of tokens stay those of the text alone. */
  prompt?: string | undefined;
  /** One of `info.prompts`. Without it and `prompt`, the folder's default prompt is used. */
  promptName?: string | undefined;
}

/** A type argument tells whether its option was set. */
export type Embedding<
  Attention extends boolean = boolean,
  Trace extends TensorNames = TensorNames,
> = Clipped &
  WithAttention<Attention> &
  WithTrace<Trace> & {
    /** [poolings · dModel] */
    embedding: Float32Array;
  };

const options = [
  'attention',
  'trace',
  'patch',
  'ablate',
  'maskTokens',
  'pooling',
  'normalize',
  'prompt',
  'promptName',
  'signal',
];

/**
 * Makes vectors of texts: the smaller the angle between two, the more alike are the texts. It holds a
 * WebAssembly instance, in a worker where the runtime has workers, until it is disposed of. Calls
 * wait for one another. Every error is a GlassformerError, and the call after it works.
 */
export class Embedder {
  /** Tells what `load` gave: no other class has this one. */
  readonly task = 'feature-extraction';
  /** What the model is. */
  readonly info: EmbedderInfo;
  readonly #model: ModelHandle<EmbedderInfo>;
  readonly #calls: Calls;

  private constructor(model: ModelHandle<EmbedderInfo>) {
    this.#model = model;
    this.#calls = new Calls(model, options, toText);
    this.info = model.info;
  }

  /** Loads the model in a folder, which is named as for `Classifier.load`. */
  static async load(
    folder: string | URL | ModelFiles,
    options: LoadOptions = {},
  ): Promise<Embedder> {
    return new Embedder(await ModelHandle.load('feature-extraction', folder, options));
  }

  /** The vector of one text. */
  embed<Attention extends boolean = false, Trace extends TensorNames = undefined>(
    text: string,
    options: EmbedOptions<Attention, Trace> = {},
  ): Promise<Embedding<Attention, Trace>> {
    return this.#calls.one(text, options, 'embed');
  }

  /**
   * Those of several texts, with one result each, in order. Where a text is refused, so is the
   * whole batch; the message tells which.
   */
  embedBatch<Attention extends boolean = false, Trace extends TensorNames = undefined>(
    texts: readonly string[],
    options: EmbedOptions<Attention, Trace> = {},
  ): Promise<Embedding<Attention, Trace>[]> {
    return this.#calls.batch(texts, options, 'embedBatch');
  }

  /** Those of any number of texts, as `Classifier.classifyEach` does it. */
  embedEach<Attention extends boolean = false, Trace extends TensorNames = undefined>(
    texts: Texts,
    options: EmbedOptions<Attention, Trace> = {},
  ): AsyncGenerator<Outcome<Embedding<Attention, Trace>>, void, void> {
    return this.#calls.each(texts, options, 'embedEach');
  }

  /**
   * How alike two texts are by their vectors: the cosine of the angle between them, -1 to 1; 0 where
   * one of them is 0.
   */
  similarity(a: ArrayLike<number>, b: ArrayLike<number>): number {
    for (const vector of [a, b] as unknown[]) {
      const expected = 'two vectors, such as the embedding of what embed returns';
      checkOption(typeof vector === 'object' && vector !== null, 'similarity', expected);
    }
    checkOption(
      a.length === b.length,
      'similarity',
      `vectors of one size, got ${a.length} and ${b.length}`,
    );
    const dot = (x: ArrayLike<number>, y: ArrayLike<number>): number =>
      Array.from(x).reduce((sum, value, i) => sum + value * y[i]!, 0);
    const lengths = Math.sqrt(dot(a, a) * dot(b, b));
    return lengths > 0 ? dot(a, b) / lengths : 0;
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
export interface Embedder {
  [Symbol.dispose](): void;
}
if (Symbol.dispose) Embedder.prototype[Symbol.dispose] = Embedder.prototype.dispose;
