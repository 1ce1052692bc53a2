// In your own page: const model = await Classifier.load('models/sentiment', { compute: 'f32' });
export async function run(model, text) {
  const names = [0, 1, 2, 3].map((layer) => `encoder.layers.${layer}.fc1`);
  const { tokens, trace } = await model.classify(text, { trace: names });
  const lines = ['active hidden units of 512 in layers 1 to 4, and the largest in layer 1:'];
  for (const [t, token] of tokens.entries()) {
    const rows = names.map((name) => [...trace[name].data.subarray(t * 512, (t + 1) * 512)]);
    const active = rows.map((row) => row.filter((value) => value > 0).length);
    const largest = rows[0].indexOf(Math.max(...rows[0])) + 1;
    lines.push(`${token.text.trim()}: ${active.join(' ')}, unit ${largest}`);
  }
  // Switch the largest unit of each token in layer 1 off.
  const value = { ...trace[names[0]], data: trace[names[0]].data.slice() };
  for (let t = 0; t < tokens.length; t++) {
    const row = value.data.subarray(t * 512, (t + 1) * 512);
    row[row.indexOf(Math.max(...row))] = 0;
  }
  const { scores } = await model.classify(text, { patch: [{ name: names[0], value }] });
  lines.push(`without these units: ${(100 * scores[1].score).toFixed(1)}% positive`);
  return lines;
}
