/** A conversation with the visitor's model. */
import type { Generator, Head } from 'glassformer';
import { Chat, chatPrompt, type ChatMessage } from 'glassformer/chat';
import { writeFailure, type Failure } from '../../../ui/failure.ts';
import { PerFrame } from '../../../ui/frames.ts';

/** The most tokens of an answer. */
const mostWritten = 512;

/** What the last answer took. */
export interface TurnFacts {
  /** The tokens of the conversation. */
  tokens: number;
  /** Those that the turns before had read. */
  reused: number;
  /** The speed of writing, of more than a few tokens. */
  perSecond: number | undefined;
  /** Whether the beginning of the conversation was left out. */
  clipped: boolean;
  /** Whether the model ended the answer itself. */
  ended: boolean;
}

export class Conversation {
  /** The instructions for the model, which begin a conversation. */
  instructions = $state('');
  /** The messages of complete turns. */
  messages = $state.raw<readonly ChatMessage[]>([]);
  /** The message that is being answered. */
  asked = $state<string>();
  /** Its answer so far. */
  answer = $state('');
  facts = $state.raw<TurnFacts>();
  failure = $state.raw<Failure>();

  readonly #model: Generator;
  #chat: Chat | undefined;
  #turn = new AbortController();

  constructor(model: Generator) {
    this.#model = model;
  }

  get begun(): boolean {
    return this.messages.length > 0 || this.asked !== undefined;
  }

  /** The conversation as the model reads it, with its special tokens. */
  text = $state('');

  /** Says something. Returns whether the model answered. */
  async say(content: string, ablate: readonly Head<'decoder'>[]): Promise<boolean> {
    this.stop();
    const { signal } = (this.#turn = new AbortController());
    this.asked = content;
    this.answer = '';
    this.failure = undefined;
    const drawing = new PerFrame();
    try {
      const system = this.instructions.trim();
      this.#chat ??= new Chat(this.#model, system ? { system } : {});
      let begin = 0;
      let count = 0;
      for await (const step of this.#chat.stream(content, {
        maxNewTokens: mostWritten,
        ablate,
        signal,
      })) {
        begin ||= performance.now();
        count += step.done ? 0 : 1;
        drawing.ask(() => {
          if (!signal.aborted) this.answer = step.text;
        });
        if (!step.done) continue;
        const { promptTokens, tokens, reused = 0, clipped, ended } = step.result;
        this.facts = {
          tokens: promptTokens.length + tokens.length,
          reused,
          // The first token ends the reading of the message.
          perSecond: count > 4 ? (1000 * (count - 1)) / (performance.now() - begin) : undefined,
          clipped,
          ended,
        };
      }
      drawing.flush();
      this.messages = [...this.#chat.messages];
      this.text = await chatPrompt(this.#model, this.messages, { addGenerationPrompt: false });
      return true;
    } catch (error) {
      if (!signal.aborted) this.failure = writeFailure(error);
      return false;
    } finally {
      // Unless the next turn has begun.
      if (this.#turn.signal === signal) this.asked = undefined;
      if (this.messages.length === 0) this.#chat = undefined;
    }
  }

  /** Stops the answer that is being written. The message is not part of the conversation then. */
  stop(): void {
    this.#turn.abort();
  }

  /** Begins a new conversation, with the same instructions. */
  restart(): void {
    this.stop();
    this.#chat = undefined;
    this.messages = [];
    this.text = '';
    this.facts = this.failure = undefined;
  }
}
