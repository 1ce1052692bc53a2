/** Two texts that differ in little, to be set beside each other. */
export interface TextPair {
  name: string;
  base: string;
  donor: string;
}

/** One word's change turns another word of the translation. */
export const translationPairs: readonly TextPair[] = [
  {
    name: 'The article',
    base: 'I sat down on the bank of the river.',
    donor: 'I sat down on the bank of the city.',
  },
  { name: 'My', base: 'My brother is a doctor.', donor: 'My sister is a doctor.' },
  { name: 'The animal', base: 'The dog sleeps.', donor: 'The cat sleeps.' },
  { name: 'Not', base: 'He is not my friend.', donor: 'He is my friend.' },
];

/** Another word comes next. */
export const writingPairs: readonly TextPair[] = [
  { name: 'A problem', base: 'This film is', donor: 'The problem is' },
  {
    name: 'He or she',
    base: 'The hero of the film is a young man, and',
    donor: 'The hero of the film is a young woman, and',
  },
  { name: 'One actor', base: 'The actors in this film', donor: 'The actor in this film' },
  { name: 'Neither', base: 'The film is neither funny', donor: 'The film is funny' },
];
