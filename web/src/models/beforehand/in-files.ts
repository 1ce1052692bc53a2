/** The precomputed answers of views other than the first: see in-page.ts. */
import type { Prediction, Translation } from 'glassformer';
import { block, read } from './in-page.ts';

export interface TranslationBeforehand {
  text: string;
  beams: number;
  result: Translation;
  /** Change of the translation's log-probability if each source token is hidden, after − before. */
  effects: Float32Array;
}

export interface WritingBeforehand {
  text: string;
  result: Prediction<{ attention: true }>;
}

/** Its file has the next tokens by columns. */
interface WritingFile {
  text: string;
  result: Omit<WritingBeforehand['result'], 'next'>;
  ids: readonly number[];
  texts: readonly string[];
  logprobs: readonly number[];
}

/** Resolves to undefined if the build has no answer; the view then waits for the model. */
async function fetched(view: 'translation' | 'writing'): Promise<unknown> {
  const file = block()?.dataset[view];
  if (file === undefined) return undefined;
  try {
    const response = await fetch(new URL(file, document.baseURI));
    return response.ok ? read(await response.text()) : undefined;
  } catch {
    return undefined;
  }
}

export const translationBeforehand = async (): Promise<TranslationBeforehand | undefined> =>
  (await fetched('translation')) as TranslationBeforehand | undefined;

export async function writingBeforehand(): Promise<WritingBeforehand | undefined> {
  const file = (await fetched('writing')) as WritingFile | undefined;
  if (!file) return undefined;
  const { text, result, ids, texts, logprobs } = file;
  const next = ids.map((id, i) => ({
    id,
    text: texts[i]!,
    logprob: logprobs[i]!,
    probability: Math.exp(logprobs[i]!),
  }));
  return { text, result: { ...result, next } };
}
