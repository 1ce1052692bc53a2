/** The scores and logits of a classification. */
export interface Scored {
  readonly scores: Readonly<Record<string, number>>;
  readonly logits: Readonly<Record<string, number>>;
}

/** Whether scores are probabilities; the score of a model that estimates a quantity is its logit. */
export const areProbabilities = ({ scores, logits }: Scored): boolean =>
  Object.entries(scores).every(([label, score]) => score !== logits[label]);
