import type { LabelScore } from 'glassformer';

/** The labels of a classification. */
export interface Scored {
  readonly scores: readonly LabelScore[];
}

/** Whether scores are probabilities; the score of a model that estimates a quantity is its logit. */
export const areProbabilities = ({ scores }: Scored): boolean =>
  scores.every(({ score, logit }) => score !== logit);
