import type { LoadOptions } from '../loading/options.js';
import type { PictureSource } from '../model/pictures.js';
import type { TrainingOptions } from '../tasks/options.js';

/** An example to learn from: a text, or two that belong together, and their label. */
export interface LabeledText {
  text: string;
  /** The second text, for a model that reads pairs: all examples have one, or none has. */
  pair?: string | undefined;
  label: string;
}

/** An example to learn from: a picture and its label. All pictures have the same size. */
export interface LabeledPicture {
  picture: PictureSource;
  label: string;
}

/**
 * Examples: objects; or the lines of a file, each a label, a tab and a text, or a label and two
 * texts, as a string or as a file in UTF-8. A file of pictures has the format IDX, as those of MNIST, followed by another such
 * file with their labels, or by lines with their labels.
 */
export type Examples =
  readonly LabeledText[] | readonly LabeledPicture[] | string | Blob | Uint8Array;

/**
 * Fields of config.json, for a new model: `encoder_layers`, `d_model`, `d_ff`, `n_heads` and others.
 * Missing ones are those of a small Transformer: 4 layers, 8 heads, width 128. One that learns from
 * pictures has in addition `patch_height` and `patch_width`: a seventh of the pictures' size, unless
 * they are given.
 */
export type ModelConfig = Readonly<Record<string, unknown>>;

/** How a model learns, and how its files are loaded. */
export interface TrainerOptions
  extends
    TrainingOptions,
    Pick<
      LoadOptions,
      | 'onProgress'
      | 'signal'
      | 'urls'
      | 'hubUrl'
      | 'cache'
      | 'timeout'
      | 'backend'
      | 'binary'
      | 'module'
      | 'worker'
    > {}

/** How dictionaries learn, and how the model's files are loaded. */
export interface DictionaryOptions
  extends
    Pick<TrainingOptions, 'rate' | 'batchTokens' | 'heldOut' | 'seed'>,
    Pick<TrainerOptions, keyof LoadOptions & keyof TrainerOptions> {
  /** Of feed-forward blocks, or of the residual stream after layers. Default: "transcoder". */
  kind?: 'transcoder' | 'sae' | undefined;
  /**
   * The layers that get one each, such as "decoder.layers.2"; "*" stands for all numbers. Default: all
   * of the decoder or, without one, of the encoder.
   */
  at?: string | undefined;
  /** The number of features of each. Default: six times the width of the model. */
  features?: number | undefined;
  /** How many features are active for a token, at most. Default: 16. */
  active?: number | undefined;
}

/** How long to learn: a number of epochs or of minutes. */
export interface TrainOptions {
  /** How often every example is read. Default: 10. */
  epochs?: number | undefined;
  /** The time to learn. Pauses do not count. */
  minutes?: number | undefined;
  /** Ends the training with an error. What was learned so far is kept. */
  signal?: AbortSignal | undefined;
}

/** The mean loss on examples, and the share of them that are classified correctly. */
export interface Score {
  loss: number;
  accuracy: number;
}

/** The size of the gradients of one layer, or of a matrix or norm outside the layers. */
export interface GradientNorm {
  /** Such as "encoder.layers.0" or "encoder.embed_tokens". */
  name: string;
  /** The root of the sum of squares, before gradients are clipped. */
  norm: number;
}

/** One step of a training. */
export interface TrainingStep extends Score {
  /** The number of steps so far, in all trainings of this trainer. */
  step: number;
  /** How often all examples were read. */
  epoch: number;
  /** How much of this training is over, from 0 to 1. */
  progress: number;
  /** The learning rate. */
  rate: number;
  /** The number of tokens in this step. */
  tokens: number;
  /** The norm of all gradients, before they are clipped. */
  gradientNorm: number;
  /** The same for each part of the model, from its first layer to its last. */
  gradientNorms: GradientNorm[];
  /** The time that the step took. */
  milliseconds: number;
  /**
   * The score on the examples that are held out. It is measured about twenty times in a training and
   * after its last step, if there are such examples.
   */
  heldOut?: Score;
}
