// The main way through the view Inside: a number is unfolded into the terms of its sum.
import assert from 'node:assert/strict';
import { Classifier } from '../../../../../dist/index.js';
import { assertNear, mainWay } from '../../../../../tests/page/on_page.mjs';

const text = 'The plot is not good.';
const tensor = 'encoder.layers.0.fc2';

mainWay('a number is the sum of its terms', '#view=inside', async (page) => {
  const vector = page.locator(`.vector[data-tensor="${tensor}"]`);
  await vector.getByRole('slider').first().focus();
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('Enter');
  const unfolded = vector.getByTestId('unfolded');
  await unfolded.waitFor();
  const { result, traced, terms } = await unfolded.evaluate(({ dataset }) => ({ ...dataset }));
  assert.equal(Number(terms), 512 + 1);
  assertNear([Number(result)], [Number(traced)], 'sum', 1e-4);

  const classifier = await Classifier.load('weights/sentiment', { compute: 'f32' });
  const { trace } = await classifier.classify(text, { trace: ['encoder.layers.0.*'] });
  classifier.dispose();
  const { shape, data } = trace[tensor];
  assertNear([Number(traced)], [data[4 * shape.at(-1) + 1]], 'the package’s number');
});
