// In your own page: const model = await Classifier.load('models/sentiment', { compute: 'f32' });
const ranks = (values) => values.map((x) => 1 + values.filter((other) => other > x).length);

export async function run(model, text) {
  const { label, tokens, scores, attention } = await model.classify(text, { attention: true });
  const { id } = scores.find((each) => each.label === label);
  const logOdds = (each) => each[id].logit - each[1 - id].logit; // of two labels
  const whole = logOdds(scores);
  const { encoder: map } = attention;
  const n = map.keys;

  const received = tokens.map(() => 0); // in the last layer, mean of heads and queries
  for (let head = 0; head < map.heads; head++)
    map.at(map.layers - 1, head).forEach((w, i) => (received[i % n] += w / map.heads / n));
  const effects = [];
  for (const [i] of tokens.entries()) {
    const without = await model.classify(text, { maskTokens: [i] });
    effects.push(whole - logOdds(without.scores));
  }

  const [byAttention, byEffect] = [ranks(received), ranks(effects.map(Math.abs))];
  const lines = tokens.map(
    (token, i) =>
      `${token.text.trim()}: attention ${received[i].toFixed(3)} (rank ${byAttention[i]}), ` +
      `effect ${effects[i].toFixed(2)} (rank ${byEffect[i]})`,
  );
  const squares = byEffect.reduce((sum, rank, i) => sum + (rank - byAttention[i]) ** 2, 0);
  lines.push(`rank correlation: ${(1 - (6 * squares) / (n * (n * n - 1))).toFixed(2)}`);
  return lines;
}
