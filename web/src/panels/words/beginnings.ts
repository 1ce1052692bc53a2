/** Beginnings of reviews, each with a fitting next word and one that does not fit. */
export const beginnings: readonly (readonly [text: string, fits: string, not: string])[] = [
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
];
