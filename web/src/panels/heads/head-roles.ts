/** What heads do over many texts, as a model folder's heads.json has it: roles, and an order by them. */
import type { AttentionKind, HeadPosition } from './position.ts';

/** The words that attention's shares are measured on; of several equal shares the first counts. */
export const sets = [
  'previous',
  'same',
  'next',
  'specials',
  'first',
  'last',
  'punctuation',
  'sameWord',
] as const;
export type WordSet = (typeof sets)[number];

/** A mean, and within what it lies with 95% confidence. */
export interface Interval {
  mean: number;
  low: number;
  high: number;
}

export interface MeasuredHead extends HeadPosition {
  attention: AttentionKind;
  /** Each set's share of attention, 0 … 1: the mean over all words, 0 for a word whose set is empty. */
  share: Readonly<Partial<Record<WordSet, number>>>;
  /** The same for attention that is spread evenly. */
  even: Readonly<Partial<Record<WordSet, number>>>;
  /** In shares of the largest possible. */
  entropy: number;
  /** The cross-entropy that is lost with zeros in the head's place, in nats. */
  lost: Interval;
  /** In points: less than one of them is noise. */
  scoreLost: { name: 'accuracy' | 'BLEU'; points: number } | undefined;
}

export interface Measured {
  texts: number;
  heads: readonly MeasuredHead[];
}

// --- reading ------------------------------------------------------------------------------------

type Fields = Readonly<Record<string, unknown>>;

const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null;
const isNumber = (value: unknown): value is number => Number.isFinite(value);

const sharesIn = (value: unknown): MeasuredHead['share'] =>
  Object.fromEntries(
    sets.flatMap((set) => (isFields(value) && isNumber(value[set]) ? [[set, value[set]]] : [])),
  );

function scoreIn({ accuracyLost, bleuLost }: Fields): MeasuredHead['scoreLost'] {
  if (isNumber(accuracyLost)) return { name: 'accuracy', points: accuracyLost };
  return isNumber(bleuLost) ? { name: 'BLEU', points: bleuLost } : undefined;
}

function headIn(value: unknown): MeasuredHead | undefined {
  if (!isFields(value) || !isFields(value.zero)) return undefined;
  const { attention, layer, head, entropy } = value;
  const { mean, low, high } = value.zero;
  const kind = (['encoder', 'decoder', 'cross'] as const).find((each) => each === attention);
  if (!kind || ![layer, head, entropy, mean, low, high].every(isNumber)) return undefined;
  return {
    attention: kind,
    ...({ layer, head, entropy } as Pick<MeasuredHead, 'layer' | 'head' | 'entropy'>),
    share: sharesIn(value.share),
    even: sharesIn(value.even),
    lost: { mean, low, high } as Interval,
    scoreLost: scoreIn(value),
  };
}

/** What a heads.json says, as tests/evaluate/heads.mjs writes it; undefined where it is none. */
export function measuredIn(json: unknown): Measured | undefined {
  if (!isFields(json) || !isNumber(json.texts) || !Array.isArray(json.heads)) return undefined;
  const heads = json.heads.map(headIn).filter((head) => head !== undefined);
  return heads.length > 0 ? { texts: json.texts, heads } : undefined;
}

// --- roles --------------------------------------------------------------------------------------

export type Role = WordSet | 'broad' | 'other';

/** A head has a set for a role from so much more attention on it than even attention gives. */
export const least = 0.15;
/** From this entropy on it is broad. */
export const broad = 0.75;

/** The set in `offered` that exceeds its share under even attention the most. */
function roleAmong({ share, even, entropy }: MeasuredHead, offered: readonly WordSet[]): Role {
  const above = (set: WordSet) => (share[set] ?? 0) - (even[set] ?? 0);
  const [most] = [...offered].sort((a, b) => above(b) - above(a));
  if (most !== undefined && above(most) >= least) return most;
  return entropy >= broad ? 'broad' : 'other';
}

/** The role of one head, independent of the other heads. */
export const roleOf = (head: MeasuredHead): Role => roleAmong(head, sets);

/**
 * What distinguishes each head from the others of its attention. A set that all of them have for a
 * role tells nothing, and the next one counts; where nothing is left that differs, there is no role.
 */
export function rolesOf(heads: readonly MeasuredHead[]): (Role | undefined)[] {
  let offered: readonly WordSet[] = sets;
  for (;;) {
    const roles = heads.map((head) => roleAmong(head, offered));
    const [first] = roles;
    if (first === undefined || roles.some((role) => role !== first)) return roles;
    if (first === 'broad' || first === 'other') return roles.map(() => undefined);
    offered = offered.filter((set) => set !== first);
  }
}

interface RoleName {
  /** On the badge. */
  short: string;
  /** In a sentence: “looks …”. */
  words: string;
}

export const roleNames: Readonly<Record<Role, RoleName>> = {
  previous: { short: 'prev', words: 'at the word before' },
  same: { short: 'self', words: 'at the word itself' },
  next: { short: 'next', words: 'at the word after' },
  specials: { short: 'special', words: 'at the special tokens around the text' },
  first: { short: 'first', words: 'at the first word' },
  last: { short: 'last', words: 'at the last word' },
  punctuation: { short: 'punct', words: 'at punctuation' },
  sameWord: { short: 'again', words: 'at the same word elsewhere' },
  broad: { short: 'broad', words: 'at many words at once' },
  other: { short: 'other', words: 'at words that are none of these' },
};

/** Whether something is lost, or won, without it: zero is not within the interval. */
export const matters = ({ lost }: MeasuredHead): boolean => lost.low > 0 || lost.high < 0;

// --- order --------------------------------------------------------------------------------------

/** By layer, by the attention on a set, by entropy or by what is lost. */
export const orders = ['layer', 'lost', 'entropy', ...sets] as const;
export type HeadOrder = (typeof orders)[number];

/** Those that some heads can be sorted by: sets that all of their attention lacks are none. */
export function ordersOf(heads: readonly MeasuredHead[]): HeadOrder[] {
  if (heads.length === 0) return ['layer'];
  const isThere = (set: WordSet) => heads.some(({ share }) => share[set] !== undefined);
  return ['layer', 'lost', 'entropy', ...sets.filter(isThere)];
}

/** What a head is sorted by: the largest first, of entropies the smallest. */
function rankIn(order: Exclude<HeadOrder, 'layer'>, head: MeasuredHead): number {
  if (order === 'lost') return head.lost.mean;
  return order === 'entropy' ? -head.entropy : (head.share[order] ?? 0);
}

/** The heads in an order. */
export function inOrder(
  heads: readonly MeasuredHead[],
  order: Exclude<HeadOrder, 'layer'>,
): MeasuredHead[] {
  return [...heads].sort(
    (a, b) => rankIn(order, b) - rankIn(order, a) || a.layer - b.layer || a.head - b.head,
  );
}
