// The tour: from stop to stop, each with the control that it is about.
import assert from 'node:assert/strict';
import { content } from '../page/source.mjs';
import { testsOnPage } from './on_page.mjs';
import { assertAccessible, assertFits, settled } from './open.mjs';

const stops = content.tour;
const onPage = testsOnPage();

const tour = (page) => page.getByTestId('tour');
/** Until the stop's control is marked in its view. */
async function at(page, number) {
  await page.getByText(`${number} of ${stops.length}`).waitFor();
  await page.locator(`${stops[number - 1].control}[data-toured]`).waitFor({ timeout: 60_000 });
  await settled(page);
}

onPage('every stop shows its claim and marks the control that tests it', {}, async (page) => {
  const scripts = [];
  page.on('request', (request) => /\/views-.*js$/.test(request.url()) && scripts.push(request));
  assert.equal(await tour(page).count(), 0);
  assert.equal(scripts.length, 0);
  await page.getByRole('link', { name: 'Tour' }).click();
  for (const [i, { claim }] of stops.entries()) {
    await at(page, i + 1);
    assert.ok((await tour(page).textContent()).includes(claim));
    assert.equal(await page.locator('[data-toured]').count(), 1);
    await page.waitForURL((url) => url.hash.includes(`tour=${i + 1}`) && /text=/.test(url.hash));
    if (i === 0) {
      assert.ok(scripts.length > 0);
      await assertAccessible(page);
      await page.locator('[data-toured]').click();
      await settled(page);
      assert.equal(await page.getByTestId('verdict').textContent(), 'positive');
    }
    if (i + 1 < stops.length) await tour(page).getByRole('link', { name: 'Next' }).click();
  }
  await tour(page).getByRole('link', { name: 'Back' }).click();
  await at(page, stops.length - 1);
  await page.keyboard.press('Escape');
  assert.equal(await tour(page).count(), 0);
  assert.equal(await page.locator('[data-toured]').count(), 0);
  await page.waitForURL((url) => !/tour/.test(url.hash));
});

onPage(
  'a link leads to a stop, on a narrow screen too',
  { hash: '#tour=4', viewport: { width: 320, height: 700 } },
  async (page) => {
    await at(page, 4);
    await assertFits(page);
    const box = await tour(page).boundingBox();
    assert.ok(box.height < 300, `${box.height} high`);
    // What somebody typed stays when the page is reloaded.
    await page.getByTestId('base').fill('The plot is never good.');
    await page.waitForURL((url) => /never/.test(url.hash));
    await page.reload();
    await at(page, 4);
    assert.equal(await page.getByTestId('base').inputValue(), 'The plot is never good.');
  },
);
