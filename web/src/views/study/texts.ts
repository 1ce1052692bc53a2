/** The lists that a study begins with. */
import { probes } from '../../panels/verdict/probes.ts';

/** The probes: in turn a positive and a negative one. */
export const shippedReviews = probes
  .map((text, i) => `${i % 2 === 0 ? 'positive' : 'negative'}\t${text}`)
  .join('\n');

/** Beginnings with a good and a bad next word. */
export const shippedBeginnings = [
  ['I loved this film. The acting was', 'great', 'terrible'],
  ['I hated this film. The acting was', 'terrible', 'great'],
  ['One of the best movies I have ever seen. The story is', 'great', 'bad'],
  ['One of the worst movies I have ever seen. The story is', 'bad', 'great'],
  ['A wonderful cast and a script that is', 'good', 'bad'],
  ['A terrible cast and a script that is', 'bad', 'good'],
  ['It made me laugh from start to finish. I', 'loved', 'hated'],
  ['It bored me from start to finish. I', 'hated', 'loved'],
  ['Do not waste your time. This movie is', 'terrible', 'wonderful'],
  ['Do not miss it. This movie is', 'wonderful', 'terrible'],
  ['The music is beautiful and the ending is', 'perfect', 'awful'],
  ['The music is annoying and the ending is', 'awful', 'perfect'],
  ['I would recommend it to everyone. It is a', 'great', 'bad'],
  ['I would not recommend it to anyone. It is a', 'bad', 'great'],
  ['My whole family enjoyed it. A very', 'good', 'bad'],
  ['My whole family fell asleep. A very', 'bad', 'good'],
]
  .map((line) => line.join('\t'))
  .join('\n');

export const shippedSentences = [
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
].join('\n');
