// Products [m, k] · [k, n] of the measured models. With m tokens: queries, keys and values in one,
// output, feed-forward layers. With m hypotheses: a decoder's step and the product with the
// vocabulary.
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

/** Returns the bytes of the right-hand side. */
export const bytesOf = ([, k, n], precision) => k * n * (precision === 'f32' ? 4 : 1);
