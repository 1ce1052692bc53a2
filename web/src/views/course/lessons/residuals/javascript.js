// In your own page: const model = await Classifier.load('models/sentiment', { compute: 'f32' });
const d = 128;

export async function run(model, text) {
  const names = ['encoder.layers.0.input'];
  for (const layer of [0, 1, 2, 3]) {
    names.push(`encoder.layers.${layer}.self_attn.residual`, `encoder.layers.${layer}.output`);
  }
  const { tokens, trace } = await model.classify(text, { trace: names });
  const lines = ['length of each token’s vector, from the embedding to the last layer:'];
  for (const [t, token] of tokens.entries()) {
    const lengths = names.map((name) =>
      Math.hypot(...trace[name].data.subarray(t * d, (t + 1) * d)).toFixed(1),
    );
    lines.push(`${token.text.trim()}: ${lengths.join(' ')}`);
  }
  // Without the residual connection of attention in one layer, only the change is left.
  for (const layer of [0, 1, 2, 3]) {
    const at = `encoder.layers.${layer}.self_attn`;
    const before = await model.classify(text, { trace: [`${at}.output`] });
    const patch = [{ name: `${at}.residual`, value: before.trace[`${at}.output`] }];
    const { scores } = await model.classify(text, { patch });
    lines.push(`without it in layer ${layer + 1}: ${(100 * scores[1].score).toFixed(1)}% positive`);
  }
  return lines;
}
