import { textKind, textOrPairKind } from '../engine/input.js';
import type { TextPair, Texts } from '../engine/input.js';
import type { ExplainableLoadOptions, ModelFiles } from '../loading/options.js';
import type { RawResult } from '../engine/engine.js';
import { assemble } from '../model/assemble.js';
import type { AttentionMap } from '../model/attention.js';
import type { Given } from '../model/call_options.js';
import type { ModelInfo } from '../model/info.js';
import { LoadedModel, without } from '../model/model.js';
import { openModel } from '../model/open_model.js';
import type { Session } from '../model/session.js';
import type { OpenedModel } from '../model/open_model.js';
import type {
  Asked,
  GenerationFields,
  Hypothesis,
  Outcome,
  OutputToken,
  PredictionFields,
  Token,
  WithTrace,
} from '../model/results.js';
import type { GenerationExplanations } from './explain.js';
import { explainGenerationOptions } from './explain_options.js';
import type { ExplainGenerationMethod, ExplainGenerationOptions } from './explain_options.js';
import { generateOptions, nextOptions } from './options.js';
import type { GenerateOptions, NextOptions } from './options.js';

export interface GeneratorInfo extends ModelInfo {
  /** A text to put before every text, unless option `prefix` is false. Often empty. */
  prefix: string;
  /**
   * The tasks that the folder's config.json has settings for (`task_specific_params`), with the
   * prefix of each: values of option `task`.
   */
  tasks: Record<string, string>;
  /** The Jinja template of conversations, if the model has one; see glassformer/chat. */
  chatTemplate?: string;
  /** Tokens that the template may name. */
  bosToken?: string;
  eosToken?: string;
}

/** Attention weights of a generator. Tokens that a step had not seen are 0. */
export interface GenerationAttention {
  /**
   * Row i is the step that read the decoder's token i and wrote the next one. A decoder-only model
   * reads prompt and output. Behind an encoder, the decoder reads a start token and the output, so
   * row i wrote token i.
   */
  decoder: AttentionMap;
  /** With an encoder: its attention over the prompt, and that of each step to the prompt. */
  encoder?: AttentionMap;
  cross?: AttentionMap;
}

/** The attention weights of a generator, if they were asked for. */
type Shown<Options> = Asked<
  Options,
  'attention',
  {
    /** With option `attention`. */
    attention: GenerationAttention;
  }
>;

/** A generated text. `Options` tells which options were set. */
export type Generation<Options extends GenerateOptions = GenerateOptions> = GenerationFields &
  WithTrace<Options> &
  Shown<Options> &
  Asked<Options, 'hypotheses', { hypotheses: Hypothesis[] }>;

/** The tokens that may follow a text. */
export type Prediction<Options extends NextOptions = NextOptions> = PredictionFields &
  WithTrace<Options> &
  Shown<Options>;

/** A token of a stream. An end token has no step, because it adds nothing to the text. */
export interface GeneratedToken {
  done: false;
  token: OutputToken;
  /** The generated text so far, in whole characters. Each step's text is a prefix of the next. */
  text: string;
  /** The same array in each step. */
  promptTokens: Token[];
  /**
   * With option `attention`: one row, that of the step that wrote `token`. `encoder` comes with the
   * first token.
   */
  attention?: GenerationAttention;
}

/** A step of a stream: one per token, and a last one with the whole result. */
export type GenerationStep<Options extends GenerateOptions = GenerateOptions> =
  GeneratedToken | { done: true; text: string; result: Generation<Options> };

/** Options of a stream, which has no beam search. */
export type GenerationStreamOptions = Omit<GenerateOptions, (typeof ofSearch)[number]>;

const ofSearch = ['beams', 'lengthPenalty', 'earlyStopping', 'hypotheses'] as const;
/** The names of these options. */
export const streamOptions = without(generateOptions, ofSearch);
const methods = {
  generate: { name: 'generate', options: generateOptions },
  stream: { name: 'stream', options: streamOptions },
  next: { name: 'next', options: nextOptions },
  explain: { name: 'explain', options: explainGenerationOptions, inputs: textOrPairKind },
};

/** Returns what completes each step of a stream: only the first one has the prompt's tokens. */
export function completedStep(): (raw: RawResult) => GeneratedToken {
  let promptTokens: Token[] = [];
  return (raw) => {
    const step = assemble<Omit<GeneratedToken, 'done'>>(raw);
    promptTokens = step.promptTokens ?? promptTokens;
    return { done: false, ...step, promptTokens };
  };
}

/** Continues texts or, if the model has an encoder, answers them with texts. */
export class Generator extends LoadedModel<GeneratorInfo> {
  /** The task. It narrows the type of a model that `load` returned. */
  readonly task: 'text-generation' | 'text2text-generation';
  readonly #session: Session;

  private constructor(model: OpenedModel<GeneratorInfo>) {
    super(model, textKind);
    this.#session = model.session;
    this.task = model.info.task as Generator['task'];
  }

  /** @internal Returns the text of a chat; see glassformer/chat. */
  chat(request: string): Promise<string> {
    return this.#session.ask('chat', request);
  }

  /** Loads the model in a folder; see `Classifier.load`. */
  static async load(
    folder: string | URL | ModelFiles,
    options: ExplainableLoadOptions = {},
  ): Promise<Generator> {
    return new Generator(await openModel('text-generation', folder, options));
  }

  /** Continues a text. `text` and `tokens` of the result are the new part. */
  generate<Options extends GenerateOptions = {}>(
    text: string,
    options?: Given<GenerateOptions, Options>,
  ): Promise<Generation<Options>> {
    return this.one(text, options, methods.generate);
  }

  /**
   * Continues several texts. Returns their results in order. If a text is refused, the batch is
   * rejected; the message tells which text it was.
   */
  generateBatch<Options extends GenerateOptions = {}>(
    texts: readonly string[],
    options?: Given<GenerateOptions, Options>,
  ): Promise<Generation<Options>[]> {
    return this.batch(texts, options, methods.generate);
  }

  /** Continues any number of texts; see `Classifier.classifyEach`. */
  generateEach<Options extends GenerateOptions = {}>(
    texts: Texts,
    options?: Given<GenerateOptions, Options>,
  ): AsyncGenerator<Outcome<Generation<Options>>, void, void> {
    return this.each(texts, options, methods.generate);
  }

  /**
   * Continues a text without beams and yields each token when it is generated. The last step, with
   * `done: true`, has the whole result, which the generator also returns. Generation starts when the
   * first token is requested and runs ahead of the requests. Leaving the loop ends it.
   */
  async *stream<Options extends GenerationStreamOptions = {}>(
    text: string,
    options?: Given<GenerationStreamOptions, Options>,
  ): AsyncGenerator<GenerationStep<Options>, Generation<Options>, void> {
    const result: Generation<Options> = yield* this.steps(
      text,
      options,
      methods.stream,
      completedStep(),
    );
    yield { done: true, text: result.text, result };
    return result;
  }

  /** Returns the tokens that may follow a text, and their probabilities. */
  async next<Options extends NextOptions = {}>(
    text: string,
    options?: Given<NextOptions, Options>,
  ): Promise<Prediction<Options>> {
    return this.one(text, { count: 10, ...options }, methods.next);
  }

  /**
   * Explains the next token of a decoder-only model by one of the methods of
   * ExplainGenerationOptions; those that use gradients also explain a token of the answer of a model
   * with an encoder. Methods "activation_patching" and "circuit" explain the difference between the
   * next tokens of two texts: `{ text, pair }`. Aborting `signal` stops it between two steps.
   */
  explain<Method extends ExplainGenerationMethod>(
    text: string | TextPair,
    options: ExplainGenerationOptions[Method] & { method: Method },
  ): Promise<GenerationExplanations[Method]> {
    return this.explained(text, options, methods.explain);
  }
}
