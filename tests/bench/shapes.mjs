// Products [m, k] · [k, n] of the models that are measured, m tokens at a time: queries, keys and
// values in one, output, feed-forward layers; a decoder's step and the vocabulary's product, m hypotheses.
export const shapes = [
  [64, 128, 384],
  [64, 128, 512],
  [64, 512, 128],
  [64, 256, 768],
  [64, 512, 1536],
  [64, 512, 2048],
  [64, 2048, 512],
  [4, 256, 12000],
  [1, 256, 768],
  [1, 256, 12000],
];

export const precisions = ['f32', 'int8'];

/** What the right-hand side takes. */
export const bytesOf = ([, k, n], precision) => k * n * (precision === 'f32' ? 4 : 1);
