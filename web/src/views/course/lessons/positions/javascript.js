// In your own page: const model = await Classifier.load('models/sentiment', { compute: 'f32' });
const d = 128;
const encoding = (t, i) => {
  const angle = t / 10000 ** ((2 * Math.floor(i / 2)) / d);
  return i % 2 === 0 ? Math.sin(angle) : Math.cos(angle);
};

export async function run(model, text) {
  const name = 'encoder.embed_positions';
  const { tokens, trace } = await model.classify(text, { trace: [name] });
  const lines = tokens.map((token, t) => {
    const first = [0, 1, 2, 3].map((i) => encoding(t, i).toFixed(4));
    return `position ${t + 1} (${token.text.trim()}): ${first.join(' ')} …`;
  });
  const errors = [...trace[name].data].map((p, at) =>
    Math.abs(p - encoding(Math.floor(at / d), at % d)),
  );
  lines.push(`largest difference from the model’s own: ${Math.max(...errors).toExponential(1)}`);

  // Without positions, order is lost: reverse the words, and nothing changes.
  const off = [{ name, value: 0 }];
  const { scores } = await model.classify(text, { patch: off });
  lines.push(`positive without positions: ${(100 * scores[1].score).toFixed(1)}%`);
  return lines;
}
