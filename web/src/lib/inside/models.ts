/** The models that the inside view can open, and texts to start from. */

export const models = ['sentiment', 'en-de', 'en-fr', 'writer'] as const;
export type InsideModel = (typeof models)[number];

interface Example {
  name: string;
  text: string;
}

export const modelNames: Record<InsideModel, string> = {
  sentiment: 'Sentiment',
  'en-de': 'To German',
  'en-fr': 'To French',
  writer: 'Writer',
};

const translations: readonly Example[] = [
  { name: 'A train', text: 'The train arrives at seven.' },
  { name: 'Two meanings', text: 'She sat on the bank of the river.' },
  { name: 'Negation', text: 'I have not seen him today.' },
];

/** The first one is what a model starts with. */
export const insideExamples: Record<InsideModel, readonly Example[]> = {
  sentiment: [
    { name: 'Negation', text: 'The plot is not good.' },
    { name: 'Praise', text: 'A gripping, beautifully shot film.' },
    { name: 'Contrast', text: 'A great cast, but the script is dreadful.' },
    { name: 'Short', text: 'Meh.' },
  ],
  'en-de': translations,
  'en-fr': translations,
  writer: [
    { name: 'A film', text: 'This film is one of the' },
    { name: 'A complaint', text: 'It stopped working after two' },
    { name: 'A name', text: 'The director, Steven' },
  ],
};
