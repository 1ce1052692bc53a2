/// <reference lib="esnext.disposable" preserve="true" />

import { Calls } from './calls.js';
import { toText } from './inputs.js';
import { ModelHandle } from './handle.js';
import type {
  Clipped,
  ClassifierInfo,
  LoadOptions,
  ModelFiles,
  Outcome,
  ReadOptions,
  Texts,
  TensorNames,
  WithAttention,
  WithTrace,
} from './types.js';

/**
 * How tokens become entities: each by itself (`none`); those next to each other with one tag
 * (`simple`); or words with one tag, where a word has the label of its first token (`first`), the
 * most probable label by the mean of its tokens' probabilities (`average`), or the label of the
 * token that is most certain (`max`).
 */
export type Aggregation = 'none' | 'simple' | 'first' | 'average' | 'max';

export interface TokenClassifyOptions<
  Attention extends boolean = boolean,
  Trace extends TensorNames = TensorNames,
> extends ReadOptions<Attention, Trace> {
  /** How tokens become entities; `none` by default. */
  aggregation?: Aggregation | undefined;
  /** Labels that make no entity; `["O"]` by default. */
  ignoreLabels?: readonly string[] | undefined;
  /**
   * How a text with more tokens than `info.maxSourceLength` is read: `all` (the default) reads all of
   * it in windows, and of entities that overlap the longer one stays, or of equal ones the surer;
   * `first` cuts it. Attention, traces, patches and `maskTokens` are of a text in one window.
   */
  window?: 'all' | 'first' | undefined;
  /**
   * How many tokens of a window are read again in the next one; 128 by default, or half of a window
   * if that is less.
   */
  stride?: number | undefined;
}

export interface Entity {
  /** The label; of aggregated tokens without its "B-" or "I-". */
  entity: string;
  /** The label's probability; of aggregated tokens or words their mean. */
  score: number;
  /** The token as the vocabulary spells it, such as "##ton"; of aggregated tokens their text. */
  word: string;
  /** Offsets in UTF-16 code units of the text. */
  start: number;
  end: number;
  /** Position among `tokens`, with aggregation `none`. */
  index?: number;
}

/** A type argument tells whether its option was set. */
export type TokenClassification<
  Attention extends boolean = boolean,
  Trace extends TensorNames = TensorNames,
> = Clipped &
  WithAttention<Attention> &
  WithTrace<Trace> & {
    /** In the order of the text. */
    entities: Entity[];
    /** In how many windows the text was read. */
    windows: number;
  };

const options = [
  'attention',
  'trace',
  'patch',
  'ablate',
  'maskTokens',
  'aggregation',
  'ignoreLabels',
  'window',
  'stride',
  'signal',
];

/**
 * Finds entities in texts: names of people, places and the like. It holds a WebAssembly instance, in
 * a worker where the runtime has workers, until it is disposed of. Calls wait for one another. Every
 * error is a GlassformerError, and the call after it works.
 */
export class TokenClassifier {
  /** Tells what `load` gave: no other class has this one. */
  readonly task = 'token-classification';
  /** What the model is. */
  readonly info: ClassifierInfo;
  readonly #model: ModelHandle<ClassifierInfo>;
  readonly #calls: Calls;

  private constructor(model: ModelHandle<ClassifierInfo>) {
    this.#model = model;
    this.#calls = new Calls(model, options, toText);
    this.info = model.info;
  }

  /** Loads the model in a folder, which is named as for `Classifier.load`. */
  static async load(
    folder: string | URL | ModelFiles,
    options: LoadOptions = {},
  ): Promise<TokenClassifier> {
    return new TokenClassifier(await ModelHandle.load('token-classification', folder, options));
  }

  /** Finds the entities of one text. */
  classify<Attention extends boolean = false, Trace extends TensorNames = undefined>(
    text: string,
    options: TokenClassifyOptions<Attention, Trace> = {},
  ): Promise<TokenClassification<Attention, Trace>> {
    return this.#calls.one(text, options, 'classify');
  }

  /**
   * Those of several texts, with one result each, in order. Where a text is refused, so is the
   * whole batch; the message tells which.
   */
  classifyBatch<Attention extends boolean = false, Trace extends TensorNames = undefined>(
    texts: readonly string[],
    options: TokenClassifyOptions<Attention, Trace> = {},
  ): Promise<TokenClassification<Attention, Trace>[]> {
    return this.#calls.batch(texts, options, 'classifyBatch');
  }

  /** Those of any number of texts, as `Classifier.classifyEach` does it. */
  classifyEach<Attention extends boolean = false, Trace extends TensorNames = undefined>(
    texts: Texts,
    options: TokenClassifyOptions<Attention, Trace> = {},
  ): AsyncGenerator<Outcome<TokenClassification<Attention, Trace>>, void, void> {
    return this.#calls.each(texts, options, 'classifyEach');
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
export interface TokenClassifier {
  [Symbol.dispose](): void;
}
if (Symbol.dispose) TokenClassifier.prototype[Symbol.dispose] = TokenClassifier.prototype.dispose;
