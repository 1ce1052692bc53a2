import { checkOption } from '../base/checks.js';
import { textKind } from '../engine/input.js';
import type { Texts } from '../engine/input.js';
import type { ExplainableLoadOptions, ModelFiles } from '../loading/options.js';
import type { Given } from '../model/call_options.js';
import type { ModelInfo } from '../model/info.js';
import { LoadedModel } from '../model/model.js';
import { openModel } from '../model/open_model.js';
import type { OpenedModel } from '../model/open_model.js';
import type { EmbeddingFields, Outcome, WithAttention, WithTrace } from '../model/results.js';
import type { StatesExplanations } from './explain.js';
import { explainStatesOptions } from './explain_options.js';
import type { ExplainStatesMethod, ExplainStatesOptions } from './explain_options.js';
import { embedOptions } from './options.js';
import type { EmbedOptions } from './options.js';

/**
 * How a text's vector is computed from its token vectors: their mean, the first token's vector, the
 * maximum in each dimension, their sum divided by √tokens, their mean with weight k for the k-th
 * token, or the last token's vector.
 */
export type Pooling = 'mean' | 'cls' | 'max' | 'mean_sqrt_len' | 'weightedmean' | 'lasttoken';

export interface EmbedderInfo extends ModelInfo {
  /** The poolings that the model was trained with. Vectors of several poolings are concatenated. */
  poolings: Pooling[];
  /** Whether its vectors have length 1. */
  normalize: boolean;
  /**
   * How the similarity of two vectors is computed: the cosine of their angle, their dot product, or
   * minus their distance.
   */
  similarity: 'cosine' | 'dot' | 'euclidean' | 'manhattan';
  /** The folder's prompts, by name. */
  prompts: Record<string, string>;
  /** The name of the prompt that is used if a call names none. */
  defaultPrompt?: string;
  /**
   * The architecture that a published config.json names, such as "BertForMaskedLM", if it has a head
   * that is not run: vectors are computed without it.
   */
  unusedHead?: string;
}

/** The vector of a text. `Options` tells which options were set. */
export type Embedding<Options extends EmbedOptions = EmbedOptions> = EmbeddingFields &
  WithAttention<Options> &
  WithTrace<Options>;

const methods = {
  embed: { name: 'embed', options: embedOptions },
  explain: { name: 'explain', options: explainStatesOptions },
};

/** Computes a vector per text. Similar texts have vectors with a small angle between them. */
export class Embedder extends LoadedModel<EmbedderInfo> {
  /** The task of this class. It narrows the type of a model that `load` returned. */
  readonly task = 'feature-extraction';

  private constructor(model: OpenedModel<EmbedderInfo>) {
    super(model, textKind);
  }

  /** Loads the model in a folder; see `Classifier.load`. */
  static async load(
    folder: string | URL | ModelFiles,
    options: Omit<ExplainableLoadOptions, 'gradients'> = {},
  ): Promise<Embedder> {
    return new Embedder(await openModel('feature-extraction', folder, options));
  }

  /** Computes the vector of a text. */
  embed<Options extends EmbedOptions = {}>(
    text: string,
    options?: Given<EmbedOptions, Options>,
  ): Promise<Embedding<Options>> {
    return this.one(text, options, methods.embed);
  }

  /**
   * Computes the vectors of several texts. Returns their results in order. If a text is refused, the
   * batch is rejected; the message tells which text it was.
   */
  embedBatch<Options extends EmbedOptions = {}>(
    texts: readonly string[],
    options?: Given<EmbedOptions, Options>,
  ): Promise<Embedding<Options>[]> {
    return this.batch(texts, options, methods.embed);
  }

  /** Computes the vectors of any number of texts; see `Classifier.classifyEach`. */
  embedEach<Options extends EmbedOptions = {}>(
    texts: Texts,
    options?: Given<EmbedOptions, Options>,
  ): AsyncGenerator<Outcome<Embedding<Options>>, void, void> {
    return this.each(texts, options, methods.embed);
  }

  /**
   * Returns the similarity of two vectors as `info.similarity` says: usually the cosine of the angle
   * between them, from -1 to 1; 0 if one of them is zero.
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
    const { similarity } = this.info;
    if (similarity === 'dot') return dot(a, b);
    if (similarity !== 'cosine') {
      const apart = Array.from(a, (value, i) => Math.abs(value - b[i]!));
      return similarity === 'euclidean'
        ? -Math.sqrt(dot(apart, apart))
        : -apart.reduce((sum, each) => sum + each, 0);
    }
    const lengths = Math.sqrt(dot(a, a) * dot(b, b));
    return lengths > 0 ? dot(a, b) / lengths : 0;
  }

  /** Explains a number of the model for a text, such as an attention's score. */
  explain<Method extends ExplainStatesMethod>(
    text: string,
    options: ExplainStatesOptions[Method] & { method: Method },
  ): Promise<StatesExplanations[Method]> {
    return this.explained(text, options, methods.explain);
  }
}
