/** What a translator would write next: how much speaks for every token, after those that it has. */
import type { TranslateOptions, Translator } from 'glassformer';

/**
 * Logits by id: the difference of two is that of their log-probabilities. `text` is one sentence,
 * whose translation begins with the tokens of `prefix`.
 */
export async function nextLogits(
  model: Translator,
  text: string,
  prefix: readonly number[],
  options: Omit<TranslateOptions, 'trace'>,
): Promise<Float32Array> {
  const forced = { beams: 1, prefixes: [prefix], maxLength: prefix.length + 1 };
  const { sentences } = await model.translate(text, { ...options, ...forced, trace: ['logits'] });
  const { shape, data } = sentences[0]!.trace.logits!;
  const [rows, columns] = shape as [number, number];
  return data.slice((rows - 1) * columns);
}
