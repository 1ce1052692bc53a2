import { checkOption, checkOptions, checkSignal, isA } from '../base/checks.js';
import { checkRuntime } from '../engine/features.js';
import { resolveUrls } from '../loading/locate.js';
import type { ModelDescription } from '../loading/load_model.js';
import { factsOf } from '../loading/manifest.js';
import type { LoadOptions, ModelFiles } from '../loading/options.js';
import { checkLoadOptions, folderRequest, openOptions, startHost } from '../model/open_model.js';
import { Session } from '../model/session.js';
import { encodeExamples, holdsPictures } from './examples.js';
import type { Examples, ModelConfig, TrainOptions, TrainingStep } from './options.js';

const usualEpochs = 10;
const measurements = 20; // in a training, of the examples that are held out
const measuringShare = 0.1; // of the time

/** A training that has begun. */
export interface Begun {
  session: Session;
  model: ModelDescription;
  examples: number;
  heldOut: number;
  stepsPerEpoch: number;
  warnings: readonly string[];
}

/**
 * Something that learns from examples, in a worker if the runtime has workers. Calls wait for one
 * another. Every error is a GlassformerError; later calls still work.
 */
export abstract class Learner {
  /** The number of examples to learn from. */
  readonly examples: number;
  /** The number of examples that are held out, to measure progress. */
  readonly heldOut: number;
  /** The number of steps in which every example is read once. */
  readonly stepsPerEpoch: number;
  /** What may be wrong with the examples, which are learned all the same. A sentence each. */
  readonly warnings: readonly string[];
  readonly #session: Session;

  protected constructor({ session, examples, heldOut, stepsPerEpoch, warnings }: Begun) {
    this.#session = session;
    this.examples = examples;
    this.heldOut = heldOut;
    this.stepsPerEpoch = stepsPerEpoch;
    this.warnings = warnings;
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
export interface Learner {
  [Symbol.dispose](): void;
}
if (Symbol.dispose) Learner.prototype[Symbol.dispose] = Learner.prototype.dispose;

/** Begins a training. `names`: its options; `fixed`: further options for the engine. */
export async function begin(
  start: string | URL | ModelFiles | ModelConfig,
  examples: Examples,
  options: LoadOptions,
  method: string,
  names: readonly string[],
  fixed: object = {},
): Promise<Begun> {
  checkRuntime();
  checkOptions(options, [...names, ...openOptions], method);
  checkLoadOptions(undefined, pick(options, openOptions));
  const urls = resolveUrls(options.urls);
  const isNew = isConfig(start);
  const data = await encodeExamples(examples);
  const request = {
    folder: isNew ? undefined : folderRequest(start, pick(options, openOptions), urls),
    config: isNew ? JSON.stringify(start) : '',
    options: JSON.stringify({ ...pick(options, names), ...fixed }),
    data,
    pictures: holdsPictures(data),
  };
  const { host, result } = await startHost('learn', request, ['all'], options, urls);
  return { session: new Session(host), ...result };
}

function isPositive(value: unknown): boolean {
  return value === undefined || (typeof value === 'number' && value > 0 && value < Infinity);
}

function pick(options: object, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(options).filter(([name, value]) => names.includes(name) && value !== undefined),
  );
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
