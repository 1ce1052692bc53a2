/** The methods to score a text's tokens that the sentiment view compares. */
import type { Classification, Explanations } from 'glassformer';
import {
  ledgerRead,
  rowSums,
  scoringMethods,
  valueMethods,
  type Method,
} from '../../../panels/methods/methods.ts';
import { finelySigned, signed } from '../../../ui/text/format.ts';

/** The results that scores are computed from. */
export interface Findings {
  ledger: Explanations['direct_logit_attribution'];
  valueNorms: Explanations['value_norms'];
  valueZeroing: Explanations['value_zeroing'];
  rollout: Explanations['rollout'];
  gradientTimesInput: Explanations['gradient_times_input'];
  integratedGradients: Explanations['integrated_gradients'];
  relevance: Explanations['relevance'];
  attnLrp: Explanations['attn_lrp'];
  cpLrp: Explanations['cp_lrp'];
  /** The classification with its attention weights. */
  result: Classification<{ attention: true }>;
}

interface Scoring extends Method {
  /** One score per token, for the explained answer. */
  scores: (findings: Findings) => Float32Array;
  /** How exact the scores are, if they are approximate. */
  exactness?: (findings: Findings) => string;
}

/** What rules pass back, beside the number. */
const passedBack = ({ scores, value }: Pick<Explanations['attn_lrp'], 'scores' | 'value'>) =>
  `the scores sum to ${signed(scores.reduce((sum, score) => sum + score, 0))}, the number is ${signed(value)}`;

/** The methods in the order of the page. */
export const scorings: readonly Scoring[] = [
  { ...ledgerRead, scores: ({ ledger }) => rowSums(ledger.read) },
  {
    name: 'Ledger, row written',
    note: 'its share of the sum, counted where it was written',
    signed: true,
    scores: ({ ledger }) => rowSums(ledger.written),
  },
  {
    ...scoringMethods.gradient_times_input,
    scores: ({ gradientTimesInput }) => Float32Array.from(gradientTimesInput.scores),
  },
  {
    ...scoringMethods.integrated_gradients,
    scores: ({ integratedGradients }) => Float32Array.from(integratedGradients.scores),
    exactness: ({ integratedGradients: { value, baseline, gap, steps } }) =>
      `gap ${finelySigned(gap)}: apart from it, the scores of ${steps} steps sum to ` +
      `${signed(value - baseline)}, the change from zeros to this text`,
  },
  {
    ...scoringMethods.relevance,
    scores: ({ relevance }) => Float32Array.from(relevance.scores),
  },
  {
    ...scoringMethods.attn_lrp,
    scores: ({ attnLrp }) => Float32Array.from(attnLrp.scores),
    exactness: ({ attnLrp }) => passedBack(attnLrp),
  },
  {
    ...scoringMethods.cp_lrp,
    scores: ({ cpLrp }) => Float32Array.from(cpLrp.scores),
    exactness: ({ cpLrp }) => passedBack(cpLrp),
  },
  { ...scoringMethods.rollout, scores: ({ rollout }) => Float32Array.from(rollout.scores) },
  {
    ...valueMethods.value_norms,
    scores: ({ valueNorms }) => Float32Array.from(valueNorms.scores),
  },
  {
    ...scoringMethods.value_zeroing,
    scores: ({ valueZeroing }) => Float32Array.from(valueZeroing.scores),
  },
  {
    name: 'Last attention',
    note: 'attention received in the last layer, mean of its heads',
    signed: false,
    scores: ({ result }) => received(result, result.attention.encoder.layers - 1),
  },
  {
    name: 'All attention',
    note: 'attention received, mean of all layers and heads',
    signed: false,
    scores: ({ result }) => received(result, 0),
  },
];

/** Returns the mean attention weight that each token receives, from layer `first` on. */
function received({ attention }: Classification<{ attention: true }>, first: number): Float32Array {
  const { layers, heads, keys, queries } = attention.encoder;
  const sums = new Float32Array(keys);
  const share = 1 / ((layers - first) * heads * queries);
  for (let layer = first; layer < layers; layer++)
    for (let head = 0; head < heads; head++)
      attention.encoder.at(layer, head).forEach((weight, i) => (sums[i % keys]! += weight * share));
  return sums;
}
