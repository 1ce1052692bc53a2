// Tables that views save hold what the page shows.
import assert from 'node:assert/strict';
import { testsOnPage } from '../on_page.mjs';
import { savedBy, settled } from '../open.mjs';

const onPage = testsOnPage();

/** Returns a table as JSON, and checks that the CSV file has the same number of lines. */
async function tableOf(page, name) {
  const files = page.getByTestId(`files-${name}`);
  const button = (kind) => files.getByRole('button', { name: kind, exact: true });
  const rows = JSON.parse(await savedBy(page, button('JSON')));
  const csv = `${await savedBy(page, button('CSV'))}`;
  assert.ok(csv.startsWith(Object.keys(rows[0])[0]));
  return rows;
}

onPage('the hypotheses of a translation', { hash: '#view=translation' }, async (page) => {
  const shown = page.getByTestId('hypotheses').getByRole('listitem');
  await shown.first().waitFor();
  const rows = await tableOf(page, 'hypotheses');
  assert.equal(rows.length, await shown.count());
  const [first] = rows;
  assert.equal(
    Number(await shown.first().locator('.score').getAttribute('data-value')),
    first.logprob_per_token,
  );
  assert.equal((await shown.first().locator('.text').textContent()).trim(), first.text);
});

onPage('the next tokens of a writer', { hash: '#view=writing' }, async (page) => {
  const next = page.getByTestId('next').first();
  await next.waitFor();
  const rows = await tableOf(page, 'next-tokens');
  const sum = rows.reduce((total, { probability }) => total + probability, 0);
  assert.ok(Math.abs(sum - 1) < 1e-3, `${sum}`);
  assert.equal(rows[0].token, await next.getAttribute('data-text'));
  assert.equal(rows[0].probability, Number(await next.getAttribute('data-probability')));
});

onPage(
  'the verdict on a digit, its patches and its layers',
  { hash: '#view=digits' },
  async (page) => {
    await page.getByTestId('label').first().waitFor();
    const verdict = await tableOf(page, 'verdict');
    assert.deepEqual(
      verdict.map(({ probability }) => probability),
      await page
        .getByTestId('label')
        .evaluateAll((list) => list.map(({ dataset }) => Number(dataset.value))),
    );
    await page.getByRole('button', { name: 'Compare the methods' }).click();
    const methods = page.getByTestId('method');
    await methods.nth(3).waitFor();
    await settled(page);
    const patches = await tableOf(page, 'patches');
    const names = await methods.evaluateAll((list) => list.map(({ dataset }) => dataset.name));
    assert.deepEqual(Object.keys(patches[0]), ['row', 'column', ...names]);
    assert.ok(patches.every((row) => names.every((name) => Number.isFinite(row[name]))));
    const layers = await tableOf(page, 'layers');
    assert.equal(layers.length, await page.getByTestId('layer').count());
  },
);
