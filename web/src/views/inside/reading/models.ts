/** The models that the inside view can open. */

export const models = ['sentiment', 'en-de', 'en-fr', 'writer'] as const;
export type InsideModel = (typeof models)[number];
