// Why a head looks there: press a cell, read the parts, follow them to the words.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { Classifier } from '../../../../../dist/index.js';
import { testsOnPage } from '../../../../../tests/page/on_page.mjs';
import { assertAccessible, assertFits, read, root } from '../../../../../tests/page/open.mjs';

const onPage = testsOnPage();
const text = 'The plot is not good.';

async function press(page, query, key) {
  const cell = page.locator(`[data-testid=heatmap] [data-query="${query}"][data-key="${key}"]`);
  await cell.evaluate((each) => each.scrollIntoView({ block: 'center' }));
  await cell.click({ force: true });
}

/** Waits until the shown score is that of a cell, and returns its numbers. */
async function numbers(page, sentence) {
  await page.waitForFunction((start) => {
    const why = document.querySelector('[data-testid=why-here][aria-busy=false]');
    return why?.querySelector('[data-testid=why-sentence]')?.textContent.trim().startsWith(start);
  }, sentence);
  return page.getByTestId('why-here').evaluate((why) => {
    const lead = why.querySelector('[data-testid=why-lead]');
    const side = (name) =>
      [...why.querySelectorAll(`[data-testid=${name}] li`)].map((each) => ({
        column: each.dataset.column,
        amount: Number(each.dataset.amount),
        sum: Number(each.dataset.sum),
      }));
    return {
      lead: Number(lead.dataset.value),
      score: Number(lead.dataset.score),
      asks: side('asks'),
      answers: side('answers'),
    };
  });
}

const sumOf = (parts) => parts.reduce((all, { amount }) => all + amount, 0);

onPage('a pressed cell says why, with the package’s numbers', {}, async (page) => {
  await read(page, text);
  await page.locator('[data-testid=head][data-layer="1"][data-head="5"]').click();
  await press(page, 4, 3);
  const shown = await numbers(page, '“good” looks at “not”');
  for (const parts of [shown.asks, shown.answers]) {
    assert.ok(Math.abs(sumOf(parts) - shown.lead) < 1e-3, `${sumOf(parts)}, not ${shown.lead}`);
    assert.ok(parts.length <= 6);
  }

  const classifier = await Classifier.load(join(root, 'weights/sentiment'), {
    compute: 'f32',
    explain: true,
  });
  const place = { attention: 'encoder.layers.1.self_attn', head: 5, query: 4, key: 3 };
  const found = await classifier.explain(text, { method: 'score', ...place, contrast: true });
  classifier.dispose();
  assert.ok(Math.abs(found.score - shown.score) < 1e-4);
  for (const { column, sum } of shown.answers.slice(0, -1)) {
    const own = found.keys.find(({ name }) => name === column);
    assert.ok(Math.abs(own.sum - sum) < 1e-4, column);
  }

  // Each head leads on to itself, at the token that it read; the way back stays in view.
  await page.getByTestId('answers').getByRole('button', { name: 'layer 1, head 2' }).click();
  await page.getByRole('heading', { name: 'Layer 1, head 2' }).waitFor();
  await numbers(page, '“not” looks at “good”');
  const way = page.getByRole('navigation', { name: 'The way here' });
  assert.match(await way.textContent(), /Layer 2, head 6\s*›\s*Layer 1, head 2/);
  await way.getByRole('button', { name: 'Layer 2, head 6' }).click();
  const again = await numbers(page, '“good” looks at “not”');
  assert.deepEqual(again, shown);

  // Against the next largest weight.
  await page.locator('[name=why-against]').last().check();
  await page.waitForFunction(
    (before) => Number(document.querySelector('[data-testid=why-lead]').dataset.value) !== before,
    shown.lead,
  );

  // Causes beside shares.
  await page.getByTestId('why-measure').click();
  await page.getByTestId('without').first().waitFor();
  assert.match(
    await page.getByTestId('without').first().textContent(),
    /without: 0\.\d+, effect [+−]/,
  );
  await assertAccessible(page);
  await assertFits(page);
});

onPage('why follows the text as it is typed', {}, async (page) => {
  await read(page, text);
  await page.getByTestId('show-why').click();
  await page.getByTestId('why-sentence').waitFor();
  const before = await page.getByTestId('why-lead').getAttribute('data-score');
  await read(page, 'A good film, and a bad one.');
  await page.waitForFunction((score) => {
    const lead = document.querySelector('[data-testid=why-lead]');
    return lead && lead.dataset.score !== score;
  }, before);
});

for (const hash of ['#view=translation', '#view=writing']) {
  onPage(`parts add up to the lead, ${hash}`, { hash }, async (page) => {
    await page.getByTestId('show-why').click();
    for (const kind of hash.includes('translation') ? ['cross', 'decoder', 'encoder'] : ['']) {
      if (kind) await page.getByTestId(`show-${kind}`).check();
      await page.getByTestId('head').last().click();
      await press(page, 2, 1);
      const query = await page
        .locator('[aria-labelledby=head-title] .readout q')
        .first()
        .textContent();
      const shown = await numbers(page, `“${query}”`);
      for (const parts of [shown.asks, shown.answers]) {
        assert.ok(Math.abs(sumOf(parts) - shown.lead) < 2e-3 * Math.max(1, Math.abs(shown.lead)));
      }
    }
  });
}

onPage(
  'what a source token answers with leads to the encoder’s heads',
  { hash: '#view=translation' },
  async (page) => {
    await page.getByTestId('show-why').click();
    await page.getByTestId('why-sentence').waitFor();
    await page.getByTestId('answers').getByRole('button').first().click();
    await page.waitForFunction(() => document.querySelector('[data-testid=show-encoder]').checked);
    await page.getByTestId('why-sentence').waitFor();
  },
);
