// In your own page: const model = await Classifier.load('models/sentiment', { compute: 'f32' });
const softmax = (scores) => {
  const most = Math.max(...scores); // subtracted so that e^x stays finite
  const raised = scores.map((s) => Math.exp(s - most));
  const sum = raised.reduce((a, b) => a + b, 0);
  return raised.map((each) => each / sum);
};

export async function run(model, text) {
  const names = [0, 1, 2, 3].map((layer) => `encoder.layers.${layer}.self_attn.scores`);
  const { tokens, trace } = await model.classify(text, { trace: names });
  const lines = [];
  // The largest weight of each token in each head, with the division by √16 and without.
  for (const [layer, name] of names.entries()) {
    const [heads, n] = trace[name].shape;
    for (let head = 0; head < heads; head++) {
      const largest = tokens.map((_, query) => {
        const start = (head * n + query) * n;
        const scores = [...trace[name].data.subarray(start, start + n)]; // already ÷ 4
        const [now, then] = [softmax(scores), softmax(scores.map((s) => s * 4))];
        return `${Math.max(...now).toFixed(2)}→${Math.max(...then).toFixed(2)}`;
      });
      lines.push(`layer ${layer + 1}, head ${head + 1}: ${largest.join(' ')}`);
    }
  }
  return lines;
}
