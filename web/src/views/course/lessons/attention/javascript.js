// In your own page: const model = await Classifier.load('models/sentiment', { compute: 'f32' });
const [layer, heads, width] = [1, 8, 16]; // layer 2: code counts from 0

export async function run(model, text) {
  const at = `encoder.layers.${layer}.self_attn`;
  const { tokens, trace } = await model.classify(text, { trace: [`${at}.q`, `${at}.k`] });
  const part = (name, token, head) => {
    const start = (token * heads + head) * width; // [tokens, heads, width]
    return trace[`${at}.${name}`].data.subarray(start, start + width);
  };
  const lines = [];
  for (let head = 0; head < heads; head++) {
    const largest = tokens.map((_, i) => {
      const q = part('q', i, head);
      const scores = tokens.map((_, j) => {
        const k = part('k', j, head);
        return q.reduce((sum, x, n) => sum + x * k[n], 0) / Math.sqrt(width);
      });
      const raised = scores.map((s) => Math.exp(s - Math.max(...scores)));
      const sum = raised.reduce((a, b) => a + b, 0);
      const most = raised.indexOf(Math.max(...raised));
      return `${tokens[i].text.trim()}→${tokens[most].text.trim()} ${(raised[most] / sum).toFixed(3)}`;
    });
    lines.push(`layer 2, head ${head + 1}: ${largest.join(', ')}`);
  }
  return lines;
}
