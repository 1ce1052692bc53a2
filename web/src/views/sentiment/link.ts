/** The sentiment view's state in a link. */
import { headName, headsIn, type HeadPosition } from '../../panels/heads/position.ts';
import { numbersIn, partsOf, type Link } from '../../ui/link.ts';

/** The parts that open on demand. */
export const partNames = ['ledger', 'methods', 'circuits'] as const;
export type PartName = (typeof partNames)[number];

export interface SentimentLink {
  text: string;
  /** The chosen head. */
  head: HeadPosition;
  /** Heads that are switched off. */
  off: readonly HeadPosition[];
  /** Tokens that are hidden. */
  hidden: readonly number[];
  /** Parts that are open. */
  parts: readonly PartName[];
}

export function toSentimentLink({ text, head, off, hidden, parts }: SentimentLink): Link {
  return {
    text,
    ...(hidden.length > 0 && { hide: hidden.join(',') }),
    head: headName(head),
    ...(off.length > 0 && { off: off.map(headName).join(',') }),
    ...(parts.length > 0 && { part: parts.join(',') }),
  };
}

/** Reads a link; skips malformed values. */
export function fromSentimentLink(link: Link): Partial<SentimentLink> {
  const { text } = link;
  const [head] = headsIn(link.head);
  return {
    // Token positions only make sense together with their text.
    ...(text !== undefined && { text, hidden: numbersIn(link.hide, 6) }),
    ...(head && { head }),
    off: headsIn(link.off),
    parts: partsOf(link.part).flatMap((each) => partNames.find((name) => name === each) ?? []),
  };
}
