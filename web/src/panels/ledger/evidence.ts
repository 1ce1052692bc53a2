/**
 * Evidence is the last label's logit minus the mean of the other labels' logits: with two labels,
 * the log-odds of the last one. Positive numbers speak for the last label.
 */
import type { Classification } from 'glassformer';

function lastAgainstOthers(labels: readonly string[], of: (label: string) => number): number {
  const last = labels[labels.length - 1]!;
  const others = labels.slice(0, -1);
  if (others.length === 0) return of(last);
  return of(last) - others.reduce((sum, label) => sum + of(label), 0) / others.length;
}

/** Returns the name of the evidence on the page. */
export function evidenceName(labels: readonly string[]): string {
  const last = `“${labels[labels.length - 1] ?? ''}”`;
  return labels.length === 2
    ? `the log-odds of ${last}`
    : `the logit of ${last} above the others’ mean`;
}

export function evidence({ logits }: Classification, labels: readonly string[]): number {
  return lastAgainstOthers(labels, (label) => logits[label] ?? 0);
}

/** Returns each token's share of the evidence. Shares plus the classifier's bias add up to it. */
export function tokenEvidence(result: Classification, labels: readonly string[]): Float32Array {
  return Float32Array.from(result.tokens, (_, i) =>
    lastAgainstOthers(labels, (label) => result.contributions?.[label]?.[i] ?? 0),
  );
}
