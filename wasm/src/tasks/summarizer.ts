import { textKind } from '../engine/input.js';
import type { Texts } from '../engine/input.js';
import type { LoadOptions, ModelFiles } from '../loading/options.js';
import type { Given } from '../model/call_options.js';
import { LoadedModel } from '../model/model.js';
import { openModel } from '../model/open_model.js';
import type { OpenedModel } from '../model/open_model.js';
import type { Outcome } from '../model/results.js';
import { completedStep, streamOptions } from './generator.js';
import type {
  Generation,
  GenerationStep,
  GenerationStreamOptions,
  GeneratorInfo,
} from './generator.js';
import { generateOptions } from './options.js';
import type { GenerateOptions } from './options.js';

const methods = {
  summarize: { name: 'summarize', options: generateOptions },
  stream: { name: 'stream', options: streamOptions },
};

/**
 * Summarizes texts: a model with an encoder that was trained to, such as BART or T5. It uses the
 * settings that the folder has for the task "summarization", if it has any.
 */
export class Summarizer extends LoadedModel<GeneratorInfo> {
  /** The task of this class. It narrows the type of a model that `load` returned. */
  readonly task = 'summarization';
  readonly #settings: Pick<GenerateOptions, 'task'>;

  private constructor(model: OpenedModel<GeneratorInfo>) {
    super(model, textKind);
    this.#settings = Object.hasOwn(model.info.tasks, this.task) ? { task: this.task } : {};
  }

  /** Loads the model in a folder; see `Classifier.load`. */
  static async load(
    folder: string | URL | ModelFiles,
    options: LoadOptions = {},
  ): Promise<Summarizer> {
    return new Summarizer(await openModel('summarization', folder, options));
  }

  /** Summarizes a text. The first tokens of a text that is too long are read. */
  summarize<Options extends GenerateOptions = {}>(
    text: string,
    options?: Given<GenerateOptions, Options>,
  ): Promise<Generation<Options>> {
    return this.one(text, { ...this.#settings, ...options }, methods.summarize);
  }

  /**
   * Summarizes several texts. Returns their results in order. If a text is refused, the batch is
   * rejected; the message tells which text it was.
   */
  summarizeBatch<Options extends GenerateOptions = {}>(
    texts: readonly string[],
    options?: Given<GenerateOptions, Options>,
  ): Promise<Generation<Options>[]> {
    return this.batch(texts, { ...this.#settings, ...options }, methods.summarize);
  }

  /** Summarizes any number of texts; see `Classifier.classifyEach`. */
  summarizeEach<Options extends GenerateOptions = {}>(
    texts: Texts,
    options?: Given<GenerateOptions, Options>,
  ): AsyncGenerator<Outcome<Generation<Options>>, void, void> {
    return this.each(texts, { ...this.#settings, ...options }, methods.summarize);
  }

  /** Summarizes a text and yields each token when it is generated; see `Generator.stream`. */
  async *stream<Options extends GenerationStreamOptions = {}>(
    text: string,
    options?: Given<GenerationStreamOptions, Options>,
  ): AsyncGenerator<GenerationStep<Options>, Generation<Options>, void> {
    const result: Generation<Options> = yield* this.steps(
      text,
      { ...this.#settings, ...options },
      methods.stream,
      completedStep(),
    );
    yield { done: true, text: result.text, result };
    return result;
  }
}
