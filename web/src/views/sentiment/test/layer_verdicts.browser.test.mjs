// The verdict read from each layer of the sentiment view.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { Classifier } from '../../../../../dist/index.js';
import { testsOnPage } from '../../../../../tests/page/on_page.mjs';
import {
  assertAccessible,
  assertFits,
  goTo,
  read,
  root,
  until,
  workersLeft,
} from '../../../../../tests/page/open.mjs';

const onPage = testsOnPage();
// Node may run the other binary, which rounds sums differently.
const tolerance = 1e-3;

const shown = (page) =>
  page
    .getByTestId('so-far')
    .evaluateAll((list) => list.map(({ dataset }) => Number(dataset.value)));

onPage(
  'every layer’s verdict matches the package, and the last one matches the view',
  {},
  async (page) => {
    const classifier = await Classifier.load(join(root, 'weights/sentiment'), {
      compute: 'f32',
      explain: true,
    });
    await page.getByRole('button', { name: 'Read every layer' }).click();
    const seen = new Set();
    for (const text of ['A gripping film.', 'The plot is not good at all.']) {
      await read(page, text);
      const { layers } = await classifier.explain(text, { method: 'lens' });
      const expected = layers.map(({ scores }) => scores[1].score);
      const near = (values) =>
        values.length === expected.length &&
        values.every((value, i) => Math.abs(value - expected[i]) <= tolerance);
      await until(page, () => shown(page), near);
      const score = Number(await page.getByTestId('score').getAttribute('data-value'));
      const last = expected.at(-1);
      assert.ok(Math.abs(Math.max(last, 1 - last) - score) <= tolerance);
      seen.add(`${expected}`);
    }
    assert.equal(seen.size, 2);
    classifier.dispose();
    await assertAccessible(page);
  },
);

onPage("the explaining model replaces the view's own", {}, async (page) => {
  const before = await workersLeft(page, 1);
  await page.getByRole('button', { name: 'Read every layer' }).click();
  await page.getByTestId('so-far').nth(4).waitFor();
  assert.notDeepEqual(await workersLeft(page, 1), before);
  // It also answers the view's other questions.
  const score = await page.getByTestId('score').getAttribute('data-value');
  await page.getByTestId('input').fill('A dull and lifeless film.');
  await page.locator('main[aria-busy="false"]').waitFor();
  await page.waitForFunction(
    (old) => document.querySelector('[data-testid=score]').dataset.value !== old,
    score,
  );
  await goTo(page, 'Speed');
  await workersLeft(page, 1);
});

onPage('the verdicts fit a phone', { viewport: { width: 320, height: 800 } }, async (page) => {
  await page.getByRole('button', { name: 'Read every layer' }).click();
  await page.getByTestId('so-far').nth(4).waitFor();
  await assertFits(page);
});
