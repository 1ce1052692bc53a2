/** The measured heads of the shipped models as a collection: names, addresses, tables. */
import { hashFor, type Link } from '../../ui/link.ts';
import type { Table } from '../../ui/export/table.ts';
import { headName, type AttentionKind } from '../../panels/heads/position.ts';
import {
  beganSo,
  roleNames,
  roleOf,
  setOf,
  type MeasuredHead,
} from '../../panels/heads/head-roles.ts';

/** The models whose heads are measured, with their views and the languages they write or read. */
export const zooModels = {
  sentiment: { title: 'Sentiment', view: 'sentiment', kinds: false, language: 'en', link: {} },
  'en-de': { title: 'To German', view: 'translation', kinds: true, language: 'de', link: {} },
  'en-fr': {
    ...{ title: 'To French', view: 'translation', kinds: true, language: 'fr' },
    link: { to: 'fr' },
  },
  writer: { title: 'Writer', view: 'writing', kinds: false, language: 'en', link: {} },
} as const;
export type ZooModel = keyof typeof zooModels;
export const zooNames = Object.keys(zooModels) as ZooModel[];

const kindNames: Record<AttentionKind, string> = {
  encoder: 'encoder',
  decoder: 'decoder',
  cross: 'cross-attention',
};

/** The name in a link, such as encoder.0.2, which counts from 0. */
export const keyOf = (head: MeasuredHead): string => `${head.attention}.${headName(head)}`;

/** The name for people, such as “Encoder layer 1, head 3”. */
export const titleOf = (model: ZooModel, { attention, layer, head }: MeasuredHead): string => {
  const place = `layer ${layer + 1}, head ${head + 1}`;
  const whole = zooModels[model].kinds ? `${kindNames[attention]} ${place}` : place;
  return whole.charAt(0).toUpperCase() + whole.slice(1);
};

export const addressOf = (model: ZooModel, head?: MeasuredHead): string =>
  hashFor('heads', { model, ...(head && { head: keyOf(head) }) });

/** The address that shows a head at work, on the text of its model's view or on another one. */
export function atWork(model: ZooModel, head: MeasuredHead, text: Link = {}): string {
  const { view, kinds, link } = zooModels[model];
  const own: Link = { ...link, ...text, head: kinds ? keyOf(head) : headName(head) };
  return hashFor(view === 'sentiment' ? undefined : view, own);
}

/** The address of a study without the head; undefined for a model that Study does not have. */
export function studyOf(model: ZooModel, head: MeasuredHead): string | undefined {
  if (model === 'en-fr') return undefined;
  const { kinds } = zooModels[model];
  return hashFor('study', {
    ...(model !== 'sentiment' && { model }),
    ...(kinds && { attention: head.attention }),
    of: 'heads',
    heads: headName(head),
  });
}

/** All heads with what was measured of them. Layers and heads count from 0. */
export const tableOf = (model: ZooModel, heads: readonly MeasuredHead[]): Table => ({
  columns: [
    'model',
    'attention',
    'layer',
    'head',
    'attends',
    'share',
    'share_if_even',
    'entropy',
    'loss_without',
    'loss_without_low',
    'loss_without_high',
    'points_lost',
    'points_of',
    'set_before_training',
  ],
  rows: heads.map((head) => {
    const set = setOf(head);
    return [
      model,
      head.attention,
      head.layer,
      head.head,
      roleNames[roleOf(head)].words,
      set && head.share[set],
      set && head.even[set],
      head.entropy,
      head.lost.mean,
      head.lost.low,
      head.lost.high,
      head.scoreLost?.points,
      head.scoreLost?.name,
      beganSo(head) ? 'yes' : 'no',
    ];
  }),
});
