// In your own page: const model = await Translator.load('models/en-de', { compute: 'f32' });
export async function run(model, text) {
  const lines = [];
  // Which word was translated from which: the mean of the last layer's heads.
  const { text: whole, sentences } = await model.translate(text, { alignment: true });
  for (const { target, source, weight } of sentences[0].alignment) {
    const [to, from] = [target, source].map(({ start, end }, i) =>
      (i ? text : whole).slice(start, end),
    );
    lines.push(`${to} ← ${from} ${weight.toFixed(2)}`);
  }
  // The best translation that each number of beams finds, and its score.
  for (const beams of [1, 2, 4, 8]) {
    const found = await model.translate(text, { beams, hypotheses: true, maxLength: 48 });
    lines.push(`${beams} beam${beams > 1 ? 's' : ''}:`);
    for (const { text: translation, tokens, score } of found.sentences[0].hypotheses) {
      const total = tokens.reduce((sum, { logprob }) => sum + logprob, 0);
      lines.push(`  ${total.toFixed(2)} / ${tokens.length} = ${score.toFixed(3)} ${translation}`);
    }
  }
  return lines;
}
