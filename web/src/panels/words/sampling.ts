/** The sampling of the next token: temperature, top-k and top-p. */
import type { NextToken, Token } from 'glassformer';
import { labelsIn } from '../attention/text-attention.ts';

/** This token ends a review. */
export const endToken = '<|endoftext|>';

/** Returns the labels of a review's tokens. Before its text, the end token marks the start. */
export const labelsFromStart = (text: string, tokens: readonly Token[]): string[] =>
  labelsIn(text, tokens).map((label) => (label === endToken ? '‹start›' : label));

/** Asks a generator for all tokens with its own probabilities, and for the attention weights. */
export const allNext = {
  count: 0,
  attention: true,
  temperature: 1,
  topK: 0,
  topP: 1,
} as const;

/** How the next token is sampled: options of the package with these names. */
export interface Sampling {
  /** 0: always the most probable token. */
  temperature: number;
  /** 0: all tokens. */
  topK: number;
  /** 1: all tokens. */
  topP: number;
}

export interface Candidate {
  id: number;
  text: string;
  /** The model's own probability, before temperature, top-k and top-p. */
  probability: number;
  /** The probability of being sampled, after all three; 0 if it is excluded. */
  chance: number;
}

/** Returns the candidates among all tokens of a model. `next` and the result have the most probable first. */
export function candidatesOf(
  next: readonly Pick<NextToken, 'id' | 'text' | 'logprob'>[],
  { temperature, topK, topP }: Sampling,
): Candidate[] {
  const best = next[0]?.logprob ?? 0;
  const weights = next.map(({ logprob }) => Math.exp((logprob - best) / (temperature || 1)));
  const kept = temperature > 0 ? keptOf(weights, topK, topP) : 1;
  const keptTotal = sum(weights.slice(0, kept));
  return next.map(({ id, text, logprob }, i) => ({
    id,
    text,
    probability: Math.exp(logprob),
    chance: i < kept ? weights[i]! / keptTotal : 0,
  }));
}

/** Returns the number of candidates: of the `topK` best, the fewest that reach `topP` together. */
function keptOf(weights: readonly number[], topK: number, topP: number): number {
  let count = weights.length;
  if (topK > 0 && topK < count) {
    count = topK;
    // As in the engine, equal ones stay together.
    while (count < weights.length && weights[count] === weights[topK - 1]) count++;
  }
  if (topP >= 1) return count;
  const enough = topP * sum(weights.slice(0, count));
  let few = 0;
  for (let before = 0; few < count && (few === 0 || before < enough); few++)
    before += weights[few]!;
  return few;
}

/** Returns the candidate at a random number from 0 to 1. */
export function drawn(candidates: readonly Candidate[], at: number): Candidate | undefined {
  const kept = candidates.filter(({ chance }) => chance > 0);
  let below = 0;
  return kept.find(({ chance }) => (below += chance) > at) ?? kept.at(-1);
}

const sum = (values: readonly number[]) => values.reduce((a, b) => a + b, 0);

/** Returns whether a token is only a part of a character, so that nothing can be appended to it. */
export const isPartial = (text: string): boolean => /<0x[0-9A-F]{2}>|\ufffd/.test(text);

/** Returns a token as shown in a list: the end of the word that it continues, and its own part. */
export function shownCandidate(text: string, before: string): { tail: string; own: string } {
  const own = text.replace(/\n/g, '↵');
  if (/^\s/.test(own)) return { tail: '', own: own.trimStart() || '␣' };
  const tail = /\S*$/.exec(before)?.[0] ?? '';
  return { tail: own === text ? tail.slice(-8) : '', own };
}
