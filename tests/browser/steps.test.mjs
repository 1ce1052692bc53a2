// Undo and redo: by buttons, by keys and by the browser's own.
import assert from 'node:assert/strict';
import { testsOnPage } from './on_page.mjs';
import { read, settled } from './open.mjs';

const onPage = testsOnPage();

const button = (page, name) => page.getByRole('button', { name, exact: true });
const textOf = (page) => page.getByTestId('input').inputValue();
const isOff = (page, nth) =>
  page
    .getByTestId('head-switch')
    .nth(nth)
    .getAttribute('aria-checked')
    .then((on) => on === 'false');
const isHidden = (page, nth) =>
  page
    .getByTestId('token')
    .nth(nth)
    .getAttribute('aria-pressed')
    .then((on) => on === 'true');

/** Until the address says so, which is when a step is made. */
const said = (page, part) => page.waitForURL((url) => part.test(url.hash));

onPage('heads, tokens and texts are taken back one by one, and made again', {}, async (page) => {
  assert.equal(await button(page, 'Undo').count(), 0);
  await page.getByTestId('head-switch').nth(3).click();
  await said(page, /off=0\.3/);
  await page.getByTestId('token').nth(1).click();
  await said(page, /hide=1/);
  await page.getByRole('button', { name: 'Negation' }).click();
  await said(page, /text=The\+plot/);
  await settled(page);
  const example = await textOf(page);

  await button(page, 'Undo').click();
  await said(page, /text=A\+gripping.*hide=1/);
  await settled(page);
  assert.equal(await isHidden(page, 1), true);
  assert.equal(await isOff(page, 3), true);
  await page.keyboard.press('Control+z');
  await said(page, /text=A\+gripping.*off=0\.3/);
  await page.waitForURL((url) => !/hide/.test(url.hash));
  await settled(page);
  assert.equal(await isHidden(page, 1), false);
  await page.goBack();
  await settled(page);
  assert.equal(await isOff(page, 3), false);
  assert.equal(await page.getByTestId('change').count(), 0);
  assert.equal(await button(page, 'Undo').isDisabled(), true);

  await page.goForward();
  await settled(page);
  assert.equal(await isOff(page, 3), true);
  await page.keyboard.press('Control+Shift+z');
  await said(page, /hide=1/);
  await button(page, 'Redo').click();
  await said(page, /text=The\+plot/);
  await settled(page);
  assert.equal(await textOf(page), example);
  assert.equal(await button(page, 'Redo').isDisabled(), true);
});

onPage('what is typed is one step, and is undone in the text by the browser', {}, async (page) => {
  const input = page.getByTestId('input');
  await input.fill('');
  await input.pressSequentially('Bad');
  await said(page, /text=Bad(&|$)/);
  await input.pressSequentially(' film');
  await said(page, /text=Bad\+film/);
  await input.press('Control+z');
  await said(page, /text=(?!Bad\+film)/);
  await page.getByTestId('head').first().focus();
  await page.keyboard.press('Control+z');
  await page.waitForFunction(
    () =>
      document.querySelector('[data-testid=input]').value === 'A gripping, beautifully shot film.',
  );
  await settled(page);
  assert.equal(await button(page, 'Undo').isDisabled(), true);
});

onPage('after a step back another one leads elsewhere', {}, async (page) => {
  await page.getByTestId('head-switch').nth(0).click();
  await said(page, /off=0\.0/);
  await button(page, 'Undo').click();
  await page.waitForURL((url) => !/off/.test(url.hash));
  await settled(page);
  await page.getByTestId('head-switch').nth(1).click();
  await said(page, /off=0\.1/);
  assert.equal(await button(page, 'Redo').isDisabled(), true);
  // Choosing a head is no step of its own.
  await page.getByTestId('head').nth(5).click();
  await said(page, /head=0\.5/);
  await button(page, 'Undo').click();
  await page.waitForURL((url) => !/off/.test(url.hash));
  await settled(page);
  assert.equal(await isOff(page, 1), false);
});

onPage('a reloaded page goes back as well', {}, async (page) => {
  await page.getByTestId('head-switch').nth(3).click();
  await said(page, /off=0\.3/);
  await page.reload();
  await settled(page);
  assert.equal(await isOff(page, 3), true);
  await button(page, 'Undo').click();
  await page.waitForURL((url) => !/off/.test(url.hash));
  await settled(page);
  assert.equal(await isOff(page, 3), false);
});

onPage(
  'in translation hidden tokens and beams are taken back',
  { hash: '#view=translation' },
  async (page) => {
    await said(page, /to=de/);
    const before = (await page.getByTestId('target').textContent()).trim();
    await page.getByTestId('source-tokens').getByTestId('token').nth(3).click();
    await said(page, /hide=3/);
    await settled(page);
    await page.getByTestId('beams').getByRole('radio').first().check();
    await said(page, /beams=1/);
    await settled(page);
    await button(page, 'Undo').click();
    await said(page, /beams=4/);
    await button(page, 'Undo').click();
    await page.waitForURL((url) => !/hide/.test(url.hash));
    await settled(page);
    assert.equal((await page.getByTestId('target').textContent()).trim(), before);
  },
);

onPage('steps stay in their view; Back leads to the view before', {}, async (page) => {
  await read(page, 'Terrible.');
  await said(page, /text=Terrible/);
  await page.getByRole('link', { name: 'Writing' }).click();
  await page.getByTestId('row').or(page.getByTestId('play')).first().waitFor();
  await settled(page);
  assert.equal(await button(page, 'Undo').count(), 0);
  await page.goBack();
  await page.getByTestId('verdict').waitFor();
  assert.equal(await textOf(page), 'Terrible.');
  await button(page, 'Undo').click();
  await page.waitForFunction(() =>
    /gripping/.test(document.querySelector('[data-testid=input]').value),
  );
});
