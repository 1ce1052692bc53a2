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

/** A decoded picture. */
export interface Picture {
  width: number;
  height: number;
  /** Gray; red, green, blue; or those and alpha, which is ignored. */
  channels: 1 | 3 | 4;
  /** [height, width, channels], row by row from the top. */
  bytes: Uint8Array;
}

/** The input of one result: a text, two, or a picture. */
export type Input = string | TextPair | Picture;

/** How a task takes what callers give. */
export interface InputKind {
  /** What several are called in errors. */
  several: 'texts' | 'pictures';
  /** Checks an input and returns it. `place` names it in errors, if there are several. */
  take(given: unknown, place?: string): Input | Promise<Input>;
}

function takeText(given: unknown, place = 'text'): string {
  checkOption(typeof given === 'string', place, 'a string');
  return given as string;
}

export function takeTextOrPair(given: unknown, place = 'text'): string | TextPair {
  if (typeof given === 'string') return given;
  const { text, pair } = (given ?? {}) as Partial<TextPair>;
  const valid = typeof text === 'string' && typeof pair === 'string';
  checkOption(valid, place, 'a string, or { text, pair } of two');
  return { text: text!, pair: pair! };
}

function takeQuestion(given: unknown, place?: string): TextPair {
  const { question, context } = (given ?? {}) as Record<'question' | 'context', unknown>;
  for (const [name, text] of Object.entries({ question, context })) {
    checkOption(typeof text === 'string', place ? `${place}.${name}` : name, 'a string');
  }
  return { text: question as string, pair: context as string };
}

export const textKind: InputKind = { several: 'texts', take: takeText };
export const textOrPairKind: InputKind = { several: 'texts', take: takeTextOrPair };
export const questionKind: InputKind = { several: 'texts', take: takeQuestion };

export function isPicture(input: Input): input is Picture {
  return typeof input === 'object' && 'bytes' in input;
}

/**
 * Returns the number of characters. The time that a model takes grows with it. For a picture, it
 * depends on the model alone.
 */
export function lengthOf(input: Input): number {
  if (typeof input === 'string') return input.length;
  return isPicture(input) ? Infinity : input.text.length + input.pair.length;
}

/**
 * Returns texts as the engine reads them: UTF-8, one after another, and two lengths per input,
 * of its text and its pair; the length is -1 if there is no pair.
 */
export function encodeTexts(
  inputs: (string | TextPair)[],
): [bytes: Uint8Array, lengths: Uint8Array] {
  const encoder = new TextEncoder();
  const pieces = inputs.flatMap((input) =>
    typeof input === 'string'
      ? [encoder.encode(input), undefined]
      : [encoder.encode(input.text), encoder.encode(input.pair)],
  );
  const lengths = Int32Array.from(pieces, (piece) => piece?.length ?? -1);
  return [concat(pieces.filter((piece) => piece !== undefined)), new Uint8Array(lengths.buffer)];
}

/** Returns pictures as the engine reads them: their bytes, one after another, and three sizes per picture. */
export function encodePictures(pictures: Picture[]): [bytes: Uint8Array, sizes: Uint8Array] {
  const sizes = pictures.flatMap(({ width, height, channels }) => [width, height, channels]);
  const bytes = concat(pictures.map((picture) => picture.bytes));
  return [bytes, new Uint8Array(Uint32Array.from(sizes).buffer)];
}
