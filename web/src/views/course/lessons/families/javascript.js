// In your own page: const model = await Classifier.load('models/sentiment', { compute: 'f32' });
export async function run(model, text) {
  const { dModel: d, layers } = model.architecture.encoder;
  const { dFf, dHead } = layers[0];
  const { tokens } = await model.classify(text);
  const lines = [];
  for (const n of [tokens.length, 16, 32, 64, 128, 256, 512]) {
    const rest = n * (4 * d * d + 2 * d * dFf); // products with weights
    const full = 2 * n * n * d;
    const linear = 2 * n * d * (dHead + 1);
    const share = Math.round((100 * full) / (full + rest));
    const long = Array.from({ length: n }, () => 'good').join(' '); // one token each
    await model.classify(long);
    const start = performance.now();
    await model.classify(long);
    const time = (performance.now() - start).toFixed(1);
    lines.push(
      `${n} tokens: ${time} ms; attention ${share}% of the products, ${full} or linear ${linear}`,
    );
  }
  lines.push(`half of the products are attention’s at ${2 * d + dFf} tokens`);
  return lines;
}
