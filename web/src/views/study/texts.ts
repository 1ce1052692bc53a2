/** The lists that a study begins with. */
import { sentences } from '../../panels/alignment/sentences.ts';
import { probes } from '../../panels/verdict/probes.ts';
import { beginnings } from '../../panels/words/beginnings.ts';

/** The probes: in turn a positive and a negative one. */
export const shippedReviews = probes
  .map((text, i) => `${i % 2 === 0 ? 'positive' : 'negative'}\t${text}`)
  .join('\n');

/** Beginnings with a good and a bad next word. */
export const shippedBeginnings = beginnings.map((line) => line.join('\t')).join('\n');

export const shippedSentences = sentences.join('\n');
