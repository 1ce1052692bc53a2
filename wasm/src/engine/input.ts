import { concat } from '../base/bytes.js';
import { checkOption } from '../base/checks.js';

// The inputs of tasks. A new kind of input is a member of `Input`, a check of what callers give, and
// its form in memory.

/** Two texts that a model reads together, such as a premise and a hypothesis. */
export interface TextPair {
  text: string;
  pair: string;
}

/** Any number of texts, such as an array, a generator, or the lines of a file. */
export type Texts = Iterable<string> | AsyncIterable<string>;

/** The input of one result: a text, or two. */
export type Input = string | TextPair;

/**
 * Checks what a caller gave as an input and returns it. `place` names it in errors, if there are
 * several.
 */
export type ToInput = (given: unknown, place?: string) => Input;

export const toText: ToInput = (given, place = 'text') => {
  checkOption(typeof given === 'string', place, 'a string');
  return given as string;
};

export const toTextOrPair: ToInput = (given, place = 'text') => {
  if (typeof given === 'string') return given;
  const { text, pair } = (given ?? {}) as Partial<TextPair>;
  const valid = typeof text === 'string' && typeof pair === 'string';
  checkOption(valid, place, 'a string, or { text, pair } of two');
  return { text: text!, pair: pair! };
};

export const toQuestion: ToInput = (given, place) => {
  const { question, context } = (given ?? {}) as Record<'question' | 'context', unknown>;
  for (const [name, text] of Object.entries({ question, context })) {
    checkOption(typeof text === 'string', place ? `${place}.${name}` : name, 'a string');
  }
  return { text: question as string, pair: context as string };
};

/** Returns the number of characters. The time that a model takes grows with it. */
export function lengthOf(input: Input): number {
  return typeof input === 'string' ? input.length : input.text.length + input.pair.length;
}

/**
 * Returns the inputs as the engine reads them: UTF-8, one after another, and two lengths per input,
 * of its text and its pair; the length is -1 if there is no pair.
 */
export function encodeInputs(inputs: Input[]): [bytes: Uint8Array, lengths: Uint8Array] {
  const encoder = new TextEncoder();
  const pieces = inputs.flatMap((input) =>
    typeof input === 'string'
      ? [encoder.encode(input), undefined]
      : [encoder.encode(input.text), encoder.encode(input.pair)],
  );
  const lengths = Int32Array.from(pieces, (piece) => piece?.length ?? -1);
  return [concat(pieces.filter((piece) => piece !== undefined)), new Uint8Array(lengths.buffer)];
}
