/**
 * Answers to the first texts of two views that were computed when the page was built: something true
 * to look at until a model has come. See web/build/beforehand.ts.
 */
import { AttentionMap, type Classification, type Translation } from 'glassformer';
import { unpacked } from './beforehand-format.ts';

export interface SentimentBeforehand {
  text: string;
  labels: readonly string[];
  result: Classification;
  /** Δ of the evidence when each token is left out, after − before. */
  effects: Float32Array;
}

export interface TranslationBeforehand {
  text: string;
  beams: number;
  result: Translation;
  /** Δ of the translation's log-probability when each source token is hidden, after − before. */
  effects: Float32Array;
}

const read = (json: string): unknown => unpacked(json, (map) => new AttentionMap(map));

/** The page has it in itself, and where the other one is. */
const block = (): HTMLElement | null => document.getElementById('beforehand');

export function sentimentBeforehand(): SentimentBeforehand | undefined {
  const json = block()?.textContent;
  return json ? (read(json) as SentimentBeforehand) : undefined;
}

export async function translationBeforehand(): Promise<TranslationBeforehand | undefined> {
  const file = block()?.dataset.translation;
  if (file === undefined) return undefined;
  try {
    const response = await fetch(new URL(file, document.baseURI));
    return response.ok ? (read(await response.text()) as TranslationBeforehand) : undefined;
  } catch {
    return undefined; // Then there is nothing to see until the model has come.
  }
}
