// In your own page: const model = await Translator.load('models/en-de', { compute: 'f32' });
export async function run(model, text) {
  const options = { beams: 4, hypotheses: true, maxLength: 48 };
  const [{ hypotheses, start, end }] = (await model.translate(text, options)).sentences;
  const target = hypotheses[1] ?? hypotheses[0]; // the translation that the decoder is given
  const given = target.tokens.map(({ id }) => id);

  // Teacher forcing: every token is given, and only its probability is asked for.
  const forced = await model.translate(text.slice(start, end), {
    beams: 1,
    prefixes: [given],
    maxLength: given.length,
  });
  const { tokens } = forced.sentences[0];
  const lines = [];
  let total = 0;
  for (const [i, { text: token, logprob }] of tokens.entries()) {
    const before = i === 0 ? 'start' : tokens[i - 1].text.trim();
    lines.push(`… ${before} → ${token.trim()}: ${(100 * Math.exp(logprob)).toFixed(1)}%`);
    total += logprob;
  }
  lines.push(`loss: ${(-total / tokens.length).toFixed(3)} nats per token`);
  return lines;
}
