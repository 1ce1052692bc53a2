import {
  Classifier,
  GlassformerError,
  type AttentionMap,
  type Classification,
  type Explanations,
} from 'glassformer';
import { ExplainingModel } from '../../../../models/explaining-model.svelte.ts';
import { indexOfLargest, labelsOf } from '../../pictures/vectors.ts';
import { rankCorrelation, ranksOf } from './ranks.ts';

/** The methods of the control. */
export const methods = [
  { name: 'last attention', says: 'attention received in the last layer, mean of its heads' },
  { name: 'all attention', says: 'attention received, mean of all layers and heads' },
  { name: 'rollout', says: 'attention weights multiplied through the layers' },
  {
    name: 'gradient × input',
    says: 'how much the answer changes with each number of the embedding, times that number',
  },
  { name: 'relevance', says: 'attention weights times their gradients, through the layers' },
] as const;

export interface ExplanationLive {
  labels: readonly string[];
  method: number;
  /** The answer whose reasons are asked for. */
  answer: string;
  probability: number;
  /** One score per token by the method, and its size relative to the largest. */
  scores: readonly number[];
  sizes: readonly number[];
  /** The log-odds of the answer with each token minus without it. */
  effects: readonly number[];
  /** The ranks by size, 1 for the largest. */
  byMethod: readonly number[];
  byEffect: readonly number[];
  /** The rank correlation of the sizes, and that of the last layer's attention. */
  rho: number;
  rhoOfAttention: number;
  /** The token with the most attention in the last layer, and its rank when left out. */
  most: number;
  /** The test of the method's order of words; undefined for a text of one word. */
  test: Explanations['faithfulness'] | undefined;
}

/** The binary with gradients is large: it is fetched for this lesson only. */
const explaining = new ExplainingModel(Classifier, undefined);

/** Returns the mean attention that each token receives, from layer `first` on. */
export function received(map: AttentionMap, first: number): number[] {
  const sums = Array.from({ length: map.keys }, () => 0);
  const share = 1 / ((map.layers - first) * map.heads * map.queries);
  for (let layer = first; layer < map.layers; layer++)
    for (let head = 0; head < map.heads; head++)
      map.at(layer, head).forEach((weight, i) => (sums[i % map.keys]! += weight * share));
  return sums;
}

/** Returns the log-odds of a label against the other one. */
const logOdds = ({ scores }: Pick<Classification, 'scores'>, label: string) =>
  scores.reduce((sum, each) => (each.label === label ? sum + each.logit : sum - each.logit), 0);

/** What does not depend on the method, for the last text. */
interface Reference {
  text: string;
  result: Classification<{ attention: true }>;
  effects: readonly number[];
  /** The scores of random orders, once they were tested. */
  random?: Explanations['faithfulness']['random'];
}
let reference: Reference | undefined;

async function referenceFor(
  model: Classifier,
  text: string,
  signal: AbortSignal,
): Promise<Reference> {
  if (reference?.text === text) return reference;
  const result = await model.classify(text, { attention: true, signal });
  const { label, tokens } = result;
  const whole = logOdds(result, label);
  // A text of one token can't be read without it.
  const effects =
    tokens.length < 2
      ? [whole]
      : await Promise.all(
          tokens.map(
            async (_, i) =>
              whole - logOdds(await model.classify(text, { maskTokens: [i], signal }), label),
          ),
        );
  return (reference = { text, result, effects });
}

export async function readExplanation(
  model: Classifier,
  text: string,
  method: number,
  signal: AbortSignal,
): Promise<ExplanationLive> {
  const known = await referenceFor(model, text, signal);
  const { result, effects } = known;
  const { label, tokens, attention } = result;
  const explainer = await explaining.get('sentiment');
  if (!explainer) throw new GlassformerError('fetch_failed', 'the binary with gradients');

  const map = attention.encoder;
  const last = received(map, map.layers - 1);
  const scoresOf = async (): Promise<readonly number[]> => {
    if (method === 1) return received(map, 0);
    if (method === 2) return (await explainer.explain(text, { method: 'rollout', signal })).scores;
    if (method === 3)
      return (await explainer.explain(text, { method: 'gradient_times_input', signal })).scores;
    if (method === 4)
      return (await explainer.explain(text, { method: 'relevance', signal })).scores;
    return last;
  };
  const scores = await scoresOf();
  const test = await explainer
    .explain<'faithfulness'>(text, {
      method: 'faithfulness',
      scores: Float32Array.from(scores),
      orders: known.random ? 0 : 20,
      signal,
    })
    .then((found) => ({ ...found, random: (known.random ??= found.random) }))
    .catch((error: unknown) => {
      if (error instanceof GlassformerError && error.code === 'invalid_option') return undefined;
      throw error;
    });

  const absolute = (values: readonly number[]) => values.map(Math.abs);
  const sizes = absolute(scores);
  const largest = Math.max(1e-12, ...sizes);
  const byEffect = ranksOf(absolute(effects));
  return {
    labels: labelsOf(text, tokens),
    method,
    answer: label,
    probability: result.score,
    scores,
    sizes: sizes.map((size) => size / largest),
    effects,
    byMethod: ranksOf(sizes),
    byEffect,
    rho: rankCorrelation(sizes, absolute(effects)),
    rhoOfAttention: rankCorrelation(last, absolute(effects)),
    most: indexOfLargest(last),
    test,
  };
}

/** Where the rank of the token with the most attention is: the choices, and the right one. */
export const choices = [
  'first',
  'second or third',
  'after that, in the upper half',
  'in the lower half',
];
export function rightChoice({ byEffect, most }: ExplanationLive): number {
  const rank = byEffect[most]!;
  if (rank < 1.5) return 0;
  if (rank <= 3) return 1;
  return rank <= byEffect.length / 2 ? 2 : 3;
}
