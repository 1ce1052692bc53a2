/** Ranks, and how alike two of them are. */

/** Returns the rank of each value, 1 for the largest; equal values share the mean of their ranks. */
export function ranksOf(values: ArrayLike<number>): number[] {
  const all = Array.from(values);
  return all.map((value) => {
    const larger = all.filter((other) => other > value).length;
    const equal = all.filter((other) => other === value).length;
    return larger + (equal + 1) / 2;
  });
}

/** Returns the correlation of two lists of numbers, or 0 if one of them is constant. */
function correlation(a: readonly number[], b: readonly number[]): number {
  const mean = (values: readonly number[]) =>
    values.reduce((sum, each) => sum + each, 0) / values.length;
  const [meanA, meanB] = [mean(a), mean(b)];
  let [product, squaresA, squaresB] = [0, 0, 0];
  for (let i = 0; i < a.length; i++) {
    product += (a[i]! - meanA) * (b[i]! - meanB);
    squaresA += (a[i]! - meanA) ** 2;
    squaresB += (b[i]! - meanB) ** 2;
  }
  const both = Math.sqrt(squaresA * squaresB);
  return both > 0 ? product / both : 0;
}

/** Returns Spearman's rank correlation, from −1 to 1. */
export const rankCorrelation = (a: ArrayLike<number>, b: ArrayLike<number>): number =>
  correlation(ranksOf(a), ranksOf(b));
