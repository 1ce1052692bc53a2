// In your own page: const model = await Classifier.load('models/sentiment', { compute: 'f32' });
export async function run(model, text) {
  const stops = ['encoder.embeddings', ...[0, 1, 2, 3].map((i) => `encoder.layers.${i}.output`)];
  const { trace, scores: own } = await model.classify(text, { trace: [...stops, 'pooled'] });
  const lines = [];
  // Logit lens: put each layer’s output in the place of the last one’s.
  for (const [i, stop] of stops.entries()) {
    const patch = [{ name: 'encoder.layers.3.output', value: trace[stop] }];
    const { scores } = await model.classify(text, { patch });
    const where = i === 0 ? 'embeddings' : `layer ${i}`;
    lines.push(`after ${where}: ${(100 * scores[1].score).toFixed(1)}% positive`);
  }
  // The last step by hand: logits = W · pooled + b.
  for (const [i, label] of ['negative', 'positive'].entries()) {
    const row = await model.weights.row('classifier.weight', i);
    const [bias] = await model.weights.row('classifier.bias', i);
    const logit = trace.pooled.data.reduce((sum, x, j) => sum + x * row[j], bias);
    lines.push(
      `logit of ${label}: ${logit.toFixed(4)}, the model’s own ${own[i].logit.toFixed(4)}`,
    );
  }
  return lines;
}
