/** The writing view's state in a link. */
import { headName, headsIn, type HeadPosition } from '../../panels/heads/position.ts';
import { numbersIn, type Link } from '../../ui/link.ts';
import type { Sampling } from '../../panels/words/sampling.ts';

export interface WritingLink extends Sampling {
  text: string;
  /** The number of typed characters; the model wrote the rest. */
  typed: number;
  /** The place in the text where the next token is predicted. */
  cursor: number;
  head: HeadPosition;
  /** Heads that are switched off. */
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

/** Reads a link; skips malformed values. */
export function fromWritingLink(link: Link): Partial<WritingLink> {
  const { text } = link;
  const within = (value: string | undefined) =>
    Math.min(numbersIn(value, 6)[0] ?? Infinity, text?.length ?? 0);
  const temperature = decimalIn(link.temperature, mostTemperature);
  const [head] = headsIn(link.head);
  return {
    // A link has all settings or none: a missing top-k or top-p is off.
    ...(temperature !== undefined && {
      temperature,
      topK: numbersIn(link.k, 5)[0] ?? 0,
      topP: decimalIn(link.p, 1) || 1,
    }),
    // Places only make sense together with their text.
    ...(text !== undefined && { text, typed: within(link.typed), cursor: within(link.at) }),
    ...(head && { head }),
    off: headsIn(link.off),
  };
}

export const mostTemperature = 2;

function decimalIn(value: string | undefined, most: number): number | undefined {
  return /^\d(\.\d{1,4})?$/.test(value ?? '') && Number(value) <= most ? Number(value) : undefined;
}
