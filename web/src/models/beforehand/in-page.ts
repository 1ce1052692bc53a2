/**
 * The precomputed answer for the first text of the sentiment view, shown until a model is loaded. It is
 * in the page; in-files.ts fetches those of other views. The build computes them: see
 * web/build/beforehand.ts.
 */
import { AttentionMap, type Architecture, type Classification } from 'glassformer';
import { unpacked } from './format.ts';

export interface SentimentBeforehand {
  text: string;
  labels: readonly string[];
  architecture: Architecture;
  result: Classification;
  /** Change of the evidence if each token is hidden, after − before. */
  effects: Float32Array;
}

export const read = (json: string): unknown => unpacked(json, (map) => new AttentionMap(map));

/** The element that holds the sentiment answer, and the addresses of the others. */
export const block = (): HTMLElement | null => document.getElementById('beforehand');

export function sentimentBeforehand(): SentimentBeforehand | undefined {
  const json = block()?.textContent;
  return json ? (read(json) as SentimentBeforehand) : undefined;
}
