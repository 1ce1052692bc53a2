/** Two texts with a small difference, to compare. */
export interface TextPair {
  name: string;
  base: string;
  donor: string;
}
