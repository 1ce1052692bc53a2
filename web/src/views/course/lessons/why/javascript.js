// In your own page: const model = await Classifier.load('models/sentiment', { compute: 'f32' });
const [layer, head, d, width] = [1, 5, 128, 16]; // layer 2, head 6: code counts from 0
const at = `encoder.layers.${layer}`;

export async function run(model, text) {
  const names = [`${at}.self_attn.q`, `${at}.input`, 'encoder.embed_tokens'];
  const { tokens, attention, trace } = await model.classify(text, {
    attention: true,
    trace: [...names, `${at}.self_attn.scores`],
  });
  const n = tokens.length;
  const weights = attention.encoder.at(layer, head);
  const others = weights.map((weight, at) => (n > 1 && at % (n + 1) === 0 ? 0 : weight));
  const best = others.indexOf(Math.max(...others)); // the largest at another token than its own
  const [i, j] = [Math.floor(best / n), best % n];
  const [q, stream, embedded] = names.map((name) => trace[name].data);

  // The spread of the key's row, which its parts are divided by, and γ of the layer norm.
  const x = stream.subarray(j * d, (j + 1) * d);
  const mean = (row) => row.reduce((sum, each) => sum + each, 0) / d;
  const spread = Math.sqrt(mean(x.map((each) => (each - mean(x)) ** 2)) + 1e-5);
  const gamma = [];
  for (let c = 0; c < d; c++)
    gamma.push((await model.weights.row(`${at}.self_attn_layer_norm.weight`, c))[0]);

  // What the key's own embedding puts into its key, times the query.
  const e = embedded.subarray(j * d, (j + 1) * d);
  const part = e.map((each, c) => ((each - mean(e)) / spread) * gamma[c]);
  let own = 0;
  for (let row = 0; row < width; row++) {
    const wk = await model.weights.row(`${at}.self_attn.k_proj.weight`, head * width + row);
    const k = wk.reduce((sum, w, c) => sum + w * part[c], 0);
    own += (q[(i * 8 + head) * width + row] * k) / Math.sqrt(width);
  }
  const score = trace[`${at}.self_attn.scores`].data[(head * n + i) * n + j];
  const [query, key] = [tokens[i].text.trim(), tokens[j].text.trim()];
  return [
    `“${query}” looks at “${key}” with the weight ${weights[best].toFixed(3)}`,
    `score: ${score.toFixed(2)}`,
    `of that, the token “${key}” itself: ${own.toFixed(2)}`,
  ];
}
