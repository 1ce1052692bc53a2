/** The candidates for the next token: probabilities after temperature, top-k and top-p. */
import type { NextToken } from 'glassformer';

/** The token that ends a review. */
export const endToken = '<|endoftext|>';

/** The sampling options, named as in the package. */
export interface Sampling {
  /** 0 always takes the most probable token. */
  temperature: number;
  /** 0 disables top-k. */
  topK: number;
  /** 1 disables top-p. */
  topP: number;
}

export interface Candidate {
  id: number;
  text: string;
  /** The model's own probability, before temperature, top-k and top-p. */
  probability: number;
  /** The probability of being drawn, after all three; 0 if it is left out. */
  chance: number;
}

/** Returns the candidates, most probable first. `next` is all tokens of a model in that order. */
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

/** Returns the number of candidates left: of the `topK` best, the fewest that reach `topP`. */
function keptOf(weights: readonly number[], topK: number, topP: number): number {
  let count = weights.length;
  if (topK > 0 && topK < count) {
    count = topK;
    // Ties stay together, as in the engine.
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

/** Whether a token is only a part of a character, so that nothing can be written after it. */
export const isPartial = (text: string): boolean => /<0x[0-9A-F]{2}>|\ufffd/.test(text);

/** Returns a token for a list: the end of the word that it continues, and its own text. */
export function shownCandidate(text: string, before: string): { tail: string; own: string } {
  const own = text.replace(/\n/g, '↵');
  if (/^\s/.test(own)) return { tail: '', own: own.trimStart() || '␣' };
  const tail = /\S*$/.exec(before)?.[0] ?? '';
  return { tail: own === text ? tail.slice(-8) : '', own };
}
