import { checkOption } from '../base/checks.js';
import { textKind } from '../engine/input.js';
import type { InputKind } from '../engine/input.js';
import type { ExplainableLoadOptions, ModelFiles } from '../loading/options.js';
import type { Given } from '../model/call_options.js';
import type { ModelInfo } from '../model/info.js';
import { LoadedModel, without } from '../model/model.js';
import { openModel } from '../model/open_model.js';
import type { OpenedModel } from '../model/open_model.js';
import { pictureKind } from '../model/pictures.js';
import type { PictureSource } from '../model/pictures.js';
import type {
  ImageMatchFields,
  LabelScore,
  WithAttention,
  WithGradients,
  WithTrace,
} from '../model/results.js';
import type { Embedding } from './embedder.js';
import { explainPictureOptions } from './explain_options.js';
import type {
  ExplainImageMethod,
  ExplainImageOptions,
  ImageExplanations,
} from './image_classifier.js';
import { matchOptions, readOptions } from './options.js';
import type { MatchOptions, ReadOptions } from './options.js';

export type EmbedImageOptions = Omit<MatchOptions, 'gradients' | 'hypothesisTemplate'>;

/** Explanations of a picture's best label; see ExplainOptions. */
export type ExplainMatchOptions = {
  [Method in ExplainImageMethod]: ExplainImageOptions[Method] &
    Pick<MatchOptions, 'hypothesisTemplate'>;
};

/** The vector of a picture. `Options` tells which options were set. */
export type ImageEmbedding<Options extends EmbedImageOptions = EmbedImageOptions> =
  ImageMatchFields & WithAttention<Options> & WithTrace<Options>;

/** A picture, compared with labels. `Options` tells which options were set. */
export type ImageMatch<Options extends MatchOptions = MatchOptions> = ImageEmbedding<Options> &
  WithGradients<Options> & {
    /** The label with the highest score. */
    label: string;
    /** The score of that label. */
    score: number;
    /**
     * Each label, in the given order. Scores are probabilities that sum to 1; a logit is the similarity
     * of the label's text and the picture, times the model's scale.
     */
    scores: LabelScore[];
  };

class GivenText {
  constructor(readonly text: unknown) {}
}

const pictureOrTextKind: InputKind = {
  several: 'pictures',
  take: (given, place) =>
    given instanceof GivenText ? textKind.take(given.text) : pictureKind.take(given, place),
};

const embedImage = {
  name: 'embedImage',
  options: without(matchOptions, ['gradients', 'hypothesisTemplate']),
};
const methods = {
  classify: { name: 'classify', options: matchOptions },
  explain: { name: 'explain', options: without(explainPictureOptions, ['labels']) },
  embedImage,
  embedText: { name: 'embedText', options: readOptions },
};

function checked(labels: readonly string[]): { labels: readonly string[] } {
  const valid = Array.isArray(labels) && labels.length > 0;
  checkOption(valid, 'labels', 'an array of strings, at least one');
  return { labels };
}

/**
 * Compares pictures with texts, and so finds the best of labels that it was not trained with (Radford
 * et al. 2021, "Learning Transferable Visual Models From Natural Language Supervision").
 */
export class ZeroShotImageClassifier extends LoadedModel<ModelInfo> {
  /** The task of this class. It narrows the type of a model that `load` returned. */
  readonly task = 'zero-shot-image-classification';

  private constructor(model: OpenedModel<ModelInfo>) {
    super(model, pictureOrTextKind);
  }

  /** Loads the model in a folder; see `Classifier.load`. */
  static async load(
    folder: string | URL | ModelFiles,
    options: ExplainableLoadOptions = {},
  ): Promise<ZeroShotImageClassifier> {
    const model = await openModel<ModelInfo>('zero-shot-image-classification', folder, options);
    return new ZeroShotImageClassifier(model);
  }

  /** Finds the label that fits a picture best. The picture is prepared as by `ImageClassifier`. */
  async classify<Options extends MatchOptions = {}>(
    picture: PictureSource,
    labels: readonly string[],
    options?: Given<MatchOptions, Options>,
  ): Promise<ImageMatch<Options>> {
    return this.one(picture, options, methods.classify, checked(labels));
  }

  /**
   * Explains which of the labels fits a picture best, by one of the methods of ExplainMatchOptions. The
   * explained number is computed from the labels' logits, as for a classifier with these labels.
   */
  async explain<Method extends ExplainImageMethod>(
    picture: PictureSource,
    labels: readonly string[],
    options: ExplainMatchOptions[Method] & { method: Method },
  ): Promise<ImageExplanations[Method]> {
    return this.explained(picture, options, methods.explain, checked(labels));
  }

  /** Computes the vector of a picture. */
  embedImage<Options extends EmbedImageOptions = {}>(
    picture: PictureSource,
    options?: Given<EmbedImageOptions, Options>,
  ): Promise<ImageEmbedding<Options>> {
    return this.one(picture, options, methods.embedImage);
  }

  /** Computes the vector of a text, of length 1. */
  embedText<Options extends ReadOptions = {}>(
    text: string,
    options?: Given<ReadOptions, Options>,
  ): Promise<Embedding<Options>> {
    return this.one(new GivenText(text), options, methods.embedText);
  }
}
