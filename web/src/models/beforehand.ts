/**
 * Precomputed answers for the first texts of two views, shown until a model is loaded. The build
 * computes them: see web/build/beforehand.ts.
 */
import {
  AttentionMap,
  type Architecture,
  type Classification,
  type Translation,
} from 'glassformer';
import { unpacked } from './beforehand-format.ts';

export interface SentimentBeforehand {
  text: string;
  labels: readonly string[];
  architecture: Architecture;
  result: Classification;
  /** Change of the evidence if each token is hidden, after − before. */
  effects: Float32Array;
}

export interface TranslationBeforehand {
  text: string;
  beams: number;
  result: Translation;
  /** Change of the translation's log-probability if each source token is hidden, after − before. */
  effects: Float32Array;
}

const read = (json: string): unknown => unpacked(json, (map) => new AttentionMap(map));

/** The element that holds the sentiment answer, and the address of the translation. */
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
    return undefined; // Nothing is shown until the model is loaded.
  }
}
