/// <reference lib="esnext.disposable" preserve="true" />

import type { AttentionMap } from './attention.js';
import { Calls } from './calls.js';
import { explain, explainGenerationOptions } from './explain.js';
import type {
  ExplainGenerationMethod,
  ExplainGenerationOptions,
  GenerationExplanations,
} from './explain.js';
import { toText } from './inputs.js';
import { ModelHandle } from './handle.js';
import { iterate } from './iterate.js';
import { encodeOptions } from './encode.js';
import { assemble } from './tensors.js';
import type {
  Clipped,
  EarlyStopping,
  ExplainableLoadOptions,
  Head,
  Hypothesis,
  ModelFiles,
  ModelInfo,
  Outcome,
  OutputToken,
  TensorNames,
  Texts,
  Token,
  TraceOptions,
  WithTrace,
} from './types.js';

export interface GeneratorInfo extends ModelInfo {
  /** Put before every text, unless option `prefix` is false; often empty. */
  prefix: string;
  /**
   * The tasks that the folder's config.json has settings for (`task_specific_params`), with the
   * prefix of each: names for option `task`.
   */
  tasks: Record<string, string>;
}

/** Which settings of the folder a call uses. */
export interface TaskPromptOptions {
  /**
   * One of `info.tasks`, such as 'translation_en_to_de': its settings win over the folder's other
   * ones, options that are set win over both, and its prefix is put before the text.
   */
  task?: string | undefined;
  /** `false`: put no prefix before the text. */
  prefix?: boolean | undefined;
}

/**
 * Which token comes next: the most probable one, unless an option of drawing is set (`sample`,
 * `temperature`, `topK`, `topP`, `seed`) or the model's generation_config.json says otherwise.
 * Options that are set win over that file.
 */
export interface SampleOptions {
  /** Draw tokens; `false`: do not, whatever the model's files say. */
  sample?: boolean | undefined;
  /** Above 1 for bolder texts, below 1 for more careful ones; 0: do not draw. */
  temperature?: number | undefined;
  /** Draw from this many most probable tokens; 0: from all. */
  topK?: number | undefined;
  /** Draw from the fewest most probable tokens whose probabilities reach this. */
  topP?: number | undefined;
  /** The same seed, the same text, on every machine up to rounding; 0 by default. */
  seed?: number | undefined;
  /** Above 1: tokens that the text already has become less probable. */
  repetitionPenalty?: number | undefined;
  /** Above 0: so many tokens in a row come only once in a text, its prompt included. */
  noRepeatNgramSize?: number | undefined;
  /**
   * Texts that are not written, neither at the start of a text nor behind a space; where one begins
   * within a word, or is spelled in other tokens, it may be. By default what the model's files say.
   */
  badWords?: readonly string[] | undefined;
  /** Ids of tokens that are never written; by default as the model's files say. */
  suppressTokens?: readonly number[] | undefined;
  /** Ids of tokens that are not written as the first one; by default as the model's files say. */
  beginSuppressTokens?: readonly number[] | undefined;
}

interface DecoderOptions<Attention extends boolean, Trace extends TensorNames>
  extends TaskPromptOptions, SampleOptions, TraceOptions<Trace> {
  /** Return every head's attention weights. */
  attention?: Attention | undefined;
  /**
   * Heads whose output is set to zero before the output projection; 'encoder' and 'cross' are of a
   * model with an encoder.
   */
  ablate?: readonly Head<'encoder' | 'decoder' | 'cross'>[] | undefined;
  /** Aborts the call within one token. */
  signal?: AbortSignal | undefined;
}

export interface GenerateOptions<
  Attention extends boolean = boolean,
  Hypotheses extends boolean = boolean,
  Trace extends TensorNames = TensorNames,
> extends DecoderOptions<Attention, Trace> {
  /**
   * Most tokens to write; by default as the model's files say, or 64. There are never more than the
   * model has positions for.
   */
  maxNewTokens?: number | undefined;
  /** Least tokens to write before the text may end; by default as the model's files say, or 0. */
  minNewTokens?: number | undefined;
  /**
   * The text ends with the token that makes it contain one of these, which it includes, with what
   * else that token has. It may begin in the prompt. By default as the model's files say, or none.
   */
  stopStrings?: readonly string[] | undefined;
  /** Hypotheses that a beam search follows at once, 1 to 64; it does not draw. */
  beams?: number | undefined;
  /** With beams: a hypothesis' score is its log-probability / tokens ^ lengthPenalty. */
  lengthPenalty?: number | undefined;
  /** With beams: when the search ends; by default as the model's files say, or `false`. */
  earlyStopping?: EarlyStopping | undefined;
  /** Return what else the beam search completed. */
  hypotheses?: Hypotheses | undefined;
}

export interface NextOptions<
  Attention extends boolean = boolean,
  Trace extends TensorNames = TensorNames,
> extends DecoderOptions<Attention, Trace> {
  /** Tokens to return, of those that may be drawn; 10 by default, 0: all. */
  count?: number | undefined;
}

/** Where a model looked. What a step had not seen is 0. */
export interface GenerationAttention {
  /**
   * Row i is the step that read the decoder's token i and wrote what came next. A decoder alone
   * reads prompt and output; behind an encoder it reads a start token and the output, so that row i
   * wrote token i.
   */
  decoder: AttentionMap;
  /** Of a model with an encoder: over the prompt's tokens, theirs and those of each step. */
  encoder?: AttentionMap;
  cross?: AttentionMap;
}

/** What a model read first, and where it looked. */
type Shown<Attention> = {
  /** The text that was given, as the model read it, prefix included; offsets in the text alone. */
  promptTokens: Token[];
} & ([Attention] extends [true]
  ? {
      /** With option `attention`. */
      attention: GenerationAttention;
    }
  : { attention?: GenerationAttention });

/**
 * What a model wrote. `clipped`: the prompt was longer than the model reads, and lost its beginning,
 * or where an encoder reads it, its end.
 */
export type Generation<
  Attention extends boolean = boolean,
  Hypotheses extends boolean = boolean,
  Trace extends TensorNames = TensorNames,
> = Hypothesis &
  Clipped &
  WithTrace<Trace> &
  Shown<Attention> & {
    /** Whether it ends with an end token or a stop string, not at the most tokens. */
    ended: boolean;
  } & ([Hypotheses] extends [true] ? { hypotheses: Hypothesis[] } : { hypotheses?: Hypothesis[] });

/** A token that may come next. */
export interface NextToken {
  id: number;
  /** As a token's. */
  text: string;
  /** Natural logarithm of the probability that the model gives it. */
  logprob: number;
  /** Of being drawn: after penalty, temperature, topK and topP. */
  probability: number;
}

/** What may follow a text. */
export type Prediction<
  Attention extends boolean = boolean,
  Trace extends TensorNames = TensorNames,
> = Clipped &
  WithTrace<Trace> &
  Shown<Attention> & {
    /** Most probable first. */
    next: NextToken[];
  };

/** One token of a stream. An end token has no step: it adds nothing to the text. */
export interface GeneratedToken {
  done: false;
  token: OutputToken;
  /** What was written so far, of whole characters: each step's a prefix of the next one's. */
  text: string;
  /** The same array in each step. */
  promptTokens: Token[];
  /**
   * With option `attention`: the only row, that of the step that wrote `token`. `encoder` comes with
   * the first token.
   */
  attention?: GenerationAttention;
}

/** What a stream gives: a step for each token, and one more with the whole result. */
export type GenerationStep<
  Attention extends boolean = boolean,
  Trace extends TensorNames = TensorNames,
> = GeneratedToken | { done: true; text: string; result: Generation<Attention, false, Trace> };

const decoderOptions = [
  'task',
  'prefix',
  'sample',
  'temperature',
  'topK',
  'topP',
  'seed',
  'repetitionPenalty',
  'noRepeatNgramSize',
  'badWords',
  'suppressTokens',
  'beginSuppressTokens',
  'attention',
  'trace',
  'patch',
  'ablate',
  'signal',
];
const streamOptions = ['maxNewTokens', 'minNewTokens', 'stopStrings', ...decoderOptions];
const generateOptions = [...streamOptions, 'beams', 'lengthPenalty', 'earlyStopping', 'hypotheses'];
const nextOptions = ['count', ...decoderOptions];

/**
 * Continues texts, or answers them with texts where the model has an encoder. It holds a WebAssembly instance, in a worker where the runtime has workers, until
 * it is disposed of. Calls and streams wait for one another. Every error is a GlassformerError, and
 * the call after it works.
 */
export class Generator {
  /** Tells what `load` gave: no other class has one of these. */
  readonly task: 'text-generation' | 'text2text-generation';
  /** What the model is. */
  readonly info: GeneratorInfo;
  readonly #model: ModelHandle<GeneratorInfo>;
  readonly #calls: Calls;

  private constructor(model: ModelHandle<GeneratorInfo>) {
    this.#model = model;
    this.#calls = new Calls(model, generateOptions, toText);
    this.info = model.info;
    this.task = model.info.task as Generator['task'];
  }

  /** Loads the model in a folder, which is named as for `Classifier.load`. */
  static async load(
    folder: string | URL | ModelFiles,
    options: ExplainableLoadOptions = {},
  ): Promise<Generator> {
    return new Generator(await ModelHandle.load('text-generation', folder, options));
  }

  /** Continues one text. `text` and `tokens` of the result are what was written. */
  generate<
    Attention extends boolean = false,
    Hypotheses extends boolean = false,
    Trace extends TensorNames = undefined,
  >(
    text: string,
    options: GenerateOptions<Attention, Hypotheses, Trace> = {},
  ): Promise<Generation<Attention, Hypotheses, Trace>> {
    return this.#calls.one(text, options, 'generate');
  }

  /**
   * Continues several texts, with one result each, in order. Where a text is refused, so is the
   * whole batch; the message tells which.
   */
  generateBatch<
    Attention extends boolean = false,
    Hypotheses extends boolean = false,
    Trace extends TensorNames = undefined,
  >(
    texts: readonly string[],
    options: GenerateOptions<Attention, Hypotheses, Trace> = {},
  ): Promise<Generation<Attention, Hypotheses, Trace>[]> {
    return this.#calls.batch(texts, options, 'generateBatch');
  }

  /** Continues any number of texts, as `Classifier.classifyEach` does it. */
  generateEach<
    Attention extends boolean = false,
    Hypotheses extends boolean = false,
    Trace extends TensorNames = undefined,
  >(
    texts: Texts,
    options: GenerateOptions<Attention, Hypotheses, Trace> = {},
  ): AsyncGenerator<Outcome<Generation<Attention, Hypotheses, Trace>>, void, void> {
    return this.#calls.each(texts, options, 'generateEach');
  }

  /**
   * Continues one text, not by beams, and gives every token as it is written; the last step, with
   * `done: true`, has the whole result, which the generator also returns. It starts when the first
   * token is asked for and runs ahead of who asks. Leaving the loop ends it.
   */
  async *stream<Attention extends boolean = false, Trace extends TensorNames = undefined>(
    text: string,
    options: Omit<
      GenerateOptions<Attention, boolean, Trace>,
      'beams' | 'lengthPenalty' | 'earlyStopping' | 'hypotheses'
    > = {},
  ): AsyncGenerator<GenerationStep<Attention, Trace>, Generation<Attention, false, Trace>, void> {
    const input = toText(text);
    const fixed = { beams: 1, stream: true };
    const encoded = encodeOptions(options, streamOptions, 'stream', fixed);
    let promptTokens: Token[] = [];
    const work = (push: (step: GeneratedToken) => void, inner: AbortSignal) =>
      this.#model.results<Generation<Attention, false, Trace>>([input], encoded, inner, (raw) => {
        const step = assemble<Omit<GeneratedToken, 'done'>>(raw);
        promptTokens = step.promptTokens ?? promptTokens;
        push({ done: false, ...step, promptTokens });
      });
    const [result] = yield* iterate(options.signal, work);
    yield { done: true, text: result!.text, result: result! };
    return result!;
  }

  /** Which tokens may follow a text, and how probable they are. */
  async next<Attention extends boolean = false, Trace extends TensorNames = undefined>(
    text: string,
    options: NextOptions<Attention, Trace> = {},
  ): Promise<Prediction<Attention, Trace>> {
    const input = toText(text);
    const { count = 10, ...rest } = options;
    const encoded = encodeOptions(rest, nextOptions, 'next', { next: count });
    return (
      await this.#model.results<Prediction<Attention, Trace>>([input], encoded, options.signal)
    )[0]!;
  }

  /**
   * Explains by one of the methods of ExplainGenerationOptions what a decoder alone would write
   * next. It stops between two steps where `signal` aborts.
   */
  async explain<Method extends ExplainGenerationMethod>(
    text: string,
    options: ExplainGenerationOptions[Method] & { method: Method },
  ): Promise<GenerationExplanations[Method]> {
    return explain(this.#model, toText(text), options, explainGenerationOptions);
  }

  /**
   * What every token of the vocabulary reads as, by its id: the text that it stands for behind
   * another one, with a space in front where it starts a word. What stands for no text, or for a
   * byte, reads as its name: `</s>`, `<0xE6>`.
   */
  vocabulary(): Promise<string[]> {
    return this.#model.vocabulary();
  }

  /** Ends the worker and frees the model. Calls and streams under way reject with `disposed`. */
  dispose(): void {
    this.#model.dispose();
  }
}

// Symbol.dispose, for `using`, is newer than the runtimes that the package supports.
export interface Generator {
  [Symbol.dispose](): void;
}
if (Symbol.dispose) Generator.prototype[Symbol.dispose] = Generator.prototype.dispose;
