// Selecting and hiding tokens and pinning weights: by touch, by mouse, and while editing.
import assert from 'node:assert/strict';
import { testsOnPage } from '../../../../../tests/page/on_page.mjs';
import { read, settled } from '../../../../../tests/page/open.mjs';

const onPage = testsOnPage();
const sentence = 'The plot is not good at all, and I would never watch it again.';

const token = (page, index) => page.getByTestId('token').nth(index);
const hidden = (page) =>
  page
    .locator('[data-testid=token][aria-pressed=true]')
    .evaluateAll((list) => list.map(({ textContent, dataset }) => [textContent, dataset.index]));
const cells = (page) => page.getByTestId('heatmap').locator('[data-value]');
const readout = (page) => page.locator('output').textContent();

onPage(
  'a tap selects a token; a second tap or a button hides it',
  { hasTouch: true, viewport: { width: 390, height: 844 } },
  async (page) => {
    await read(page, sentence);
    await token(page, 3).tap();
    await page.getByTestId('looked').filter({ hasText: 'not' }).waitFor();
    assert.deepEqual(await hidden(page), []);
    await token(page, 4).tap();
    await page.getByTestId('looked').filter({ hasText: 'good' }).waitFor();
    assert.deepEqual(await hidden(page), []);
    await token(page, 4).tap();
    await settled(page);
    assert.deepEqual(await hidden(page), [['good', '4']]);
    await token(page, 3).tap();
    assert.deepEqual(await hidden(page), [['good', '4']]);
    await page.getByRole('button', { name: 'Hide it' }).tap();
    await settled(page);
    assert.deepEqual(await hidden(page), [
      ['not', '3'],
      ['good', '4'],
    ]);
    await page.getByRole('button', { name: 'Show it to the model' }).tap();
    await settled(page);
    assert.deepEqual(await hidden(page), [['good', '4']]);
  },
);

onPage('a click pins a weight; Escape or a second click unpins it', {}, async (page) => {
  await read(page, sentence);
  const count = await page.getByTestId('token').count();
  const cell = cells(page).nth(2 * count + 1);
  await cell.click();
  await page.getByTestId('pinned').waitFor();
  const held = await readout(page);
  await cells(page)
    .nth(5 * count + 5)
    .hover();
  await token(page, 7).hover();
  assert.equal(await readout(page), held);
  await page.getByTestId('head').nth(9).click();
  const [value] = await page
    .locator('[data-testid=heatmap] [data-query="2"][data-key="1"]')
    .evaluateAll((list) => list.map(({ dataset }) => Number(dataset.value)));
  assert.equal(await readout(page), value < 0.0005 ? '<0.001' : value.toFixed(3));

  await page.getByTestId('heatmap').focus();
  await page.keyboard.press('Escape');
  assert.equal(await page.getByTestId('pinned').count(), 0);
  await cell.click();
  await page.getByTestId('pinned').waitFor();
  await cell.click();
  assert.equal(await page.getByTestId('pinned').count(), 0);
});

onPage('a hidden token stays hidden while the text around it is edited', {}, async (page) => {
  await read(page, sentence);
  await token(page, 3).click();
  await settled(page);
  const input = page.getByTestId('input');
  await input.focus();
  await page.keyboard.press('Control+End');
  await page.keyboard.type(' Or not');
  await settled(page);
  assert.deepEqual(await hidden(page), [['not', '3']]);
  assert.equal(await page.getByTestId('unhidden').count(), 0);
  await page.keyboard.press('Control+Home');
  await page.keyboard.type('Well, ');
  await settled(page);
  assert.deepEqual(
    (await hidden(page)).map(([label]) => label),
    ['not'],
  );
  assert.match(await page.getByTestId('change').textContent(), /1 token hidden/);
  await read(page, 'Something else.');
  assert.deepEqual(await hidden(page), []);
  assert.match(await page.getByTestId('unhidden').textContent(), /changed 1 hidden token/);
  assert.equal(await page.getByTestId('change').count(), 0);
});

onPage('a single token has no effect to compare', {}, async (page) => {
  await read(page, 'good');
  await page.getByText('This is the only token').waitFor();
  assert.match(await page.getByTestId('time').textContent(), / 1 token$/);
  assert.equal(await page.locator('.legend').count(), 0);
});

onPage('characters that the vocabulary lacks are marked and reported', {}, async (page) => {
  await read(page, 'A film about 电影, and good.');
  assert.match(await page.getByTestId('unknown').textContent(), /电影.*not in the vocabulary/s);
  assert.equal(await page.locator('[data-testid=token].unknown').count(), 1);
  await page.getByTestId('token').filter({ hasText: '‹电影' }).waitFor();
  await read(page, 'فيلم رائع جدا');
  assert.match(await page.getByTestId('unknown').textContent(), /says nothing\s+about\s+this text/);
  const direction = await page
    .getByTestId('input')
    .evaluate((box) => getComputedStyle(box).direction);
  assert.equal(direction, 'rtl');
  await read(page, 'A plain café.');
  assert.equal(await page.getByTestId('unknown').count(), 0);
});

onPage(
  'the unknown share is counted in characters, and known words still count',
  {},
  async (page) => {
    const unknown = page.getByTestId('unknown');
    const told = async () => (await unknown.textContent()).replaceAll(/\s+/g, ' ');
    // A family is one character, of eleven UTF-16 units, and a third of the units of this text.
    await read(page, 'So dull! 👨‍👩‍👧‍👦');
    assert.match(
      await told(),
      /“?👨‍👩‍👧‍👦”?: not in the vocabulary\. The model sees that something is there/u,
    );
    assert.equal(await page.getByTestId('verdict').textContent(), 'negative');
    await read(page, 'A wonderful film 👨‍👩‍👧‍👦👩🏽‍🚀🇩🇪');
    assert.match(await told(), /The model sees that something is there/);
    assert.equal(await page.getByTestId('verdict').textContent(), 'positive');
    // Most of the text is unknown; the verdict is about the one known word.
    await read(page, 'awful 这部电影真的很好看');
    assert.match(await told(), /most of this text.*about the rest only/);
    assert.equal(await page.getByTestId('verdict').textContent(), 'negative');
    await read(page, '这部电影真的很好看。');
    assert.match(await told(), /says nothing about this text/);
  },
);

onPage(
  'weighing shows the effect next to each switch and names the head with the largest effect',
  {},
  async (page) => {
    await read(page, sentence);
    await page.getByRole('button', { name: 'Weigh every head' }).click();
    await page.getByTestId('effect').nth(31).waitFor();
    await page.getByText(/Layer \d, head \d has the largest effect, [+−]\d/).waitFor();
    assert.equal(await page.getByTestId('head-switch').count(), 32);
    await page.getByTestId('head-switch').nth(5).click();
    await settled(page);
    assert.match(await page.getByTestId('change').textContent(), /1 head off/);
    await page.getByRole('button', { name: 'Weigh every head' }).click();
    assert.equal(await page.getByTestId('effect').count(), 0);
  },
);

onPage('the code has the whole text', {}, async (page) => {
  const text = 'Long, but worth it. '.repeat(30).trim();
  await read(page, text);
  await page.getByText('The same in JavaScript').click();
  assert.ok((await page.locator('pre').textContent()).includes(JSON.stringify(text)));
});
