// In your own page: const model = await Classifier.load('models/sentiment', { compute: 'f32' });
const [heads, width, d] = [8, 16, 128];
const at = 'encoder.layers.0.self_attn'; // layer 1: code counts from 0

export async function run(model, text) {
  const { tokens, trace } = await model.classify(text, { trace: [`${at}.context`] });
  const W = await Promise.all(
    Array.from({ length: d }, (_, i) => model.weights.row(`${at}.out_proj.weight`, i)),
  );
  const lines = ['length of what heads 1 to 8 add to each token:'];
  for (const [t, token] of tokens.entries()) {
    const z = trace[`${at}.context`].data.subarray(t * d, (t + 1) * d); // heads concatenated
    const lengths = Array.from({ length: heads }, (_, head) => {
      const part = W.map((row) => {
        let sum = 0;
        for (let j = head * width; j < (head + 1) * width; j++) sum += row[j] * z[j];
        return sum;
      });
      return Math.hypot(...part).toFixed(2);
    });
    lines.push(`${token.text.trim()}: ${lengths.join(' ')}`);
  }
  // Switch one head off, as in the picture:
  for (let head = 0; head < heads; head++) {
    const ablate = [{ attention: 'encoder', layer: 0, head }];
    const { scores } = await model.classify(text, { ablate });
    lines.push(`without head ${head + 1}: ${(100 * scores[1].score).toFixed(1)}% positive`);
  }
  return lines;
}
