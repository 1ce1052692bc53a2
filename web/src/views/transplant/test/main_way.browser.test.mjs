// The main way through the view Transplant: the table of one text's numbers in another.
import assert from 'node:assert/strict';
import { Classifier } from '../../../../../dist/index.js';
import { assertNear, mainWay } from '../../../../../tests/page/on_page.mjs';
import { settled } from '../../../../../tests/page/open.mjs';

mainWay('a text gets the numbers of another', '#view=transplant', async (page) => {
  await page.getByTestId('donor').fill('The plot is so good.');
  await page.getByTestId('base').fill('The plot is not so bad.');
  await settled(page);
  const classifier = await Classifier.load('weights/sentiment', {
    compute: 'f32',
    gradients: true,
  });
  const texts = { text: 'The plot is not so bad.', pair: 'The plot is so good.' };
  const options = { method: 'activation_patching', site: 'residual', label: 'positive' };
  const { delta } = await classifier.explain(texts, options);
  classifier.dispose();
  const [, columns] = delta.shape;
  const cells = await page
    .locator('[data-cell]')
    .evaluateAll((list) => list.map(({ dataset: { row, cell, value } }) => [row, cell, value]));
  const expected = [...delta.data].filter((value) => !Number.isNaN(value));
  assert.ok(expected.some((value) => Math.abs(value) > 0.1));
  assert.equal(cells.length, expected.length);
  for (const [row, cell, value] of cells)
    assertNear([Number(value)], [delta.data[row * columns + Number(cell)]], `${row}.${cell}`);
});
