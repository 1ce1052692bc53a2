/** Texts to start from, one for each thing worth seeing. */
export const translationExamples: readonly { name: string; text: string }[] = [
  { name: 'A picture', text: 'A man in a red shirt is riding a bicycle.' },
  { name: 'Word order', text: 'We have lost our key.' },
  { name: 'Two clauses', text: "I don't know what to say." },
  { name: 'Two meanings', text: 'I saw him on the bank yesterday.' },
  { name: 'He or she', text: 'My sister is a doctor.' },
  { name: 'In haste', text: 'i dont know what to do' },
  {
    name: 'Several sentences',
    text: 'Two children are playing in the snow. It is cold. They want to go home.',
  },
];
