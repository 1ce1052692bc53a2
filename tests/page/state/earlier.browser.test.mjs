// The comparison of answers before and after an edit or an intervention.
import assert from 'node:assert/strict';
import { testsOnPage } from '../on_page.mjs';
import { read, settled } from '../open.mjs';

const onPage = testsOnPage();
const score = (page) => page.getByTestId('score').getAttribute('data-value').then(Number);

onPage('the verdict before an edit stays next to the new one', {}, async (page) => {
  await read(page, 'The plot is good.');
  await page.getByTestId('input').blur();
  const before = await score(page);
  await page.getByTestId('input').pressSequentially(' But dull and far too long.');
  await settled(page);
  const label = await page.getByTestId('verdict').textContent();
  const after = await score(page);
  const positive = label === 'positive' ? after : 1 - after;
  const earlier = page.getByTestId('earlier');
  const moved = Number(await earlier.locator('strong').getAttribute('data-value'));
  // Typing with pauses is one edit: it is compared with the first text.
  assert.ok(Math.abs(moved - (positive - before)) < 1e-4, `${moved}, ${positive} after ${before}`);
  assert.match(await earlier.textContent(), /The plot is good\..*was positive/s);
  await page.getByTestId('token').first().click();
  await settled(page);
  await page.getByTestId('change').waitFor();
  await page.getByTestId('reset').click();
  await settled(page);
  await earlier.waitFor();
  // An example is an unrelated text.
  await page.getByRole('button', { name: 'Contrast' }).click();
  await settled(page);
  assert.equal(await earlier.count(), 0);
});

onPage(
  'the translation before an edit stays, and differing words are marked on both sides',
  { hash: '#view=translation' },
  async (page) => {
    const fresh = () => page.locator('[data-testid=target] .fresh').allTextContents();
    assert.deepEqual(await fresh(), []);
    await read(page, 'A man in a blue shirt is riding a bicycle.');
    const earlier = page.getByTestId('earlier');
    assert.match(await earlier.textContent(), /Before the edit, −0\.\d\d:.*roten Hemd/s);
    assert.deepEqual(await earlier.locator('b').allTextContents(), ['roten']);
    assert.deepEqual(await fresh(), ['blauen']);
    await page.getByTestId('source-tokens').getByTestId('token').nth(4).click();
    await settled(page);
    assert.match(await page.getByTestId('change').textContent(), /1 token hidden.*Before, /s);
    assert.equal(await earlier.count(), 0);
  },
);

onPage(
  'the bars mark the probabilities before an edit',
  { hash: '#view=writing' },
  async (page) => {
    const chances = () =>
      page
        .getByTestId('next')
        .evaluateAll((list) => list.map(({ dataset }) => [dataset.text, Number(dataset.value)]));
    const earlier = page.getByTestId('earlier');
    await read(page, 'The acting is dreadful, so this film is');
    await page.getByTestId('input').blur();
    assert.equal(await earlier.count(), 1);
    const before = new Map(await chances());
    await read(page, 'The acting is wonderful, so this film is');
    assert.match(
      await earlier.textContent(),
      /Since .*dreadful, so this film is was edited, .* changes most/,
    );
    const marks = await page.locator('[data-testid=next] .bar b').count();
    assert.equal(marks, await page.getByTestId('next').count());
    // The difference belongs to the named token, if both lists have it.
    const named = (await earlier.locator('q').nth(1).textContent()).trim();
    const moved = Number(await earlier.locator('strong').getAttribute('data-value'));
    const [, now] = (await chances()).find(([text]) => text.trim() === named) ?? [];
    const was = [...before].find(([text]) => text.trim() === named)?.[1];
    if (now !== undefined && was !== undefined) assert.ok(Math.abs(moved - (now - was)) < 1e-4);
    // Switching a head off has its own comparison; continuing the text ends both.
    await page.getByTestId('head-switch').nth(4).click();
    await settled(page);
    assert.equal(await earlier.count(), 0);
    await page.getByTestId('change').waitFor();
    await page.getByTestId('reset').click();
    await settled(page);
    await earlier.waitFor();
    await page.getByTestId('step').click();
    await settled(page);
    assert.equal(await earlier.count(), 0);
    await read(page, 'This');
    await page.getByRole('button', { name: 'A list' }).click();
    await settled(page);
    assert.equal(await earlier.count(), 0);
  },
);
