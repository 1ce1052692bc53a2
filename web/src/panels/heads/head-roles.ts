/** Roles of heads over many texts, from the heads.json of a model's folder, and orders by them. */
import { sets, type HeadOrder, type MeasuredHead, type WordSet } from './measured.ts';

export * from './measured.ts';

// --- roles --------------------------------------------------------------------------------------

export type Role = WordSet | 'broad' | 'other';

/** The least excess over evenly spread attention at which a set becomes a head's role. */
export const least = 0.15;
/** The least entropy of a broad head. */
export const broad = 0.75;

/** Returns the set in `offered` that exceeds its share under even attention the most. */
function roleAmong({ share, even, entropy }: MeasuredHead, offered: readonly WordSet[]): Role {
  const above = (set: WordSet) => (share[set] ?? 0) - (even[set] ?? 0);
  const [most] = [...offered].sort((a, b) => above(b) - above(a));
  if (most !== undefined && above(most) >= least) return most;
  return entropy >= broad ? 'broad' : 'other';
}

/** Returns whether a head's role is what it was set to before training. */
export function beganSo(head: MeasuredHead): boolean {
  const { began } = head;
  const role = roleOf(head);
  return began !== undefined && role === (began < 0 ? 'previous' : 'next');
}

/** Returns the role of one head, independent of the other heads. */
export const roleOf = (head: MeasuredHead): Role => roleAmong(head, sets);

/** Returns the set of words that is a head's role, or undefined. */
export function setOf(head: MeasuredHead): WordSet | undefined {
  const role = roleOf(head);
  return role === 'broad' || role === 'other' ? undefined : role;
}

/**
 * Returns what distinguishes each head from the others of its attention. A set that is the role of
 * all heads is skipped, and the next one counts. If nothing distinguishes the heads, they have no
 * role.
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
  /** The text on the badge. */
  short: string;
  /** The words in a sentence, after “attends”. */
  words: string;
}

export const roleNames: Readonly<Record<Role, RoleName>> = {
  previous: { short: 'prev', words: 'to the word before' },
  same: { short: 'self', words: 'to the word itself' },
  next: { short: 'next', words: 'to the word after' },
  specials: { short: 'special', words: 'to the special tokens around the text' },
  first: { short: 'first', words: 'to the first word' },
  last: { short: 'last', words: 'to the last word' },
  punctuation: { short: 'punct', words: 'to punctuation' },
  sameWord: { short: 'again', words: 'to the same word elsewhere' },
  broad: { short: 'broad', words: 'to many words at once' },
  other: { short: 'other', words: 'to no particular set of words' },
};

/** Whether removing the head changes the loss: zero is outside the interval. */
export const matters = ({ lost }: MeasuredHead): boolean => lost.low > 0 || lost.high < 0;

// --- order --------------------------------------------------------------------------------------

/** Returns the sort key: largest first, but smallest first for the entropy. */
function rankIn(order: Exclude<HeadOrder, 'layer'>, head: MeasuredHead): number {
  if (order === 'lost') return head.lost.mean;
  return order === 'entropy' ? -head.entropy : (head.share[order] ?? 0);
}

/** Returns the heads in an order. */
export function inOrder(
  heads: readonly MeasuredHead[],
  order: Exclude<HeadOrder, 'layer'>,
): MeasuredHead[] {
  return [...heads].sort(
    (a, b) => rankIn(order, b) - rankIn(order, a) || a.layer - b.layer || a.head - b.head,
  );
}
