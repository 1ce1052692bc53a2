import { Template } from '@huggingface/jinja';
import { GlassformerError } from '../index.js';
import type {
  GenerateOptions,
  Generation,
  GenerationStep,
  Generator,
  TensorNames,
} from '../index.js';
import { checkOption, checkOptions } from '../base/checks.js';

/** A message of a conversation. */
export interface ChatMessage {
  /** Who wrote it: usually 'system', 'user' or 'assistant'. */
  role: string;
  content: string;
}

export interface ChatPromptOptions {
  /** Ends the text with the beginning of the model's own message. Default: true. */
  addGenerationPrompt?: boolean | undefined;
  /** More variables for the template, such as `tools` or `enable_thinking`. */
  variables?: Readonly<Record<string, unknown>> | undefined;
}

/** Options of a conversation. */
export interface ChatOptions extends Pick<ChatPromptOptions, 'variables'> {
  /** The first message: instructions for the model. */
  system?: string | undefined;
}

/** Options of a turn. The template writes the special tokens. */
type TurnOptions<Attention extends boolean, Trace extends TensorNames> = Omit<
  GenerateOptions<Attention, false, Trace>,
  'specialTokens' | 'prefix' | 'task' | 'hypotheses' | 'keep'
>;
type StreamOptions<Attention extends boolean, Trace extends TensorNames> = Omit<
  TurnOptions<Attention, Trace>,
  'beams' | 'lengthPenalty' | 'earlyStopping'
>;

/** A statement of a template, as far as it is looked at here. */
interface Statement {
  type: string;
  value?: unknown;
  body?: Statement[];
  alternate?: Statement[];
  defaultBlock?: Statement[];
}

/**
 * Throws for a template that writes text and then leaves the round of a loop with `break` or
 * `continue`: @huggingface/jinja 0.5 would lose the text. Returns whether the statements may write.
 */
function refuseLostText(statements: readonly Statement[] = [], before = false): boolean {
  let wrote = before;
  for (const { type, value, body, alternate, defaultBlock } of statements) {
    if (type === 'Break' || type === 'Continue') {
      if (wrote) throw new Error(`${type.toLowerCase()} after text in a loop is not supported`);
    } else if (type === 'If') {
      const one = refuseLostText(body, wrote);
      wrote = refuseLostText(alternate, wrote) || one;
    } else if (type === 'For') {
      const one = refuseLostText(body);
      wrote = refuseLostText(defaultBlock, wrote) || one || wrote;
    } else if (type === 'Macro') {
      refuseLostText(body);
    } else if (type !== 'Set' && type !== 'Comment') {
      wrote ||= type !== 'StringLiteral' || value !== '';
    }
  }
  return wrote;
}

const templates = new WeakMap<Generator, Template>();

function templateOf(generator: Generator): Template {
  const known = templates.get(generator);
  if (known) return known;
  const { chatTemplate } = generator.info;
  if (chatTemplate === undefined) {
    throw new GlassformerError(
      'unsupported',
      'expected a model with a chat_template in its tokenizer_config.json, or with chat_template.jinja, got one without',
    );
  }
  try {
    const template = new Template(chatTemplate);
    refuseLostText(template.parsed.body);
    templates.set(generator, template);
    return template;
  } catch (error) {
    throw new GlassformerError('unsupported', `chat_template: ${(error as Error).message}`);
  }
}

/**
 * Returns the text that the model's template makes of a conversation. Give it to `generate` with
 * `specialTokens: false`, as the template writes the special tokens. Throws `unsupported` if the
 * model has no template, and `invalid_option` for messages that the template refuses.
 */
export function chatPrompt(
  generator: Generator,
  messages: readonly ChatMessage[],
  options: ChatPromptOptions = {},
): string {
  checkOptions(options, ['addGenerationPrompt', 'variables'], 'chatPrompt');
  const { addGenerationPrompt = true, variables = {} } = options;
  const isBoolean = typeof addGenerationPrompt === 'boolean';
  checkOption(isBoolean, 'addGenerationPrompt', 'true or false');
  const are = Array.isArray(messages) && messages.length > 0 && messages.every(isMessage);
  checkOption(are, 'messages', 'an array of objects with the strings role and content');
  const template = templateOf(generator);
  const { bosToken = '', eosToken = '' } = generator.info;
  try {
    return template.render({
      tools: null, // as the original library names them, even if there are none
      documents: null,
      ...variables,
      messages: messages.map((message) => ({ ...message })),
      add_generation_prompt: addGenerationPrompt,
      bos_token: bosToken,
      eos_token: eosToken,
    });
  } catch (error) {
    throw new GlassformerError('invalid_option', `messages: ${(error as Error).message}`);
  }
}

function isMessage(message: unknown): boolean {
  const { role, content } = (message ?? {}) as Partial<ChatMessage>;
  return typeof role === 'string' && typeof content === 'string';
}

/**
 * A conversation. A turn reads only what is new since the one before, as its result's `reused` tells;
 * one with a trace, patches, ablated heads or beams reads all messages. If the messages are longer than
 * the model reads, their beginning is left out, and `clipped` of the result is true.
 */
export class Chat {
  /** The messages so far. A turn adds two, when it is complete. */
  readonly messages: ChatMessage[] = [];
  readonly #generator: Generator;
  readonly #variables: ChatPromptOptions['variables'];
  #busy = false;

  /** Throws `unsupported` if the model has no template of conversations. */
  constructor(generator: Generator, options: ChatOptions = {}) {
    checkOptions(options, ['system', 'variables'], 'Chat');
    const { system, variables } = options;
    checkOption(system === undefined || typeof system === 'string', 'system', 'a string');
    templateOf(generator);
    this.#generator = generator;
    this.#variables = variables;
    if (system !== undefined) this.messages.push({ role: 'system', content: system });
  }

  /** Says something. The result is that of `Generator.generate`; `text` is the model's answer. */
  async send<Attention extends boolean = false, Trace extends TensorNames = undefined>(
    content: string,
    options: TurnOptions<Attention, Trace> = {},
  ): Promise<Generation<Attention, false, Trace>> {
    const message = this.#begin(content);
    try {
      const result = await this.#generator.generate<Attention, false, Trace>(
        this.#prompt(message),
        { ...options, specialTokens: false, prefix: false, keep: true } as GenerateOptions<
          Attention,
          false,
          Trace
        >,
      );
      this.messages.push(message, { role: 'assistant', content: result.text });
      return result;
    } finally {
      this.#busy = false;
    }
  }

  /** Says something, and yields the model's answer token by token; see `Generator.stream`. */
  async *stream<Attention extends boolean = false, Trace extends TensorNames = undefined>(
    content: string,
    options: StreamOptions<Attention, Trace> = {},
  ): AsyncGenerator<GenerationStep<Attention, Trace>, Generation<Attention, false, Trace>, void> {
    const message = this.#begin(content);
    try {
      const result = yield* this.#generator.stream<Attention, Trace>(this.#prompt(message), {
        ...options,
        specialTokens: false,
        prefix: false,
        keep: true,
      });
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

  #prompt(message: ChatMessage): string {
    return chatPrompt(this.#generator, [...this.messages, message], { variables: this.#variables });
  }
}
