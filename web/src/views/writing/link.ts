/** The writing view's state, as a link carries it. */
import { headName, headsIn, type HeadPosition } from '../../panels/heads/position.ts';
import { numbersIn, type Link } from '../../ui/link.ts';
import type { Sampling } from '../../panels/words/sampling.ts';

export interface WritingLink extends Sampling {
  text: string;
  /** How many of its characters somebody typed; the model wrote the others. */
  typed: number;
  /** Where in the text the next token is looked at. */
  cursor: number;
  head: HeadPosition;
  /** Heads switched off. */
  off: readonly HeadPosition[];
}

export function toWritingLink(state: WritingLink): Link {
  const { text, typed, cursor, temperature, topK, topP, head, off } = state;
  return {
    text,
    ...(typed < text.length && { typed: `${typed}` }),
    ...(cursor < text.length && { at: `${cursor}` }),
    temperature: `${temperature}`,
    ...(topK > 0 && { k: `${topK}` }),
    ...(topP < 1 && { p: `${topP}` }),
    head: headName(head),
    ...(off.length > 0 && { off: off.map(headName).join(',') }),
  };
}

/** Reads what it can; anything malformed is left out. */
export function fromWritingLink(link: Link): Partial<WritingLink> {
  const { text } = link;
  const within = (value: string | undefined) =>
    Math.min(numbersIn(value, 6)[0] ?? Infinity, text?.length ?? 0);
  const temperature = decimalIn(link.temperature, mostTemperature);
  const [head] = headsIn(link.head);
  return {
    // The settings stand in a link together: what it does not name is off.
    ...(temperature !== undefined && {
      temperature,
      topK: numbersIn(link.k, 5)[0] ?? 0,
      topP: decimalIn(link.p, 1) || 1,
    }),
    // Places are of a text: without it they are nobody's.
    ...(text !== undefined && { text, typed: within(link.typed), cursor: within(link.at) }),
    ...(head && { head }),
    off: headsIn(link.off),
  };
}

export const mostTemperature = 2;

function decimalIn(value: string | undefined, most: number): number | undefined {
  return /^\d(\.\d{1,4})?$/.test(value ?? '') && Number(value) <= most ? Number(value) : undefined;
}
