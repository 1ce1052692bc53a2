// The contents of links, and what a reloaded tab restores.
import assert from 'node:assert/strict';
import { testsOnPage } from '../on_page.mjs';
import { goTo, openMenu, read, settled } from '../open.mjs';

const onPage = testsOnPage();

async function copyLink(page, context, said) {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await openMenu(page);
  await page.getByRole('button', { name: 'Copy link' }).click();
  await page.getByRole('button', { name: said, exact: true }).waitFor();
  return page.evaluate(() => navigator.clipboard.readText());
}

onPage('a link can hold a long text', {}, async (page, { context }) => {
  const text = `${'A slow start, früh 🙂, but good. '.repeat(5)}${' '.repeat(5000)}And dull.`;
  await read(page, text);
  await page.getByTestId('token').nth(2).click();
  await settled(page);
  const link = await copyLink(page, context, 'Copied');
  assert.ok(link.length < 4000, `${link.length}`);
  const other = await context.newPage();
  await other.goto(link);
  await settled(other);
  assert.equal(await other.getByTestId('input').inputValue(), text);
  assert.equal(await other.getByTestId('token').nth(2).getAttribute('aria-pressed'), 'true');
  // A page that is open follows such a link.
  await read(other, 'Something else.');
  await other.waitForURL(/text=Something/);
  await other.evaluate((hash) => (location.hash = hash), new URL(link).hash);
  await other.waitForFunction(
    (length) => document.querySelector('[data-testid=input]').value.length === length,
    text.length,
  );
});

onPage('copying reports a text that is too long for a link', {}, async (page, { context }) => {
  let state = 7;
  const noise = Array.from({ length: 60_000 }, () => {
    state = (state * 48271) % 2147483647;
    return String.fromCharCode(97 + (state % 26));
  }).join('');
  await read(page, noise);
  const said = 'Copied, but the text is too long for a link';
  const link = await copyLink(page, context, said);
  assert.ok(link.length < 1000);
});

onPage('a reloaded page restores the texts of both views', {}, async (page) => {
  await read(page, 'Terrible.');
  await page.waitForURL(/text=Terrible/);
  await goTo(page, 'Translation');
  await page.getByTestId('target').waitFor();
  await read(page, 'Where is the dog?');
  await page.waitForURL(/text=Where/);
  await page.reload();
  await settled(page);
  assert.equal(await page.getByTestId('input').inputValue(), 'Where is the dog?');
  await goTo(page, 'Sentiment');
  await page.getByTestId('verdict').waitFor();
  await settled(page);
  assert.equal(await page.getByTestId('input').inputValue(), 'Terrible.');
  assert.equal(await page.getByTestId('verdict').textContent(), 'negative');
});

onPage('invalid stored data is ignored', {}, async (page) => {
  await page.evaluate(() => {
    for (const name of ['sentiment', 'translation'])
      sessionStorage.setItem(`glassformer ${location.pathname} ${name}`, '{"link":{"text":5}}');
  });
  await page.reload();
  await settled(page);
  assert.match(await page.getByTestId('input').inputValue(), /gripping/);
});
