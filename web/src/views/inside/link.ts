/** The inside view's state in a link. */
import { headName, headsIn, type HeadPosition } from '../../panels/heads/position.ts';
import type { Link } from '../../ui/link.ts';
import type { StackName } from './reading/stacks.ts';
import { models, type InsideModel } from './reading/models.ts';

export interface Spot {
  stack: StackName;
  token: number;
}

/** A key of the chosen token, in the stack's self-attention or in its cross-attention. */
export interface Key {
  cross: boolean;
  index: number;
}

export interface InsideLink {
  model: InsideModel;
  text: string;
  /** The chosen token; undefined lets the view choose one. */
  spot: Spot | undefined;
  head: HeadPosition;
  /** The chosen key; undefined selects the key with the largest attention weight. */
  key: Key | undefined;
  untrained: boolean;
  /** The number that was followed last. */
  number: NumberAt | undefined;
}

/** A number: its tensor, or `answer` for the model's answers, and its index in the row. */
export interface NumberAt {
  tensor: string;
  index: number;
}

export function toInsideLink({
  model,
  text,
  spot,
  head,
  key,
  untrained,
  number,
}: InsideLink): Link {
  return {
    ...(model !== models[0] && { model }),
    text,
    ...(spot && { token: `${spot.stack}.${spot.token}` }),
    head: headName(head),
    ...(key && { key: `${key.cross ? 'source.' : ''}${key.index}` }),
    ...(untrained && { before: 'training' }),
    ...(number && { number: `${number.tensor}:${number.index}` }),
  };
}

/** Reads a link; skips malformed values. */
export function fromInsideLink(link: Link): Partial<InsideLink> {
  const { text } = link;
  const model = models.find((each) => each === link.model);
  const [head] = headsIn(link.head);
  const token = /^(encoder|decoder)\.(\d{1,4})$/.exec(link.token ?? '');
  const number = /^([\w.]{1,80}):(\d{1,6})$/.exec(link.number ?? '');
  const key = /^(source\.)?(\d{1,4})$/.exec(link.key ?? '');
  return {
    ...(text !== undefined && { text, model: model ?? models[0] }),
    ...(head && { head }),
    // Token positions only make sense together with their text.
    ...(text !== undefined && {
      spot: token ? { stack: token[1] as StackName, token: Number(token[2]) } : undefined,
      key: key ? { cross: key[1] !== undefined, index: Number(key[2]) } : undefined,
      ...(number && { number: { tensor: number[1]!, index: Number(number[2]) } }),
    }),
    untrained: link.before === 'training',
  };
}
