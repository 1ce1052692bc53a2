// The tour's stops, each with the control that it describes.
import assert from 'node:assert/strict';
import { source } from '../source.mjs';
import { testsOnPage } from '../on_page.mjs';
import { assertAccessible, assertFits, goTo, settled } from '../open.mjs';

const { stops } = await source('app/tour');
const onPage = testsOnPage();

const tour = (page) => page.getByTestId('tour');
/** Waits until the stop's control is marked in its view. */
async function at(page, number) {
  await page.getByText(`${number} of ${stops.length}`).waitFor();
  await page.locator(`${stops[number - 1].control}[data-toured]`).waitFor();
  await settled(page);
}

onPage('every stop shows its claim and marks the control that tests it', {}, async (page) => {
  const scripts = [];
  page.on('request', (request) => /\/Tour-.*js$/.test(request.url()) && scripts.push(request));
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
  'a link opens a stop, also on a narrow screen',
  { hash: '#tour=4', viewport: { width: 320, height: 700 } },
  async (page) => {
    await at(page, 4);
    await assertFits(page);
    const box = await tour(page).boundingBox();
    assert.ok(box.height < 300, `${box.height} high`);
    // The typed text stays when the page is reloaded.
    await page.getByTestId('base').fill('The plot is never good.');
    await page.waitForURL((url) => /never/.test(url.hash));
    await page.reload();
    await at(page, 4);
    assert.equal(await page.getByTestId('base').inputValue(), 'The plot is never good.');
  },
);

onPage('the tour restores the texts of every view, and the focus', {}, async (page) => {
  const own = 'My own words: what a lovely evening.';
  await page.getByTestId('input').fill(own);
  await settled(page);
  await page.getByTestId('head').nth(9).click();
  const link = page.getByRole('link', { name: 'Tour' });
  await link.focus();
  await page.keyboard.press('Enter');
  await at(page, 1);
  assert.notEqual(await page.getByTestId('input').inputValue(), own);
  await page.locator('[data-toured]').click();
  await settled(page);
  await page.keyboard.press('Escape');
  await settled(page);
  assert.equal(await page.getByTestId('input').inputValue(), own);
  assert.equal(await page.getByTestId('head').nth(9).getAttribute('aria-pressed'), 'true');
  assert.equal(await page.getByTestId('change').count(), 0, 'what the tour hid is shown again');
  assert.ok(await link.evaluate((each) => each === document.activeElement));
  await page.waitForURL((url) => !/tour/.test(url.hash) && /lovely/.test(url.hash));

  // Its button in another view returns to where the tour began.
  await link.click();
  await at(page, 1);
  for (const number of [2, 3, 4, 5]) {
    await tour(page).getByRole('link', { name: 'Next' }).click();
    await at(page, number);
  }
  await page.getByRole('button', { name: 'Leave' }).click();
  await settled(page);
  assert.equal(await page.getByTestId('input').inputValue(), own);
  assert.ok(await link.evaluate((each) => each === document.activeElement));

  // A link of the masthead and Back also end the tour.
  await link.click();
  await at(page, 1);
  await goTo(page, 'Sentiment');
  await settled(page);
  assert.equal(await tour(page).count(), 0);
  assert.equal(await page.getByTestId('input').inputValue(), own);
  await link.click();
  await at(page, 1);
  await tour(page).getByRole('link', { name: 'Next' }).click();
  await at(page, 2);
  await page.goBack();
  await at(page, 1);
  await page.goBack();
  await settled(page);
  assert.equal(await page.getByTestId('input').inputValue(), own);
});

onPage('a text that is written during the tour stays', {}, async (page) => {
  await page.getByRole('link', { name: 'Tour' }).click();
  await at(page, 1);
  await page.getByTestId('input').fill('Written at the first stop.');
  await settled(page);
  for (const number of [2, 3, 4]) {
    await tour(page).getByRole('link', { name: 'Next' }).click();
    await at(page, number);
  }
  await page.getByTestId('base').fill('The plot is never good.');
  await settled(page);
  await page.keyboard.press('Escape');
  await settled(page);
  // The visitor is working in this view, so the view stays open, too.
  assert.equal(await page.getByTestId('base').inputValue(), 'The plot is never good.');
  await goTo(page, 'Sentiment');
  await settled(page);
  assert.equal(await page.getByTestId('input').inputValue(), 'Written at the first stop.');
});
