// Steering in the Translation view: “du” or “Sie”, and what else changes.
import assert from 'node:assert/strict';
import { testsOnPage } from '../../../../../tests/page/on_page.mjs';
import { assertAccessibleToAll, assertFits, read } from '../../../../../tests/page/open.mjs';

const onPage = testsOnPage('#view=translation');

const rested = (page, strength) =>
  page.waitForFunction((wanted) => {
    const part = document.querySelector('[data-testid=steering][aria-busy=false]');
    return part?.querySelector('[data-testid=steering-same]') && part.textContent.includes(wanted);
  }, strength);

onPage('the translator says “Sie” or “du”, and the curves say what it costs', {}, async (page) => {
  await read(page, 'Where do you live?');
  await page.getByRole('button', { name: 'Say “Sie” or “du”' }).click();
  const said = {};
  for (const [to, shown] of [
    ['0.45', '+0.45'],
    ['-0.3', '−0.30'],
  ]) {
    await page.getByTestId('steering-strength').fill(to);
    await rested(page, `Steered, ${shown}`);
    said[to] = await page.getByTestId('steered').textContent();
  }
  assert.match(said['0.45'], /\bSie\b/);
  assert.match(said['-0.3'], /\bdu\b/);

  const points = (name) =>
    page
      .locator(`[data-testid=steering-${name}] circle`)
      .evaluateAll((all) => all.map(({ dataset }) => Number(dataset.value)));
  const [formal, same] = [await points('formal'), await points('same')];
  assert.equal(formal.length, 9);
  assert.ok(formal[0] < 0.2 && formal.at(-2) > 0.6, `${formal}`);
  assert.equal(same[4], 1);
  assert.ok(same[0] < 1 && same.at(-1) < 1, `${same}`);
  await assertAccessibleToAll(page, 'steering');
  await page.setViewportSize({ width: 390, height: 844 });
  await assertFits(page);
});
