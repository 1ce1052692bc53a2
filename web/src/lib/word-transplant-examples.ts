/** Two sentences of which one word's change turns another word of the translation. */
export const wordTransplantExamples = [
  {
    name: 'The article',
    base: 'I sat down on the bank of the river.',
    donor: 'I sat down on the bank of the city.',
  },
  { name: 'My', base: 'My brother is a doctor.', donor: 'My sister is a doctor.' },
  { name: 'The animal', base: 'The dog sleeps.', donor: 'The cat sleeps.' },
  { name: 'Not', base: 'He is not my friend.', donor: 'He is my friend.' },
] as const;
