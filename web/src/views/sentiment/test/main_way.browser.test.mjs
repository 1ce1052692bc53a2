// The main way through the sentiment view: a review, its verdict, its attention, and a hidden word.
import assert from 'node:assert/strict';
import { Classifier } from '../../../../../dist/index.js';
import { assertNear, mainWay, valuesOf } from '../../../../../tests/page/on_page.mjs';
import { read, settled } from '../../../../../tests/page/open.mjs';

const text = 'The plot is not good at all, and I would never watch it again.';

mainWay('a review is read, and read again without a word', '', async (page) => {
  const classifier = await Classifier.load('weights/sentiment', { compute: 'f32' });
  const heatmap = page.getByTestId('heatmap').locator('[data-value]');
  const assertShows = async ({ label, score, attention }) => {
    assert.equal(await page.getByTestId('verdict').textContent(), label);
    assertNear(await valuesOf(page.getByTestId('score')), [score], 'score');
    assertNear(await valuesOf(heatmap), [...attention.encoder.at(2, 5)], 'attention');
  };

  await read(page, text);
  await page.locator('[data-testid=head][data-layer="2"][data-head="5"]').click();
  const whole = await classifier.classify(text, { attention: true });
  await assertShows(whole);
  const without = page.getByTestId('token').nth(3);
  assert.equal(await without.textContent(), 'not');
  await without.click();
  await settled(page);
  const masked = await classifier.classify(text, { maskTokens: [3], attention: true });
  await assertShows(masked);
  assert.notEqual(masked.score, whole.score);
  classifier.dispose();
});
