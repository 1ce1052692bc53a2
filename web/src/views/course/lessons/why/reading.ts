import { Classifier, GlassformerError, type ScorePart } from 'glassformer';
import { ExplainingModel } from '../../../../models/explaining-model.svelte.ts';
import { indexOfLargest, labelsOf } from '../../pictures/vectors.ts';
import { headOf } from '../../../../panels/ledger/ledger.ts';

/** The layer whose heads are shown, from 0. */
export const layer = 1;

/** What a row is made of before that layer. */
export const groups = [
  { name: 'the token itself', of: (name: string) => name === 'embed_tokens' },
  { name: 'its position', of: (name: string) => name === 'embed_positions' },
  { name: 'what the heads of layer 1 wrote', of: (name: string) => headOf(name) !== undefined },
  { name: 'what layer 1’s feed-forward network wrote', of: (name: string) => name.endsWith('fc2') },
] as const;

export interface WhyLive {
  labels: readonly string[];
  heads: number;
  head: number;
  query: number;
  key: number;
  weight: number;
  score: number;
  /** How far the score is above the mean of the others, by their weights. */
  lead: number;
  /** The parts of that, of `groups` and of biases: what the query asks with, the key answers with. */
  asks: readonly number[];
  answers: readonly number[];
}

/** The binary with explanations is larger: it is fetched for lessons like this one only. */
const explaining = new ExplainingModel(Classifier, undefined);

/** Returns the sums of the groups, and that of everything else. */
export function grouped(parts: readonly ScorePart[], share: number): number[] {
  const sums = Array.from({ length: groups.length + 1 }, () => 0);
  for (const { name, contrast = 0 } of parts) {
    const at = groups.findIndex(({ of }) => of(name));
    sums[at < 0 ? groups.length : at]! += contrast / share;
  }
  return sums;
}

export async function readWhy(
  model: Classifier,
  text: string,
  head: number,
  signal: AbortSignal,
): Promise<WhyLive> {
  const { tokens, attention } = await model.classify(text, { attention: true, signal });
  const { encoder: map } = attention;
  // Where it looks most at another token than its own, if there is one.
  const others = map
    .at(layer, head)
    .map((weight, i) => (map.keys > 1 && i % (map.keys + 1) === 0 ? 0 : weight));
  const best = indexOfLargest(others);
  const [query, key] = [Math.floor(best / map.keys), best % map.keys];
  const explainer = await explaining.get('sentiment');
  if (!explainer) throw new GlassformerError('fetch_failed', 'the binary with explanations');
  const found = await explainer.explain<'score'>(text, {
    method: 'score',
    attention: `encoder.layers.${layer}.self_attn`,
    ...{ head, query, key, contrast: true, signal },
  });
  // The mean of all scores has this one in it; the rest is the mean of the others.
  const share = Math.max(1e-6, 1 - found.weight);
  return {
    labels: labelsOf(text, tokens),
    heads: map.heads,
    ...{ head, query, key },
    weight: found.weight,
    score: found.score,
    lead: (found.lead ?? 0) / share,
    asks: grouped(found.queries, share),
    answers: grouped(found.keys, share),
  };
}

/** Returns the group that counts most in the key. */
export const rightChoice = ({ answers }: WhyLive): number =>
  groups.reduce((best, _, i) => (answers[i]! > answers[best]! ? i : best), 0);
