import type { ExplainableLoadOptions, ModelFiles } from '../loading/options.js';
import type { Given } from '../model/call_options.js';
import type { ClassifierInfo } from '../model/info.js';
import { LoadedModel, without } from '../model/model.js';
import { openModel } from '../model/open_model.js';
import type { OpenedModel } from '../model/open_model.js';
import { pictureKind } from '../model/pictures.js';
import type { PictureSource } from '../model/pictures.js';
import type {
  ImageClassificationFields,
  Outcome,
  PatchGrid,
  PictureRegion,
  WithAttention,
  WithContributions,
  WithGradients,
  WithTrace,
} from '../model/results.js';
import type { Explanations } from './explain.js';
import { explainPictureOptions } from './explain_options.js';
import type { ExplainOptions } from './explain_options.js';
import { classifyImageOptions } from './options.js';
import type { ClassifyImageOptions } from './options.js';

/** How a picture's size is treated. */
export type PictureSizeOptions = Pick<ClassifyImageOptions, 'interpolate' | 'size'>;

/** The classification of a picture. `Options` tells which options were set. */
export type ImageClassification<Options extends ClassifyImageOptions = ClassifyImageOptions> =
  ImageClassificationFields &
    WithAttention<Options> &
    WithTrace<Options> &
    WithGradients<Options> &
    WithContributions<Options>;

/** Explanations of a picture's label; see ExplainOptions. */
export type ExplainImageMethod = Exclude<keyof ExplainOptions, 'activation_patching'>;
export type ExplainImageOptions = {
  [Method in ExplainImageMethod]: ExplainOptions[Method] & PictureSizeOptions;
};
/** As for texts, with the rows of `grid` in place of tokens. */
export type ImageExplanations = {
  [Method in ExplainImageMethod]: Omit<Explanations[Method], 'tokens' | 'clipped'> & {
    grid: PatchGrid;
    region: PictureRegion;
  };
};

export const classifyImageMethod = { name: 'classify', options: classifyImageOptions };
const explainMethod = {
  name: 'explain',
  options: without(explainPictureOptions, ['labels', 'hypothesisTemplate']),
};

/** A classifier of pictures. */
export class ImageClassifier extends LoadedModel<ClassifierInfo> {
  /** The task of this class. It narrows the type of a model that `load` returned. */
  readonly task = 'image-classification';

  private constructor(model: OpenedModel<ClassifierInfo>) {
    super(model, pictureKind);
  }

  /** Loads the model in a folder; see `Classifier.load`. */
  static async load(
    folder: string | URL | ModelFiles,
    options: ExplainableLoadOptions = {},
  ): Promise<ImageClassifier> {
    return new ImageClassifier(await openModel('image-classification', folder, options));
  }

  /**
   * Classifies a picture. It is resized, cropped and scaled as the model's folder says. Its colors
   * are taken as they are stored: alpha and color profiles are ignored. Of an animation, it is the
   * first frame.
   */
  classify<Options extends ClassifyImageOptions = {}>(
    picture: PictureSource,
    options?: Given<ClassifyImageOptions, Options>,
  ): Promise<ImageClassification<Options>> {
    return this.one(picture, options, classifyImageMethod);
  }

  /**
   * Classifies several pictures. Returns their results in order. If a picture is refused, the batch
   * is rejected; the message tells which picture it was.
   */
  classifyBatch<Options extends ClassifyImageOptions = {}>(
    pictures: readonly PictureSource[],
    options?: Given<ClassifyImageOptions, Options>,
  ): Promise<ImageClassification<Options>[]> {
    return this.batch(pictures, options, classifyImageMethod);
  }

  /** Classifies any number of pictures; see `Classifier.classifyEach`. */
  classifyEach<Options extends ClassifyImageOptions = {}>(
    pictures: Iterable<PictureSource> | AsyncIterable<PictureSource>,
    options?: Given<ClassifyImageOptions, Options>,
  ): AsyncGenerator<Outcome<ImageClassification<Options>>, void, void> {
    return this.each(pictures, options, classifyImageMethod);
  }

  /** Explains the label of a picture by one of the methods of ExplainImageOptions. */
  explain<Method extends ExplainImageMethod>(
    picture: PictureSource,
    options: ExplainImageOptions[Method] & { method: Method },
  ): Promise<ImageExplanations[Method]> {
    return this.explained(picture, options, explainMethod);
  }
}
