/** The logits of the next token after those that are given. */
import type { SentenceTranslation, TracedTensor, TranslateOptions, Translator } from 'glassformer';

/** Translates one sentence, beginning with the tokens of `prefix`, and writes one more token. */
export async function nextStep(
  model: Translator,
  text: string,
  prefix: readonly number[],
  options: TranslateOptions,
): Promise<SentenceTranslation> {
  const forced = { beams: 1, prefixes: [prefix], maxLength: prefix.length + 1 };
  return (await model.translate(text, { ...options, ...forced })).sentences[0]!;
}

/** Returns logits by id. The difference of two equals that of their log-probabilities. */
export async function nextLogits(
  model: Translator,
  text: string,
  prefix: readonly number[],
  options: Omit<TranslateOptions, 'trace'>,
): Promise<Float32Array> {
  const { trace } = await nextStep(model, text, prefix, { ...options, trace: ['logits'] });
  return rowOf(trace!.logits!, -1);
}

/** Returns a row of a matrix. Negative rows count from the end. */
export function rowOf({ shape, data }: TracedTensor, row: number): Float32Array {
  const [rows, columns] = shape as [number, number];
  const at = row < 0 ? rows + row : row;
  return data.slice(at * columns, (at + 1) * columns);
}

/** Returns the most probable tokens of some logits. */
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
