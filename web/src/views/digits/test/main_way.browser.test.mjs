// The main way through the view Digits: an example and a drawing are read.
import assert from 'node:assert/strict';
import { ImageClassifier } from '../../../../../dist/index.js';
import { assertNear, mainWay, valuesOf } from '../../../../../tests/page/on_page.mjs';
import { settled } from '../../../../../tests/page/open.mjs';
import { source } from '../../../../../tests/page/source.mjs';

const { pictureOf, side, strokesIn } = await source('panels/pictures/drawing');
const { examples } = await source('panels/pictures/digits');

mainWay('an example is read, and a digit is drawn', '#view=digits', async (page) => {
  const classifier = await ImageClassifier.load('weights/digits', { compute: 'f32' });
  const { name, strokes } = examples[2];
  await page.getByRole('button', { name, exact: true }).click();
  await settled(page);
  const pixels = { width: side, height: side, data: pictureOf(strokesIn(strokes)) };
  const { label, scores } = await classifier.classify(pixels);
  classifier.dispose();
  assert.equal(await page.getByTestId('verdict').textContent(), label);
  assertNear(
    await valuesOf(page.getByTestId('label')),
    scores.map(({ score }) => score),
    'scores',
  );

  await page.getByTestId('clear').click();
  await page.getByTestId('verdict').filter({ hasText: 'Draw a digit' }).waitFor();
  const { x, y, width } = await page.getByTestId('pad').boundingBox();
  await page.mouse.move(x + 0.5 * width, y + 0.15 * width);
  await page.mouse.down();
  for (const at of [0.3, 0.5, 0.7, 0.85]) await page.mouse.move(x + 0.5 * width, y + at * width);
  await page.mouse.up();
  await page.getByTestId('verdict').filter({ hasText: '1' }).waitFor();
});
