/** The inside view's state, as a link carries it. */
import { headName, headsIn, type HeadPosition } from '../../panels/heads/position.ts';
import type { Link } from '../../ui/link.ts';
import type { StackName } from './reading/stacks.ts';
import { models, type InsideModel } from './reading/models.ts';

export interface Spot {
  stack: StackName;
  token: number;
}

/** A token that the chosen one looks at, in the stack's own attention or in the one to the source. */
export interface Key {
  cross: boolean;
  index: number;
}

export interface InsideLink {
  model: InsideModel;
  text: string;
  /** The chosen token; undefined: the one that the view chooses. */
  spot: Spot | undefined;
  head: HeadPosition;
  /** The token that is looked at; undefined: the one that is looked at most. */
  key: Key | undefined;
  untrained: boolean;
}

export function toInsideLink({ model, text, spot, head, key, untrained }: InsideLink): Link {
  return {
    ...(model !== models[0] && { model }),
    text,
    ...(spot && { token: `${spot.stack}.${spot.token}` }),
    head: headName(head),
    ...(key && { key: `${key.cross ? 'source.' : ''}${key.index}` }),
    ...(untrained && { before: 'training' }),
  };
}

/** Reads what it can; anything malformed is left out. */
export function fromInsideLink(link: Link): Partial<InsideLink> {
  const { text } = link;
  const model = models.find((each) => each === link.model);
  const [head] = headsIn(link.head);
  const token = /^(encoder|decoder)\.(\d{1,4})$/.exec(link.token ?? '');
  const key = /^(source\.)?(\d{1,4})$/.exec(link.key ?? '');
  return {
    ...(text !== undefined && { text, model: model ?? models[0] }),
    ...(head && { head }),
    // A token is one of a text: without it it is nobody's.
    ...(text !== undefined && {
      spot: token ? { stack: token[1] as StackName, token: Number(token[2]) } : undefined,
      key: key ? { cross: key[1] !== undefined, index: Number(key[2]) } : undefined,
    }),
    untrained: link.before === 'training',
  };
}
