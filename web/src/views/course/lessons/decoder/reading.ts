import type { TracedTensor, Translator } from 'glassformer';
import { labelOf } from '../../../../panels/search/search-tree.ts';
import { anotherTask } from '../../../../ui/frames.ts';
import { dot, indexOfLargest, softmax } from '../../pictures/vectors.ts';

/** The values of the control. */
export const asTrained = 0;
export const withoutMask = 1;
export const wrongToken = 2;

/** The layer that is shown, from 0: its queries and keys don't depend on other tokens. */
const at = 'decoder.layers.0.self_attn';
/** The most tokens of a translation: pictures of longer ones would not fit. */
const maxLength = 48;

/** The decoder's inputs and predictions, one entry per row. */
export interface Rows {
  /** The input: the start token, then the given tokens. */
  reads: readonly string[];
  /** The probability of the next token of the right translation. */
  right: readonly number[];
  /** The most probable next token. */
  favorites: readonly string[];
}

export interface DecoderLive {
  setting: number;
  source: string;
  /** The right translation, whose end token is the last one. */
  target: readonly string[];
  rows: Rows;
  /** The same with a wrong token in place of token `changed`. */
  after: Rows;
  changed: number;
  wrong: string;
  /** The rows whose next token changed in probability, and the largest change of the others. */
  moved: readonly number[];
  still: number;
  /** The head that is shown, from 0. */
  head: number;
  dHead: number;
  /** The head's scores and weights, [rows, rows]; masked scores are −∞. */
  scores: Float32Array;
  weights: Float32Array;
  /** Each row's attention to later tokens, and to the one that it has to predict, without a mask. */
  later: readonly number[];
  answer: readonly number[];
}

const vocabularies = new WeakMap<Translator, Promise<string[]>>();
function vocabularyOf(model: Translator): Promise<string[]> {
  let all = vocabularies.get(model);
  if (!all) vocabularies.set(model, (all = model.vocabulary()));
  return all;
}

/** Returns a head's scores of all rows and keys, as they would be without the mask. */
export function openScores(q: TracedTensor, k: TracedTensor, head: number): Float32Array {
  const [count = 0, heads = 1, width = 1] = q.shape;
  const part = ({ data }: TracedTensor, row: number) => {
    const start = (row * heads + head) * width;
    return data.subarray(start, start + width);
  };
  const scores = new Float32Array(count * count);
  for (let i = 0; i < count; i++)
    for (let j = 0; j < count; j++)
      scores[i * count + j] = dot(part(q, i), part(k, j)) / Math.sqrt(width);
  return scores;
}

/** Returns the weights of scores [rows, rows]; with the mask, later tokens get 0. */
export function weightsOf(scores: Float32Array, count: number, masked: boolean): Float32Array {
  const weights = new Float32Array(scores.length);
  for (let i = 0; i < count; i++) {
    const row = scores.subarray(i * count, i * count + (masked ? i + 1 : count));
    weights.set(softmax(row), i * count);
  }
  return weights;
}

/** Returns scores in which later tokens are masked. */
const maskedScores = (scores: Float32Array, count: number) =>
  scores.map((score, i) => (i % count > Math.floor(i / count) ? -Infinity : score));

/** Returns the sum of each row's weights on later tokens. */
const onLater = (weights: Float32Array, count: number) =>
  Array.from({ length: count }, (_, i) =>
    weights.subarray(i * count + i + 1, (i + 1) * count).reduce((sum, each) => sum + each, 0),
  );

export async function readDecoder(
  model: Translator,
  text: string,
  setting: number,
  signal: AbortSignal,
): Promise<DecoderLive> {
  const [{ sentences }, vocabulary] = await Promise.all([
    model.translate(text, { beams: 4, hypotheses: true, maxLength, signal }),
    vocabularyOf(model),
  ]);
  // The second best translation stands for a human's: the decoder would not say all of it itself.
  const { hypotheses, start, end } = sentences[0]!;
  const ids = (hypotheses[1] ?? hypotheses[0]!).tokens.map(({ id }) => id);
  const source = text.slice(start, end);
  const count = ids.length;

  /** Runs the decoder on a given translation. */
  const force = async (given: readonly number[]) => {
    const trace = ['q', 'k'].map((part) => `${at}.${part}`);
    const result = await model.translate(source, {
      ...{ beams: 1, prefixes: [given], maxLength: count, signal },
      trace: [...trace, 'logits'],
    });
    const tensors = result.sentences[0]!.trace;
    const { shape, data } = tensors['logits']!;
    const width = shape[1]!;
    const right: number[] = [];
    const favorites: string[] = [];
    for (const [i, id] of ids.entries()) {
      // A row has a logit for each token of the vocabulary.
      await anotherTask();
      const logits = data.subarray(i * width, (i + 1) * width);
      right.push(softmax(logits)[id]!);
      favorites.push(labelOf(vocabulary[indexOfLargest(logits)]!));
    }
    const reads = ['‹start›', ...given.slice(0, -1).map((each) => labelOf(vocabulary[each]!))];
    const rows: Rows = { reads, right, favorites };
    return { rows, q: tensors[`${at}.q`]!, k: tensors[`${at}.k`]! };
  };

  // A word in the beginning is replaced by the last other word.
  const isWord = (id: number) => /\p{L}{2}/u.test(vocabulary[id]!);
  const words = ids.map((_, i) => i).filter((i) => i < count - 1 && isWord(ids[i]!));
  const changed = words[1] ?? words[0] ?? 0;
  const other = words
    .map((i) => ids[i]!)
    .reverse()
    .find((id) => id !== ids[changed]);
  const given = ids.map((id, i) => (i === changed && i < count - 1 && other ? other : id));
  const usual = await force(ids);
  const spoiled = await force(given);

  const { nHeads, dHead } = model.architecture.decoder!.layers[0]!;
  const heads = Array.from({ length: nHeads }, (_, head) => openScores(usual.q, usual.k, head));
  const peeks = heads.map((scores) =>
    onLater(weightsOf(scores, count, false), count).reduce((sum, each) => sum + each, 0),
  );
  const head = indexOfLargest(peeks);
  const open = weightsOf(heads[head]!, count, false);
  const masked = setting !== withoutMask;
  const own = setting === wrongToken ? openScores(spoiled.q, spoiled.k, head) : heads[head]!;

  const changes = ids.map((_, i) => Math.abs(spoiled.rows.right[i]! - usual.rows.right[i]!));
  const moved = ids.map((_, i) => i).filter((i) => changes[i]! > 1e-6);
  return {
    setting,
    source,
    target: ids.map((id) => labelOf(vocabulary[id]!)),
    rows: usual.rows,
    after: spoiled.rows,
    changed,
    wrong: labelOf(vocabulary[given[changed]!]!),
    moved,
    still: Math.max(0, ...changes.filter((_, i) => !moved.includes(i))),
    head,
    dHead,
    scores: masked ? maskedScores(own, count) : own,
    weights: weightsOf(own, count, masked),
    later: onLater(open, count),
    answer: ids.map((_, i) => (i + 1 < count ? open[i * count + i + 1]! : 0)),
  };
}

/** Which rows change: the choices, and the right one. */
export const choices = [
  'only those of tokens before it',
  'only those of tokens after it',
  'all of them',
  'none of them',
];
export function rightChoice({ moved, changed }: DecoderLive): number {
  const after = moved.some((row) => row > changed);
  const before = moved.some((row) => row <= changed);
  if (before) return after ? 2 : 0;
  return after ? 1 : 3;
}
