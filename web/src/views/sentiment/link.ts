/** The sentiment view's state, as a link carries it. */
import { headName, headsIn, type HeadPosition } from '../../panels/heads/position.ts';
import { numbersIn, type Link } from '../../ui/link.ts';

export interface SentimentLink {
  text: string;
  /** The chosen head. */
  head: HeadPosition;
  /** Heads switched off. */
  off: readonly HeadPosition[];
  /** Tokens hidden. */
  hidden: readonly number[];
}

export function toSentimentLink({ text, head, off, hidden }: SentimentLink): Link {
  return {
    text,
    ...(hidden.length > 0 && { hide: hidden.join(',') }),
    head: headName(head),
    ...(off.length > 0 && { off: off.map(headName).join(',') }),
  };
}

/** Reads what it can; anything malformed is left out. */
export function fromSentimentLink(link: Link): Partial<SentimentLink> {
  const { text } = link;
  const [head] = headsIn(link.head);
  return {
    // Hidden are tokens of a text: without it they are nobody's.
    ...(text !== undefined && { text, hidden: numbersIn(link.hide, 6) }),
    ...(head && { head }),
    off: headsIn(link.off),
  };
}
