/** Everyday sentences to translate. */
export const sentences: readonly string[] = [
  'The dog sleeps in the kitchen.',
  'A man in a red shirt is riding a bicycle.',
  'We have lost our key.',
  "I don't know what to say.",
  'My sister is a doctor.',
  'Two children are playing in the snow.',
  'She reads a book in the garden.',
  'The train was late again.',
  'He did not call me yesterday.',
  'Can you help me, please?',
  'The houses are old but beautiful.',
  'They want to go home.',
  'I will come if it does not rain.',
  'The woman who lives next door is a teacher.',
  'There is no milk in the fridge.',
  'He gave his brother the money.',
];
