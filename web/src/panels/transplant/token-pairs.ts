/** Which of a text's tokens stand for which of another's: what transplants go between. */

interface Identified {
  id: number;
}

export interface TokenPairs {
  /** Of each of the base's tokens, the donor's; null where it has none. */
  donorOf: (number | null)[];
  /** The position that each is given, the same for both of a pair. */
  baseColumns: number[];
  donorColumns: number[];
}

/** Same tokens first, the most of them; between them as many against as many, in order. */
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
 * Of two beginnings: the last tokens stand for each other, whatever they are, as what comes next is
 * told in their places.
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

/** The longest common subsequence: places in both, in order. */
function commonTokens(a: readonly Identified[], b: readonly Identified[]): [number, number][] {
  const width = b.length + 1;
  /** Of what is left from i and j on, how many are common. */
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
