/** The texts in which a head does most what it does. */
import type { AttentionMap } from 'glassformer';
import { matrixIn, weightAt, type Cell, type Matrix } from '../../../panels/attention/attention.ts';
import { setOf, type MeasuredHead, type WordSet } from '../../../panels/heads/head-roles.ts';
import type { AttentionKind } from '../../../panels/heads/position.ts';
import { keysIn, wordsOf, type Piece, type Sides } from './words.ts';

/** The tokens that attend and the tokens that are attended to. */
export interface Tokens {
  queries: readonly Piece[];
  keys: readonly Piece[];
}

/** The attention of all heads in one text. */
export interface Attended {
  maps: Partial<Record<AttentionKind, AttentionMap>>;
  tokens: Partial<Record<AttentionKind, Tokens>>;
}

export interface Ranked<Text extends Attended> {
  text: Text;
  /** The pair of tokens with the largest weight that counts. */
  cell: Cell;
  weight: number;
  /** What the texts are ranked by: a share of attention, or the weight. */
  value: number;
}

function sidesOf(kind: AttentionKind, { queries, keys }: Tokens): Sides {
  const square = kind !== 'cross';
  const words = wordsOf(keys);
  return {
    queries: square ? words : wordsOf(queries),
    keys: words,
    ...{ square, causal: kind === 'decoder' },
  };
}

const mean = (values: readonly number[]) =>
  values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;

/** Returns the share of attention that a set gets: the mean over all words, without special tokens. */
export function shareOf(matrix: Matrix, set: WordSet, sides: Sides): number {
  const { queries, keys } = sides;
  const own = [...queries.keys()].filter((query) => !queries[query]!.special);
  return mean(
    own.map((query) => {
      const pieces = keysIn(set, query, sides).flatMap((key) => keys[key]!.pieces);
      const row = (piece: number) =>
        pieces.reduce((sum, key) => sum + weightAt(matrix, { query: piece, key }), 0);
      return mean(queries[query]!.pieces.map(row));
    }),
  );
}

/** Returns the pair with the largest weight: to a word of the set or, without one, to any other word. */
function strongestPair(matrix: Matrix, set: WordSet | undefined, sides: Sides) {
  const { queries, keys, square } = sides;
  let best: { cell: Cell; weight: number } | undefined;
  for (const [at, word] of queries.entries()) {
    if (word.special) continue;
    const others = set
      ? keysIn(set, at, sides)
      : [...keys.keys()].filter((key) => !keys[key]!.special && !(square && key === at));
    for (const query of word.pieces)
      for (const key of others.flatMap((each) => keys[each]!.pieces)) {
        const weight = weightAt(matrix, { query, key });
        if (weight > (best?.weight ?? 0)) best = { cell: { query, key }, weight };
      }
  }
  return best;
}

/**
 * Ranks texts by what a head does in them, the strongest first: if it has a role, by the share of its
 * attention that the role's words get; otherwise by its largest weight between two words.
 */
export function strongestTexts<Text extends Attended>(
  head: MeasuredHead,
  texts: readonly Text[],
): Ranked<Text>[] {
  const set = setOf(head);
  const kind = head.attention;
  return texts
    .flatMap((text) => {
      const matrix = matrixIn(text.maps[kind], head, kind === 'decoder');
      const tokens = text.tokens[kind];
      if (!matrix || !tokens) return [];
      const sides = sidesOf(kind, tokens);
      const pair = strongestPair(matrix, set, sides);
      return pair
        ? [{ text, ...pair, value: set ? shareOf(matrix, set, sides) : pair.weight }]
        : [];
    })
    .sort((a, b) => b.value - a.value);
}
