/** Two texts that differ in little, to be set beside each other. */
export interface TextPair {
  name: string;
  base: string;
  donor: string;
}
