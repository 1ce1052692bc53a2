import { checkOption, checkOptions, checkSignal, isA } from '../base/checks.js';
import { GlassformerError } from '../base/errors.js';
import { checkRuntime } from '../engine/features.js';
import type { TextPair } from '../engine/input.js';
import { textOrPairKind } from '../engine/input.js';
import { factsOf } from '../loading/manifest.js';
import { resolveUrls } from '../loading/locate.js';
import type { ModelFiles } from '../loading/options.js';
import type { Architecture } from '../model/architecture.js';
import type { Given } from '../model/call_options.js';
import { encodeOptions } from '../model/encode.js';
import type { ClassifierInfo } from '../model/info.js';
import { checkLoadOptions, folderRequest, openOptions, startHost } from '../model/open_model.js';
import { pictureKind } from '../model/pictures.js';
import type { PictureSource } from '../model/pictures.js';
import { Session } from '../model/session.js';
import { classifyMethod } from '../tasks/classifier.js';
import type { Classification } from '../tasks/classifier.js';
import { classifyImageMethod } from '../tasks/image_classifier.js';
import type { ImageClassification } from '../tasks/image_classifier.js';
import { encodeExamples, holdsPictures } from './examples.js';
import type {
  Examples,
  ModelConfig,
  Score,
  TrainOptions,
  TrainerOptions,
  TrainingStep,
} from './options.js';
import type { ClassifyImageOptions, ClassifyOptions } from '../tasks/options.js';
import { trainingOptions } from '../tasks/options.js';

const usualEpochs = 10;
const measurements = 20; // in a training, of the examples that are held out
const measuringShare = 0.1; // of the time

/** What a trainer is made of. */
interface Parts {
  session: Session;
  info: ClassifierInfo;
  architecture: Architecture;
  examples: number;
  heldOut: number;
  stepsPerEpoch: number;
  warnings: readonly string[];
}

/**
 * A classifier of texts or of pictures that learns from examples, in a worker if the runtime has
 * workers. Between two steps it answers with the weights of the moment. Calls wait for one another.
 * Every error is a GlassformerError; later calls still work.
 */
export class Trainer {
  /** Facts about the model. */
  readonly info: ClassifierInfo;
  /** The model's layers and their sizes. */
  readonly architecture: Architecture;
  /** The number of examples to learn from. */
  readonly examples: number;
  /** The number of examples that are held out, to measure progress. */
  readonly heldOut: number;
  /** The number of steps in which every example is read once. */
  readonly stepsPerEpoch: number;
  /** What may be wrong with the examples, which are learned all the same. A sentence each. */
  readonly warnings: readonly string[];
  readonly #session: Session;

  private constructor({ session, ...facts }: Parts) {
    this.#session = session;
    this.info = facts.info;
    this.architecture = facts.architecture;
    this.examples = facts.examples;
    this.heldOut = facts.heldOut;
    this.stepsPerEpoch = facts.stepsPerEpoch;
    this.warnings = facts.warnings;
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
    checkRuntime();
    checkOptions(options, [...trainingOptions, ...openOptions], 'Trainer.from');
    checkLoadOptions(undefined, pick(options, openOptions));
    const urls = resolveUrls(options.urls);
    const isNew = isConfig(start);
    const data = await encodeExamples(examples);
    const pictures = holdsPictures(data);
    const request = {
      folder: isNew ? undefined : folderRequest(start, pick(options, openOptions), urls),
      config: isNew ? JSON.stringify(start) : '',
      options: JSON.stringify(pick(options, trainingOptions)),
      data,
      pictures,
    };
    const { host, result } = await startHost('learn', request, ['all'], options, urls);
    const { model, ...counts } = result;
    const { architecture, ...info } = model as unknown as ClassifierInfo & {
      architecture: Architecture;
    };
    return new Trainer({ session: new Session(host), info, architecture, ...counts });
  }

  /**
   * Learns for some epochs or minutes. Yields each step, and takes the next when it is asked for:
   * a loop that waits pauses the training, and one that ends stops it. May be called again to learn
   * further.
   */
  async *train(options: TrainOptions = {}): AsyncGenerator<TrainingStep, void, void> {
    checkOptions(options, ['epochs', 'minutes', 'signal'], 'train');
    const { epochs, minutes, signal } = options;
    checkSignal(signal);
    checkOption(isPositive(epochs), 'epochs', 'a positive number');
    checkOption(isPositive(minutes), 'minutes', 'a positive number');
    checkOption(!epochs || !minutes, 'minutes', 'nothing where epochs is given');
    const steps = Math.max(Math.round(this.stepsPerEpoch * (epochs ?? usualEpochs)), 1);
    let spent = 0; // milliseconds
    let measured = 0; // milliseconds of these
    let next = 1 / measurements;
    for (let taken = 1, progress = 0; progress < 1; taken++) {
      progress = Math.min(minutes ? spent / minutes / 60_000 : taken / steps, 1);
      const step = await this.#session.ask('learnStep', progress, signal);
      spent += step.milliseconds;
      const isDue = progress >= next && measured <= measuringShare * spent;
      if (this.heldOut === 0 || (progress < 1 && !isDue)) {
        yield { ...step, progress };
        continue;
      }
      const { milliseconds, ...heldOut } = await this.#session.ask(
        'learnEvaluate',
        undefined,
        signal,
      );
      spent += milliseconds;
      measured += milliseconds;
      next = (Math.floor(progress * measurements) + 1) / measurements;
      yield { ...step, progress, heldOut };
    }
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

  /** Returns the text of each token in the vocabulary, by id. See `Classifier.vocabulary`. */
  vocabulary(): Promise<string[]> {
    return this.#session.ask('vocabulary', undefined);
  }

  /**
   * Returns the files of a model folder with the weights of the moment: config.json,
   * model.safetensors, those of the tokenizer or preprocessor_config.json, and manifest.json. `load`
   * opens them. A classifier of pictures has the format of the library transformers.
   */
  async save(): Promise<Record<string, Uint8Array>> {
    const files = await this.#session.ask('learnSave', undefined);
    const facts: Record<string, unknown> = {};
    for (const [name, bytes] of Object.entries(files)) facts[name] = await factsOf(bytes);
    // Without a hash, as on insecure origins, there is no manifest.
    const whole = Object.values(facts).every((each) => (each as { sha256?: string }).sha256);
    const manifest = `${JSON.stringify({ files: facts }, null, 2)}\n`;
    return { ...files, ...(whole && { 'manifest.json': new TextEncoder().encode(manifest) }) };
  }

  /** Ends the worker and frees the model. Calls in progress reject with `disposed`. */
  dispose(): void {
    this.#session.dispose();
  }
}

// Symbol.dispose, for `using`, is newer than the oldest runtimes that the package supports.
export interface Trainer {
  [Symbol.dispose](): void;
}
if (Symbol.dispose) Trainer.prototype[Symbol.dispose] = Trainer.prototype.dispose;

function isPositive(value: unknown): boolean {
  return value === undefined || (typeof value === 'number' && value > 0 && value < Infinity);
}

function pick<Name extends keyof TrainerOptions>(
  options: TrainerOptions,
  names: readonly Name[],
): Pick<TrainerOptions, Name> {
  const given = names.filter((name) => options[name] !== undefined);
  return Object.fromEntries(given.map((name) => [name, options[name]])) as Pick<
    TrainerOptions,
    Name
  >;
}

// A configuration is plain data; a folder is a place, or has files.
function isConfig(start: unknown): start is ModelConfig {
  checkOption(
    typeof start === 'string' || (typeof start === 'object' && start !== null),
    'model',
    'a folder, its files, or fields of config.json',
  );
  if (typeof start === 'string' || isA(start, 'URL')) return false;
  const kinds = ['Uint8Array', 'Blob', 'File', 'URL'] as const;
  return !Object.values(start as object).some((value) => kinds.some((kind) => isA(value, kind)));
}
