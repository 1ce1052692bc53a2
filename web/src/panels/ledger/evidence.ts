/**
 * Evidence is the last label's logit minus the mean of the other labels' logits: with two labels,
 * the log-odds of the last one. Positive numbers speak for the last label.
 */
import type { Classification } from 'glassformer';

/** `each` has a number per label. */
function lastAgainstOthers(each: readonly number[]): number {
  const last = each.at(-1)!;
  const others = each.slice(0, -1);
  if (others.length === 0) return last;
  return last - others.reduce((sum, other) => sum + other, 0) / others.length;
}

/** Returns the name of the evidence on the page. */
export function evidenceName(labels: readonly string[]): string {
  const last = `“${labels[labels.length - 1] ?? ''}”`;
  return labels.length === 2
    ? `the log-odds of ${last}`
    : `the logit of ${last} above the others’ mean`;
}

export function evidence({ scores }: Classification): number {
  return lastAgainstOthers(scores.map(({ logit }) => logit));
}

/** Returns each token's share of the evidence. Shares plus the classifier's bias add up to it. */
export function tokenEvidence({ tokens, contributions }: Classification): Float32Array {
  return Float32Array.from(tokens, (_, i) =>
    contributions ? lastAgainstOthers(contributions.map((ofLabel) => ofLabel[i]!)) : 0,
  );
}
