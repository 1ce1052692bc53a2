// Texts to learn from, and trainers, which the tests of this folder share.

import { after } from 'node:test';
import { Trainer } from '../support/helpers.mjs';

const texts = {
  good: ['a fine film', 'great acting and a story', 'I loved it', 'moving', 'a joy to watch'],
  bad: ['a dull film', 'bad acting and no story', 'I hated it', 'boring', 'a pain to watch'],
};
export const examples = Object.entries(texts).flatMap(([label, some]) =>
  some.map((text) => ({ text, label })),
);
/** The configuration of a new model. */
export const tiny = { encoder_layers: 1, d_model: 16, d_ff: 32, n_heads: 2 };
export const quick = { heldOut: 0, dropout: 0, smoothing: 0, rate: 0.02, vocabulary: 60 };

/** Returns the examples as LABEL<TAB>TEXT lines. */
export const toLines = (some) => some.map(({ text, label }) => `${label}\t${text}\n`).join('');

/** Makes a trainer that the end of the test disposes of. */
export async function make(start = tiny, data = examples, options = quick) {
  const trainer = await Trainer.from(start, data, options);
  after(() => trainer.dispose());
  return trainer;
}

/** Trains, and resolves to all steps. */
export async function trained(trainer, options) {
  const steps = [];
  for await (const step of trainer.train(options)) steps.push(step);
  return steps;
}
