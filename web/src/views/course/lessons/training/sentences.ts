/** The sentences that the lesson's small model learns from, and those that it never sees. */
export interface Labeled {
  text: string;
  label: 'negative' | 'positive';
}

const labeled = (label: Labeled['label'], texts: readonly string[]): Labeled[] =>
  texts.map((text) => ({ text, label }));

export const training: readonly Labeled[] = [
  ...labeled('positive', [
    'A great film, I loved every minute.',
    'What a lovely story and a wonderful cast.',
    'I enjoyed it more than I expected.',
    'The music is beautiful and the ending moved me.',
    'Funny, warm and clever from start to end.',
    'One of the best films of the year.',
    'I laughed a lot and cried a little.',
    'The cast is great, and so is the script.',
    'Not perfect, but I would see it again.',
    'I did not expect such a good film.',
    'The plot is simple, but it works.',
    'Beautiful to look at and a joy to hear.',
  ]),
  ...labeled('negative', [
    'A dull film, I hated every minute.',
    'What a silly story and a terrible cast.',
    'I expected more than this boring mess.',
    'The music is loud and the ending annoyed me.',
    'Slow, cold and stupid from start to end.',
    'One of the worst films of the year.',
    'I laughed once and slept a lot.',
    'The cast is good, but the script is bad.',
    'Not a film that I would see again.',
    'I did not enjoy a single scene.',
    'The plot is clever, but nothing works.',
    'Painful to look at and a bore to hear.',
  ]),
];

export const heldOut: readonly Labeled[] = [
  ...labeled('positive', [
    'I loved the story and the music.',
    'The best cast of the year.',
    'A clever script and a lovely ending.',
    'I would see this film again.',
    'The film is funny and the music is great.',
    'It moved me, and I enjoyed every scene.',
  ]),
  ...labeled('negative', [
    'I hated the story and the music.',
    'The worst script of the year.',
    'A stupid plot and a terrible ending.',
    'I would not see this film again.',
    'The film is slow and the music is bad.',
    'It annoyed me, and I slept a lot.',
  ]),
];
