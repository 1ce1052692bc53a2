/** The logits of all tokens that may come next. */
import type { SentenceTranslation, TracedTensor, TranslateOptions, Translator } from 'glassformer';

/** Translates one more token. `text` is one sentence; its translation begins with `prefix`. */
export async function nextStep(
  model: Translator,
  text: string,
  prefix: readonly number[],
  options: TranslateOptions,
): Promise<SentenceTranslation> {
  const forced = { beams: 1, prefixes: [prefix], maxLength: prefix.length + 1 };
  return (await model.translate(text, { ...options, ...forced })).sentences[0]!;
}

/** Returns logits by id. The difference of two is that of their log-probabilities. */
export async function nextLogits(
  model: Translator,
  text: string,
  prefix: readonly number[],
  options: Omit<TranslateOptions, 'trace'>,
): Promise<Float32Array> {
  const { trace } = await nextStep(model, text, prefix, { ...options, trace: ['logits'] });
  return rowOf(trace!.logits!, -1);
}

/** Returns a row of a matrix. Negative indices count from its end. */
export function rowOf({ shape, data }: TracedTensor, row: number): Float32Array {
  const [rows, columns] = shape as [number, number];
  const at = row < 0 ? rows + row : row;
  return data.slice(at * columns, (at + 1) * columns);
}

/**
 * Returns the most likely token of each of two texts. If it is the same, returns the tokens with
 * the largest loss and the largest gain from the one text to the other.
 */
export function parting(base: Float32Array, donor: Float32Array): [number, number] | undefined {
  const own = largest(base, base.length);
  const other = largest(donor, donor.length);
  const [is, would] = [own[0]!.index, other[0]!.index];
  if (is !== would) return [is, would];
  const gains = new Float64Array(base.length);
  for (const { index, probability } of other) gains[index]! += probability;
  for (const { index, probability } of own) gains[index]! -= probability;
  const [loser, winner] = [Math.min(...gains), Math.max(...gains)].map((gain) =>
    gains.indexOf(gain),
  ) as [number, number];
  return loser === winner ? undefined : [loser, winner];
}

/** Returns the `count` most probable entries, the largest first. */
export function largest(
  logits: ArrayLike<number>,
  count: number,
): { index: number; logit: number; probability: number }[] {
  let most = -Infinity;
  for (let i = 0; i < logits.length; i++) most = Math.max(most, logits[i]!);
  let sum = 0;
  for (let i = 0; i < logits.length; i++) sum += Math.exp(logits[i]! - most);
  return Array.from({ length: logits.length }, (_, i) => i)
    .sort((a, b) => logits[b]! - logits[a]! || a - b)
    .slice(0, count)
    .map((index) => ({
      index,
      logit: logits[index]!,
      probability: Math.exp(logits[index]! - most) / sum,
    }));
}
