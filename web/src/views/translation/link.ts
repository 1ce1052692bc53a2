/** The translation view's state in a link. */
import {
  headName,
  headsOfKindsIn,
  type AttentionKind,
  type HeadPosition,
} from '../../panels/heads/position.ts';
import { numbersIn, type Link } from '../../ui/link.ts';
import { targets, type Target } from '../../models/models.ts';

export interface TranslationLink {
  target: Target;
  text: string;
  beams: number;
  /** The chosen sentence, from 0. */
  sentence: number;
  /** Per sentence, the tokens that its translation must start with. */
  forced: readonly (readonly number[])[];
  /** Per sentence, the source tokens that are hidden. */
  hidden: readonly (readonly number[])[];
  attention: AttentionKind;
  head: HeadPosition;
  off: readonly (HeadPosition & { attention: AttentionKind })[];
}

export function toTranslationLink(state: TranslationLink): Link {
  const { target, text, beams, sentence, forced, hidden, attention, head, off } = state;
  return {
    to: target,
    text,
    ...(sentence > 0 && { sentence: `${sentence}` }),
    ...(isSet(forced) && { force: joined(forced) }),
    ...(isSet(hidden) && { hide: joined(hidden) }),
    beams: `${beams}`,
    head: `${attention}.${headName(head)}`,
    ...(off.length > 0 && { off: off.map((at) => `${at.attention}.${headName(at)}`).join(',') }),
  };
}

/** Reads a link; skips malformed values. */
export function fromTranslationLink(link: Link): Partial<TranslationLink> {
  const { text } = link;
  const target = targets.find((language) => language === link.to);
  const [beams] = numbersIn(link.beams, 4);
  const [sentence] = numbersIn(link.sentence, 4);
  const [at] = headsOfKindsIn(link.head);
  return {
    ...(target && { target }),
    ...(text !== undefined && { text, ...(sentence !== undefined && { sentence }) }),
    ...(text !== undefined && link.force !== undefined && { forced: tokensIn(link.force) }),
    ...(text !== undefined && link.hide !== undefined && { hidden: tokensIn(link.hide) }),
    ...(beams !== undefined && { beams }),
    ...(at && { attention: at.attention, head: { layer: at.layer, head: at.head } }),
    off: headsOfKindsIn(link.off),
  };
}

const isSet = (lists: readonly (readonly number[])[]) => lists.some((list) => list.length > 0);
const joined = (lists: readonly (readonly number[])[]) =>
  lists.map((list) => list.join('.')).join(',');

/** Parses token numbers, joined by dots per sentence, and sentences, joined by commas. */
function tokensIn(value: string): number[][] {
  const sentences = value.split(',').map((ids) => (ids === '' ? [] : ids.split('.').map(Number)));
  return sentences.flat().every((id) => Number.isInteger(id) && id >= 0) ? sentences : [];
}
