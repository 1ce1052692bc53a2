/** The alignment of two texts' tokens, for patching vectors of one into the other. */

interface Identified {
  id: number;
}

export interface TokenPairs {
  /** The donor's token for each of the base's tokens; null if it has no counterpart. */
  donorOf: (number | null)[];
  /** The position of each token, the same for both of a pair. */
  baseColumns: number[];
  donorColumns: number[];
}

/** Aligns the longest common subsequence; between its tokens, runs of equal length, in order. */
export function pairTokens(base: readonly Identified[], donor: readonly Identified[]): TokenPairs {
  const donorOf: (number | null)[] = base.map(() => null);
  const baseColumns: number[] = [];
  const donorColumns: number[] = [];
  let column = 0;
  let [i, j] = [0, 0];
  for (const [toBase, toDonor] of [...commonTokens(base, donor), [base.length, donor.length]]) {
    const [own, others] = [toBase! - i, toDonor! - j];
    if (own === others) {
      for (let k = 0; k < own; k++) donorOf[i + k] = j + k;
      for (let k = 0; k < own; k++) baseColumns[i + k] = donorColumns[j + k] = column++;
    } else {
      for (let k = 0; k < own; k++) baseColumns[i + k] = column++;
      for (let k = 0; k < others; k++) donorColumns[j + k] = column++;
    }
    if (toBase! < base.length) {
      donorOf[toBase!] = toDonor!;
      baseColumns[toBase!] = donorColumns[toDonor!] = column++;
    }
    [i, j] = [toBase! + 1, toDonor! + 1];
  }
  return { donorOf, baseColumns, donorColumns };
}

/**
 * Aligns two beginnings. Their last tokens are always counterparts, because the next token is
 * predicted there.
 */
export function pairBeginnings(
  base: readonly Identified[],
  donor: readonly Identified[],
): TokenPairs {
  if (base.length === 0 || donor.length === 0) return pairTokens(base, donor);
  const { donorOf, baseColumns, donorColumns } = pairTokens(base.slice(0, -1), donor.slice(0, -1));
  const last = Math.max(-1, ...baseColumns, ...donorColumns) + 1;
  return {
    donorOf: [...donorOf, donor.length - 1],
    baseColumns: [...baseColumns, last],
    donorColumns: [...donorColumns, last],
  };
}

/** Returns the longest common subsequence as positions in both, in order. */
function commonTokens(a: readonly Identified[], b: readonly Identified[]): [number, number][] {
  const width = b.length + 1;
  /** The number of common tokens from i and j on. */
  const counts = new Uint16Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      counts[i * width + j] =
        a[i]!.id === b[j]!.id
          ? counts[(i + 1) * width + j + 1]! + 1
          : Math.max(counts[(i + 1) * width + j]!, counts[i * width + j + 1]!);
  const places: [number, number][] = [];
  for (let i = 0, j = 0; i < a.length && j < b.length;) {
    if (a[i]!.id === b[j]!.id) places.push([i++, j++]);
    else if (counts[(i + 1) * width + j]! >= counts[i * width + j + 1]!) i++;
    else j++;
  }
  return places;
}
