import { GlassformerError } from '../index.js';
import type { GenerateOptions, Generation, GenerationStep, Generator, Given } from '../index.js';
import { checkOption, checkOptions } from '../base/checks.js';

/** A message of a conversation: its fields are those that the model's template reads. */
export interface ChatMessage {
  /** Who wrote it: usually 'system', 'user', 'assistant' or 'tool'. */
  role: string;
  /** A text or, for templates that read them, an array of parts, or null beside `tool_calls`. */
  content?: string | null | readonly Readonly<Record<string, unknown>>[] | undefined;
  /** Such as `tool_calls`, `tool_call_id`, `name` and `reasoning_content`. */
  [field: string]: unknown;
}

export interface ChatPromptOptions {
  /**
   * Ends the text with the beginning of the model's own message. Default: true, unless a message is
   * continued.
   */
  addGenerationPrompt?: boolean | undefined;
  /**
   * Ends the text with the last message, so that the model continues it; or with another field of it
   * than `content`. Default: false.
   */
  continueFinalMessage?: boolean | string | undefined;
  /**
   * The name of the template, if the model has several. Default: 'tool_use' with the variable `tools`,
   * if there is one of that name, otherwise 'default'.
   */
  chatTemplate?: string | undefined;
  /** More variables for the template, such as `tools` or `enable_thinking`. */
  variables?: Readonly<Record<string, unknown>> | undefined;
}

/** Options of a conversation. */
export interface ChatOptions extends Pick<ChatPromptOptions, 'variables'> {
  /** The first message: instructions for the model. */
  system?: string | undefined;
}

/** Options of a turn. */
type TurnOptions = Omit<
  GenerateOptions,
  'specialTokens' | 'prefix' | 'task' | 'hypotheses' | 'keep'
>;
type StreamOptions = Omit<TurnOptions, 'beams' | 'lengthPenalty' | 'earlyStopping'>;

/** The options of every turn. The template writes the special tokens. */
const ofTurns = { specialTokens: false, prefix: false, keep: true };

const promptOptions = ['addGenerationPrompt', 'continueFinalMessage', 'chatTemplate', 'variables'];

/**
 * Returns the text that the model's template makes of a conversation. Give it to `generate` with
 * `specialTokens: false`, as the template writes the special tokens. Throws `unsupported` if the
 * model has no template or an invalid one, `invalid_option` for messages that the template refuses,
 * and `too_large` if it takes too much time or memory.
 */
export async function chatPrompt(
  generator: Generator,
  messages: readonly ChatMessage[],
  options: ChatPromptOptions = {},
): Promise<string> {
  checkOptions(options, promptOptions, 'chatPrompt');
  const { addGenerationPrompt, continueFinalMessage = false, chatTemplate, variables } = options;
  const isBoolean = (value: unknown): boolean => typeof value === 'boolean';
  const isText = (value: unknown): boolean => typeof value === 'string';
  const flag = addGenerationPrompt === undefined || isBoolean(addGenerationPrompt);
  checkOption(flag, 'addGenerationPrompt', 'true or false');
  const continued = isBoolean(continueFinalMessage) || isText(continueFinalMessage);
  checkOption(continued, 'continueFinalMessage', 'true, false or the name of a field');
  checkOption(chatTemplate === undefined || isText(chatTemplate), 'chatTemplate', 'a string');
  const are = Array.isArray(messages) && messages.length > 0 && messages.every(isMessage);
  checkOption(are, 'messages', 'an array of objects with the string role');
  return generator.chat(
    json({
      messages,
      variables: variables ?? {},
      add_generation_prompt: addGenerationPrompt,
      continue_final_message:
        continueFinalMessage === true ? 'content' : continueFinalMessage || '',
      chat_template: chatTemplate,
      now: numbersOf(new Date()),
    }),
  );
}

/** Local time as year, month, day, hour, minute, second and microsecond. */
const numbersOf = (time: Date): number[] => [
  ...[time.getFullYear(), time.getMonth() + 1, time.getDate()],
  ...[time.getHours(), time.getMinutes(), time.getSeconds(), 1000 * time.getMilliseconds()],
];

/** Writes JSON. Throws for what JSON would leave out or change. */
function json(request: object): string {
  try {
    return JSON.stringify(request, (name, value: unknown) => {
      const kept = !['function', 'symbol', 'bigint'].includes(typeof value);
      if (kept && (typeof value !== 'number' || Number.isFinite(value))) return value;
      throw new TypeError(`${name}: expected a value that JSON has, got ${String(value)}`);
    });
  } catch (error) {
    throw new GlassformerError('invalid_option', `chatPrompt: ${(error as Error).message}`);
  }
}

function isMessage(message: unknown): boolean {
  return typeof (message as Partial<ChatMessage> | null | undefined)?.role === 'string';
}

/**
 * A conversation. A turn reads only what is new since the one before, as its result's `reused` tells;
 * one with a trace, patches, ablated heads or beams reads all messages. If the messages are longer than
 * the model reads, their beginning is left out, and `clipped` of the result is true.
 */
export class Chat {
  /**
   * The messages so far. A turn adds two, when it is complete. Between turns you may change them, and
   * add others, such as a tool's answer.
   */
  readonly messages: ChatMessage[] = [];
  readonly #generator: Generator;
  readonly #variables: ChatPromptOptions['variables'];
  #busy = false;

  /** Throws `unsupported` if the model has no template of conversations. */
  constructor(generator: Generator, options: ChatOptions = {}) {
    checkOptions(options, ['system', 'variables'], 'Chat');
    const { system, variables } = options;
    checkOption(system === undefined || typeof system === 'string', 'system', 'a string');
    if (generator.info.chatTemplate === undefined) {
      throw new GlassformerError(
        'unsupported',
        'expected a model with a chat_template in its tokenizer_config.json, or with chat_template.jinja, got one without',
      );
    }
    this.#generator = generator;
    this.#variables = variables;
    if (system !== undefined) this.messages.push({ role: 'system', content: system });
  }

  /** Says something. The result is that of `Generator.generate`; `text` is the model's answer. */
  async send<Options extends TurnOptions = {}>(
    content: string,
    options?: Given<TurnOptions, Options>,
  ): Promise<Generation<Options>> {
    const message = this.#begin(content);
    try {
      const prompt = await this.#prompt(message);
      const whole = { ...options, ...ofTurns } as Given<GenerateOptions, Options>;
      const result = await this.#generator.generate<Options>(prompt, whole);
      this.messages.push(message, { role: 'assistant', content: result.text });
      return result;
    } finally {
      this.#busy = false;
    }
  }

  /** Says something, and yields the model's answer token by token; see `Generator.stream`. */
  async *stream<Options extends StreamOptions = {}>(
    content: string,
    options?: Given<StreamOptions, Options>,
  ): AsyncGenerator<GenerationStep<Options>, Generation<Options>, void> {
    const message = this.#begin(content);
    try {
      const prompt = await this.#prompt(message);
      const whole = { ...options, ...ofTurns } as Given<GenerateOptions, Options>;
      const result = yield* this.#generator.stream<Options>(prompt, whole);
      this.messages.push(message, { role: 'assistant', content: result.text });
      return result;
    } finally {
      this.#busy = false;
    }
  }

  #begin(content: string): ChatMessage {
    checkOption(typeof content === 'string', 'content', 'a string');
    checkOption(!this.#busy, 'content', 'the end of the turn before');
    this.#busy = true;
    return { role: 'user', content };
  }

  #prompt(message: ChatMessage): Promise<string> {
    return chatPrompt(this.#generator, [...this.messages, message], { variables: this.#variables });
  }
}
