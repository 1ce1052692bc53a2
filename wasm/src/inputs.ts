import { checkOption } from './options.js';
import type { TextPair } from './types.js';

/** What the engine makes one result of: a text, or two. */
export type TextInput = string | TextPair;

/** Checks what a caller gave for one result; `place` says in an error which of several it was. */
export type ToInput = (given: unknown, place?: string) => TextInput;

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
