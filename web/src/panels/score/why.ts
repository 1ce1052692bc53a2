/** The words and bars that say why a head looks there. */
import type { ScorePart } from 'glassformer';
import { headOf, type LedgerHead } from '../ledger/ledger.ts';
import type { ScoreAnswer } from './score-reading.svelte.ts';

/** The names of the rows that heads read: those of the own stack, then those of a source. */
export interface RowNames {
  queries: readonly string[];
  keys: readonly string[];
  /** The rows of the query's stack, and those that it reads of an encoder; and those of the key's. */
  readByQuery: readonly string[];
  readByKey: readonly string[];
}

/** A part of the query or of the key. */
export interface Reason {
  /** The column of the model: "layers.0.self_attn.head.3". */
  column: string;
  /** Its name on the page: "layer 1, head 4". */
  name: string;
  /** How much it lifts this key above the others. */
  amount: number;
  /** Its part of the score itself. */
  sum: number;
  /** Of a head: the token that it mostly read, by this amount, and its row. */
  read?: { row: number; label: string } | undefined;
  head?: LedgerHead | undefined;
  /** Without it: the head's weight, and how much the answer falls. */
  weight?: number | undefined;
  effect?: number | undefined;
}

const plain: Record<string, string> = {
  embed_tokens: 'the token itself',
  embed_patches: 'the patch itself',
  embed_positions: 'its position',
  embed_types: 'its segment',
  bias: 'biases',
  distance: 'their distance',
};

/** Returns the name of a part on the page. */
export function nameOf(column: string): string {
  const head = headOf(column);
  if (head) {
    const which = head.cross ? ' to the source' : '';
    return `layer ${head.layer + 1}, head ${head.head + 1}${which}`;
  }
  const layer = /^layers\.(\d+)\.(fc2|self_attn)$/.exec(column);
  if (layer) {
    return `layer ${Number(layer[1]) + 1}, ${layer[2] === 'fc2' ? 'feed-forward' : 'recurrent unit'}`;
  }
  return plain[column] ?? column;
}

/** Weights from here on leave the others nothing to be compared with. */
const whole = 1 - 1e-6;

/**
 * Returns by how much contrasts are divided. The mean of all scores by their weights has the score
 * itself in it, by its weight; what is left after that is the mean of the others.
 */
export const shareOfOthers = (answer: Pick<ScoreAnswer, 'weight'>, rival?: number): number =>
  rival === undefined ? 1 - Math.min(answer.weight, whole) : 1;

function largestRead(
  reads: readonly number[] | undefined,
  sign: number,
  names: readonly string[],
): Reason['read'] {
  if (!reads || reads.length === 0) return undefined;
  const row = reads.reduce((best, each, i) => (sign * each > sign * reads[best]! ? i : best), 0);
  return { row, label: names[row] ?? '' };
}

function reasonsOf(
  parts: readonly ScorePart[],
  share: number,
  names: readonly string[],
  measured: readonly ScorePart[] | undefined,
): Reason[] {
  return parts.map((part, i) => {
    const amount = (part.contrast ?? part.sum) / share;
    return {
      column: part.name,
      name: nameOf(part.name),
      amount,
      sum: part.sum,
      read: largestRead(part.contrastReads ?? part.reads, Math.sign(amount) || 1, names),
      head: headOf(part.name),
      weight: measured?.[i]?.weight,
      effect: measured?.[i]?.effect,
    };
  });
}

export interface Why {
  /** Of the query's row and of the key's, largest first. */
  asks: Reason[];
  answers: Reason[];
  /** How far the score is above those of the other keys. */
  lead: number;
}

/** Returns the reasons of a score. `measured`: the same score with effects. */
export function whyOf(
  answer: ScoreAnswer,
  {
    rival,
    measured,
    names,
  }: { rival?: number | undefined; measured?: ScoreAnswer | undefined; names: RowNames },
): Why {
  const share = shareOfOthers(answer, rival);
  const lead = (answer.lead ?? 0) / share;
  const bySize = (reasons: Reason[]) =>
    reasons.sort((a, b) => Math.abs(b.amount) - Math.abs(a.amount));
  return {
    asks: bySize(reasonsOf(answer.queries, share, names.readByQuery, measured?.queries)),
    answers: bySize(reasonsOf(answer.keys, share, names.readByKey, measured?.keys)),
    lead,
  };
}

/**
 * Returns the parts to name: the one that counts most in the direction of the lead and, if its words
 * are not known, the head that counts most.
 */
export function mainOf(reasons: readonly Reason[], lead: number): Reason[] {
  const sign = Math.sign(lead) || 1;
  const counting = reasons.filter(({ amount }) => sign * amount > 0);
  const [first] = counting;
  if (!first) return [];
  const head = counting.find((reason) => reason.head && reason.read);
  return first.column.endsWith('fc2') && head ? [first, head] : [first];
}

function partInWords({ column, name, read, head }: Reason): string {
  if (head && read) return `what ${name} read from “${read.label}”`;
  if (!column.endsWith('fc2')) return name;
  return `what ${name.replace(', feed-forward', '’s feed-forward network')} wrote`;
}

/** Returns the parts in words, after "with": "what layer 1, head 2 read from “not”". */
export const inWords = (reasons: readonly Reason[]): string =>
  reasons.length === 0 ? 'little' : reasons.map(partInWords).join(' and ');
