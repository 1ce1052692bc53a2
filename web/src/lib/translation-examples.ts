/** Sentences to start from, one for each thing worth seeing. */
export const translationExamples: readonly { name: string; text: string }[] = [
  { name: 'A question', text: 'Could you tell me where the station is?' },
  { name: 'Word order', text: 'I have not seen him since he moved to Berlin.' },
  { name: 'Split verb', text: 'The train arrives at seven, so please call me.' },
  { name: 'Two meanings', text: 'She sat on the bank of the river and counted her money.' },
  { name: 'He or she', text: 'The doctor asked the nurse to help her.' },
  {
    name: 'Several sentences',
    text: 'It was raining. We stayed at home and played cards. Nobody was bored!',
  },
];
