// Undo and redo by buttons, by keys and by the browser's own buttons.
import assert from 'node:assert/strict';
import { testsOnPage } from '../on_page.mjs';
import { goTo, read, settled } from '../open.mjs';

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

/** Waits until the address has changed, which is when a step is recorded. */
const said = (page, part) => page.waitForURL((url) => part.test(url.hash));

// Sizes at which the views take one to four lines.
for (const width of [320, 390, 500, 834, 1000, 1280])
  onPage(
    `nothing moves when the first change can be undone (${width} pixels)`,
    { viewport: { width, height: 800 } },
    async (page) => {
      const places = () =>
        page.evaluate(() =>
          ['header nav', 'header .menu', '.figure', 'main'].map((part) => {
            const { left, top, width } = document.querySelector(part).getBoundingClientRect();
            return [part, left, Math.round(top + window.scrollY), width];
          }),
        );
      const before = await places();
      await page.getByTestId('head-switch').first().click();
      await button(page, 'Undo').waitFor();
      assert.deepEqual(await places(), before);
    },
  );

onPage('heads, tokens and texts are undone one by one, and redone', {}, async (page) => {
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

onPage('typing is one step, and the browser undoes it within the text', {}, async (page) => {
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

onPage('a change after an undo replaces the steps that were undone', {}, async (page) => {
  await page.getByTestId('head-switch').nth(0).click();
  await said(page, /off=0\.0/);
  await button(page, 'Undo').click();
  await page.waitForURL((url) => !/off/.test(url.hash));
  await settled(page);
  await page.getByTestId('head-switch').nth(1).click();
  await said(page, /off=0\.1/);
  assert.equal(await button(page, 'Redo').isDisabled(), true);
  // Selecting a head is not a step.
  await page.getByTestId('head').nth(5).click();
  await said(page, /head=0\.5/);
  await button(page, 'Undo').click();
  await page.waitForURL((url) => !/off/.test(url.hash));
  await settled(page);
  assert.equal(await isOff(page, 1), false);
});

onPage('undo also works after a reload', {}, async (page) => {
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
  'translation: hidden tokens and beams are undone',
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

onPage('steps stay in their view; Back opens the previous view', {}, async (page) => {
  await read(page, 'Terrible.');
  await said(page, /text=Terrible/);
  await goTo(page, 'Writing');
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
