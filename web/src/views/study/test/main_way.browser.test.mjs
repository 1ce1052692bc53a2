// The main way through the view Study: the mean change of many texts without a head.
import assert from 'node:assert/strict';
import { Classifier } from '../../../../../dist/index.js';
import { assertNear, mainWay, valuesOf } from '../../../../../tests/page/on_page.mjs';

mainWay('many texts are read without a head', '#view=study&heads=3.2', async (page) => {
  await page.getByTestId('study-run').click();
  await page.getByTestId('study-result').waitFor();
  const lines = (await page.getByTestId('study-texts').inputValue()).split('\n');
  const classifier = await Classifier.load('weights/sentiment', { compute: 'f32' });
  const oddsOf = async (text, options) => {
    const { scores } = await classifier.classify(text, options);
    return scores[1].logit - scores[0].logit;
  };
  const ablate = [{ attention: 'encoder', layer: 3, head: 2 }];
  let sum = 0;
  for (const line of lines) {
    const [, text] = line.split('\t');
    sum += (await oddsOf(text, { ablate })) - (await oddsOf(text));
  }
  classifier.dispose();
  assert.equal(await page.getByTestId('study-row').count(), lines.length);
  assert.notEqual(sum, 0);
  assertNear(await valuesOf(page.getByTestId('study-delta')), [sum / lines.length], 'mean', 1e-3);
});
