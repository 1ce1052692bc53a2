// The lowest time of a model at the machine's peak.

/**
 * Counts the operations of an answer: `products` of many rows, and `steps` of a decoder, each with
 * `rows` hypotheses and its operations per row. A multiply-add counts as two.
 */
export function operationsOf(config, { tokens, output_tokens: steps = 0, beams = 0 }) {
  const { d_model: d, d_ff: f, encoder_layers: encoders, decoder_layers: decoders = 0 } = config;
  const layer = tokens * (4 * d * d + 2 * d * f + 2 * tokens * d);
  const crossKeysAndValues = tokens * 2 * d * d;
  // Self-attention, cross-attention without keys and values, feed-forward, vocabulary.
  const step = decoders * (4 * d * d + 2 * d * d + 2 * d * f) + d * (config.target_vocab_size ?? 0);
  return {
    products: 2 * (encoders * layer + decoders * crossKeysAndValues),
    steps,
    rows: beams,
    step: 2 * step,
  };
}

/**
 * Returns the milliseconds at the peak of peak.cpp. Products of many rows run as fast as a tile. A
 * decoder's step cannot be faster than its weights are read, once for all rows, from the memory
 * level of the largest matrix.
 */
export function ceilingOf({ products, steps, rows, step }, { tile, stream, precision }) {
  const bytes = precision === 'f32' ? 12_288_000 : 3_072_000; // the vocabulary's product
  const atRate = (operations, rate) => operations / rate / 1e6;
  const perStep = Math.max(atRate(step, stream[bytes]), atRate(step * rows, tile));
  return atRate(products, tile) + steps * perStep;
}
