import { checkOption, checkSignal } from '../base/checks.js';
import { GlassformerError } from '../base/errors.js';
import type { TextPair } from '../engine/input.js';
import { textOrPairKind } from '../engine/input.js';
import type { ModelFiles } from '../loading/options.js';
import type { Architecture } from '../model/architecture.js';
import type { Given } from '../model/call_options.js';
import { encodeOptions } from '../model/encode.js';
import type { ClassifierInfo } from '../model/info.js';
import { pictureKind } from '../model/pictures.js';
import type { PictureSource } from '../model/pictures.js';
import type { Session } from '../model/session.js';
import { classifyMethod } from '../tasks/classifier.js';
import type { Classification } from '../tasks/classifier.js';
import { classifyImageMethod } from '../tasks/image_classifier.js';
import type { ImageClassification } from '../tasks/image_classifier.js';
import { encodeExamples, holdsPictures } from './examples.js';
import { begin, Learner } from './learner.js';
import type { Begun } from './learner.js';
import type { Examples, ModelConfig, Score, TrainerOptions } from './options.js';
import type { ClassifyImageOptions, ClassifyOptions } from '../tasks/options.js';
import { trainingOptions } from '../tasks/options.js';

/**
 * A classifier of texts or of pictures that learns from examples, in a worker if the runtime has
 * workers. Between two steps it answers with the weights of the moment. Calls wait for one another.
 * Every error is a GlassformerError; later calls still work.
 */
export class Trainer extends Learner {
  /** Facts about the model. */
  readonly info: ClassifierInfo;
  /** The model's layers and their sizes. */
  readonly architecture: Architecture;
  readonly #session: Session;

  private constructor(begun: Begun) {
    super(begun);
    this.#session = begun.session;
    const { architecture, ...info } = begun.model as unknown as ClassifierInfo & {
      architecture: Architecture;
    };
    this.info = info;
    this.architecture = architecture;
  }

  /**
   * Makes a trainer. `start` is the model that learns further, as for `load`; its head is replaced
   * if the examples have a label that it does not know. Or it has fields of config.json, for a new
   * model: a classifier of texts, whose tokenizer is trained on the examples, or of pictures, a Vision
   * Transformer. Both decide together with the seed what will be learned: the same ones give the same
   * weights.
   *
   * Rejects with `invalid_data` for examples that cannot be learned from, such as those with only
   * one label, a line without text or names of columns instead of an example; the message has the
   * number of the line.
   */
  static async from(
    start: string | URL | ModelFiles | ModelConfig,
    examples: Examples,
    options: TrainerOptions = {},
  ): Promise<Trainer> {
    return new Trainer(await begin(start, examples, options, 'Trainer.from', trainingOptions));
  }

  /**
   * Returns the score on other examples, without dropout and label smoothing. Rejects with
   * `invalid_data` if there are none, or for those that cannot be read.
   */
  async evaluate(
    examples: Examples,
    { signal }: { signal?: AbortSignal | undefined } = {},
  ): Promise<Score> {
    checkSignal(signal);
    const data = await encodeExamples(examples);
    if (data.length === 0)
      throw new GlassformerError('invalid_data', 'examples: expected some, got none');
    const kind = this.#readsPictures ? 'pictures' : 'texts';
    checkOption(holdsPictures(data) === this.#readsPictures, 'examples', `${kind}, as it learns`);
    const { milliseconds: _, ...score } = await this.#session.ask('learnEvaluate', data, signal);
    return score;
  }

  /** Classifies a text with the weights of the moment. See `Classifier.classify`. */
  classify<Options extends ClassifyOptions = {}>(
    text: string | TextPair,
    options?: Given<ClassifyOptions, Options>,
  ): Promise<Classification<Options>>;
  /** Classifies a picture, if the trainer learns from pictures. See `ImageClassifier.classify`. */
  classify<Options extends ClassifyImageOptions = {}>(
    picture: PictureSource,
    options?: Given<ClassifyImageOptions, Options>,
  ): Promise<ImageClassification<Options>>;
  async classify(
    given: unknown,
    options: ClassifyOptions | ClassifyImageOptions = {},
  ): Promise<unknown> {
    const method = this.#readsPictures ? classifyImageMethod : classifyMethod;
    const encoded = encodeOptions(options, method.options, method.name);
    const input = await (this.#readsPictures ? pictureKind : textOrPairKind).take(given);
    const [result] = await this.#session.results([input], encoded, options.signal);
    return result;
  }

  get #readsPictures(): boolean {
    return this.info.task === 'image-classification';
  }
}
