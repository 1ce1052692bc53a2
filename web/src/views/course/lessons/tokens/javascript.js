// In your own page: const model = await Classifier.load('models/sentiment');
export async function run(model, text) {
  const { tokens } = await model.classify(text);
  const vocabulary = await model.vocabulary();
  return tokens.map(
    ({ id, start, end }) =>
      `${id}`.padStart(5) + ` ${vocabulary[id]} (“${text.slice(start, end)}”)`,
  );
}
