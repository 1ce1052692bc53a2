import type { LoadOptions } from '../loading/options.js';
import type { PictureSource } from '../model/pictures.js';

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

/** How a model learns. Defaults depend on the model and the examples where none is named. */
export interface TrainerOptions extends Pick<
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
> {
  /** The highest learning rate. Default: 0.002 for a new model, 0.0002 for one from a folder. */
  rate?: number | undefined;
  /** The share of a training in which the learning rate rises from 0. Default: 0.05. */
  warmUp?: number | undefined;
  /** How the learning rate falls after that. Default: "linear". */
  decay?: 'linear' | 'cosine' | 'none' | undefined;
  /** How weights change: AdamW, or Muon for the matrices of layers. Default: "adamw". */
  optimizer?: 'adamw' | 'muon' | undefined;
  /** The decay of weights, per step and times the learning rate. Default: 0.01. */
  weightDecay?: number | undefined;
  /** The share of activations that are set to zero at random. Default: 0.1. */
  dropout?: number | undefined;
  /** Label smoothing. Default: 0.1. */
  smoothing?: number | undefined;
  /**
   * The decay of the moving average of the weights. The average answers, is evaluated and saved. 0
   * disables it. Default: 0.998.
   */
  averaging?: number | undefined;
  /** The share of a text's tokens that are left out at random. Default: 0. */
  droppedTokens?: number | undefined;
  /**
   * How strongly pictures are turned, slanted, scaled and moved at random, from 0, not at all, to 4.
   * Default: 1.
   */
  distortion?: number | undefined;
  /** The number of tokens, or patches of pictures, per step. */
  batchTokens?: number | undefined;
  /** The number of a step's tokens that are in memory at once. It does not change the batch. */
  shardTokens?: number | undefined;
  /** The number of pieces of a new tokenizer. */
  vocabulary?: number | undefined;
  /** Whether a new tokenizer converts texts to lower case. Default: true. */
  lowerCase?: boolean | undefined;
  /**
   * The share of the examples that are not learned from but measure progress. Default: 0.05, at most
   * 2000 examples.
   */
  heldOut?: number | undefined;
  /** The seed of all random numbers, a whole number. Default: 1. */
  seed?: number | undefined;
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
