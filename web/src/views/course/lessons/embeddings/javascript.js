// In your own page: const model = await Classifier.load('models/sentiment', { compute: 'f32' });
export async function run(model, text) {
  const { tokens } = await model.classify(text);
  const row = (id) => model.weights.row('encoder.embed_tokens.weight', id);
  const length = (v) => Math.hypot(...v);
  const cosine = (a, b) => a.reduce((sum, x, i) => sum + x * b[i], 0) / length(a) / length(b);

  const rows = await Promise.all(tokens.map(({ id }) => row(id)));
  const lines = tokens.map(
    ({ text: token }, i) =>
      `${token.trim()}: length × √d = ${(length(rows[i]) * Math.sqrt(128)).toFixed(2)}`,
  );
  // How alike are the tokens of this sentence?
  for (let i = 1; i < tokens.length; i++) {
    const both = `${tokens[i - 1].text.trim()} / ${tokens[i].text.trim()}`;
    lines.push(`cosine of ${both}: ${cosine(rows[i - 1], rows[i]).toFixed(2)}`);
  }
  return lines;
}
