/** The state that a link carries, in the part of the address after "#": it is never sent anywhere. */
import type { AttentionKind, HeadPosition } from './head-explorer.svelte.ts';
import { targets, type Target } from './models.ts';

const views = ['sentiment', 'translation', 'bench'] as const;
export type View = (typeof views)[number];

/** Which view a link leads to. */
export function viewOf(hash: string): View {
  const wanted = read(hash).get('view');
  return views.find((view) => view === wanted) ?? 'sentiment';
}

/** The sentiment view's state. */
export interface Permalink {
  text: string;
  /** The chosen head; layers and heads count from 0, as in the package. */
  head: HeadPosition;
  /** Heads switched off. */
  off: readonly HeadPosition[];
  /** Tokens hidden. */
  hidden: readonly number[];
}

/** The translation view's state. */
export interface TranslationLink {
  target: Target;
  text: string;
  beams: number;
  /** The sentence looked into, from 0. */
  sentence: number;
  attention: AttentionKind;
  head: HeadPosition;
  off: readonly (HeadPosition & { attention: AttentionKind })[];
}

/** Longer texts are left out of the link, as are all that refer to them. */
const longestText = 4000;

export function toHash({ text, head, off, hidden }: Permalink): string {
  const parameters = new URLSearchParams();
  if (text.length <= longestText) {
    parameters.set('text', text);
    if (hidden.length > 0) parameters.set('hide', hidden.join(','));
  }
  parameters.set('head', `${head.layer}.${head.head}`);
  if (off.length > 0)
    parameters.set('off', off.map(({ layer, head }) => `${layer}.${head}`).join(','));
  return `#${parameters}`;
}

export function toTranslationHash(link: TranslationLink): string {
  const { target, text, beams, sentence, attention, head, off } = link;
  const parameters = new URLSearchParams({ view: 'translation', to: target });
  if (text.length <= longestText) {
    parameters.set('text', text);
    if (sentence > 0) parameters.set('sentence', `${sentence}`);
  }
  parameters.set('beams', `${beams}`);
  parameters.set('head', `${attention}.${head.layer}.${head.head}`);
  if (off.length > 0)
    parameters.set('off', off.map((at) => `${at.attention}.${at.layer}.${at.head}`).join(','));
  return `#${parameters}`;
}

/** Reads what it can of a hash; anything malformed is left out. */
export function fromHash(hash: string): Partial<Permalink> {
  const parameters = read(hash);
  const link: Partial<Permalink> = {};
  const text = parameters.get('text');
  if (text !== null) link.text = text;
  const [head] = heads(parameters.get('head'));
  if (head) link.head = head;
  link.off = heads(parameters.get('off'));
  link.hidden = list(parameters.get('hide'))
    .filter((token) => /^\d{1,6}$/.test(token))
    .map(Number);
  return link;
}

/** The same of a hash that leads to the translation view. */
export function fromTranslationHash(hash: string): Partial<TranslationLink> {
  const parameters = read(hash);
  const link: Partial<TranslationLink> = {};
  const target = targets.find((language) => language === parameters.get('to'));
  if (target) link.target = target;
  const text = parameters.get('text');
  if (text !== null) link.text = text;
  const [beams] = digits(parameters.get('beams'));
  if (beams !== undefined) link.beams = beams;
  const [sentence] = digits(parameters.get('sentence'));
  if (sentence !== undefined) link.sentence = sentence;
  const [at] = headsOfKinds(parameters.get('head'));
  if (at) {
    link.attention = at.attention;
    link.head = { layer: at.layer, head: at.head };
  }
  link.off = headsOfKinds(parameters.get('off'));
  return link;
}

const read = (hash: string) => new URLSearchParams(hash.replace(/^#/, ''));

const list = (value: string | null) => (value ? value.split(',') : []);

const digits = (value: string | null) =>
  list(value)
    .filter((item) => /^\d{1,4}$/.test(item))
    .map(Number);

const heads = (value: string | null) =>
  list(value)
    .map((item) => /^(\d{1,4})\.(\d{1,4})$/.exec(item))
    .filter((match) => match !== null)
    .map(([, layer, head]) => ({ layer: Number(layer), head: Number(head) }));

const headsOfKinds = (value: string | null) =>
  list(value)
    .map((item) => /^(encoder|decoder|cross)\.(\d{1,4}\.\d{1,4})$/.exec(item))
    .filter((match) => match !== null)
    .map(([, kind, head]) => ({ attention: kind as AttentionKind, ...heads(head!)[0]! }));
