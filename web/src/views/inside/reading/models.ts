/** The models that the inside view can open. */

export const models = ['sentiment', 'en-de', 'en-fr', 'writer'] as const;
export type InsideModel = (typeof models)[number];

export const modelNames: Record<InsideModel, string> = {
  sentiment: 'Sentiment',
  'en-de': 'To German',
  'en-fr': 'To French',
  writer: 'Writer',
};

/** Returns the kind of text that a model is made for. */
export const madeFor = (model: InsideModel): string =>
  model.startsWith('en-') ? 'plain sentences in English' : 'reviews in English';
