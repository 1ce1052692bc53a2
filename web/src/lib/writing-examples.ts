/** Beginnings of reviews, one for each thing worth seeing. */
export const writingExamples: readonly { name: string; text: string }[] = [
  { name: 'Any film', text: 'This film is' },
  { name: 'Praise', text: 'One of the best films of the year' },
  { name: 'A complaint', text: 'The acting was so bad that' },
  { name: 'A turn', text: 'I expected very little, but' },
  { name: 'A list', text: 'The script, the music, the' },
  { name: 'An open quote', text: 'The best line of the film is "' },
  { name: 'A family outing', text: 'I watched it with my children and' },
];
