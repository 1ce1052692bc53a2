// How a weight is computed: q, k and their products, in every view with heads.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { Classifier } from '../../../../../dist/index.js';
import { testsOnPage } from '../../../../../tests/page/on_page.mjs';
import {
  assertAccessible,
  assertFits,
  read,
  root,
  settled,
} from '../../../../../tests/page/open.mjs';

const onPage = testsOnPage();

const numberIn = async (locator) => {
  const text = (await locator.textContent()).trim();
  return text === '<0.001' ? 0 : Number(text.replace('−', '-'));
};
const number = (page, name) => numberIn(page.getByTestId(name));
const readout = (page) => numberIn(page.locator('[aria-labelledby=head-title] .readout output'));

async function open(page) {
  await page.getByTestId('show-pair').click();
  await page.getByTestId('softmax').waitFor();
}

for (const hash of ['', '#view=translation', '#view=writing']) {
  onPage(`a weight follows from its q and k, ${hash || 'sentiment'}`, { hash }, async (page) => {
    await page.getByTestId('head').last().click();
    await open(page);
    for (const kind of hash.includes('translation') ? ['cross', 'decoder', 'encoder'] : ['']) {
      if (kind) await page.getByTestId(`show-${kind}`).check();
      const cells = page.locator('[data-testid=heatmap] [data-value]');
      for (const cell of [cells.first(), cells.last()]) {
        // The verdict at the window's edge may cover a cell.
        await cell.evaluate((each) => each.scrollIntoView({ block: 'center' }));
        await cell.click({ force: true });
        await page.getByTestId('softmax').waitFor();
        const value = Number(await cell.getAttribute('data-value'));
        const strips = page.locator('[data-testid=pair] [data-testid=strip]');
        assert.equal(await strips.count(), 3);
        await page.waitForFunction((weight) => {
          const shown = document.querySelector('[data-testid=softmax]')?.textContent.trim();
          return (
            shown !== undefined && Math.abs(parseFloat(shown.replace('<', '')) - weight) < 0.02
          );
        }, value);
        assert.ok(Math.abs((await number(page, 'softmax')) - (await readout(page))) < 0.02);
      }
    }
  });
}

onPage('sums match the package’s trace', {}, async (page) => {
  const text = 'The plot is not good.';
  await read(page, text);
  await page.locator('[data-testid=head][data-layer="1"][data-head="2"]').click();
  const classifier = await Classifier.load(join(root, 'weights/sentiment'), { compute: 'f32' });
  const name = (part) => `encoder.layers.1.self_attn.${part}`;
  const trace = [name('q'), name('k'), name('scores')];
  const { trace: traced, tokens } = await classifier.classify(text, { trace });
  classifier.dispose();
  const part = (tensor, token) => tensor.data.subarray((token * 8 + 2) * 16, (token * 8 + 3) * 16);
  const count = tokens.length;
  const pairs = Array.from({ length: count * count }, (_, i) => {
    const [query, key] = [Math.floor(i / count), i % count];
    const [q, k] = [part(traced[name('q')], query), part(traced[name('k')], key)];
    const sum = q.reduce((all, value, x) => all + value * k[x], 0);
    const score = traced[name('scores')].data[2 * count * count + i];
    return { query, key, q, k, sum, score };
  });
  for (const { sum, score } of pairs) assert.ok(Math.abs(score - sum / 4) < 1e-4);
  const { query, key, q, k, sum } = pairs.reduce((a, b) => (b.score > a.score ? b : a));
  await page.locator(`[data-testid=heatmap] [data-query="${query}"][data-key="${key}"]`).click();
  await open(page);
  assert.ok(Math.abs((await number(page, 'sum')) - sum) < 0.01);
  assert.ok(Math.abs((await number(page, 'scaled')) - sum / 4) < 0.01);
  assert.doesNotMatch(await page.getByTestId('pair').textContent(), /8-bit integers/);

  // The numbers of one dimension, by pointer and by keys.
  const strip = page.locator('[data-name="q × k"] [data-testid=strip]');
  await strip.focus();
  for (let i = 0; i < 3; i++) await page.keyboard.press('ArrowRight');
  const said = await page.locator('[data-testid=pair] [role=status]').textContent();
  assert.match(said, /Dimension 4: .+ × .+ = /);
  const values = said
    .replaceAll('−', '-')
    .match(/-?\d+\.\d+/g)
    .map(Number);
  assert.ok(Math.abs(values[0] - q[3]) < 0.01 && Math.abs(values[1] - k[3]) < 0.01);
  await assertAccessible(page);

  // A head that is off still computes them; a hidden token is masked.
  await page.getByTestId('token').nth(key).click();
  await settled(page);
  await page.locator('[data-testid=own-score]', { hasText: '∞' }).waitFor();
  assert.equal(await number(page, 'softmax'), 0);
  await page.getByRole('button', { name: 'Hide q · k' }).click();
  assert.equal(await page.getByTestId('pair').count(), 0);
});

onPage(
  'a visitor’s own model, and one that does not divide by √d',
  { hash: '#view=model' },
  async (page) => {
    for (const [name, more] of [
      ['distilbert_sequence', false],
      ['gpt2_unscaled', true],
    ]) {
      await page
        .getByTestId('folder')
        .setInputFiles(join(root, 'tests/fixtures/checkpoints', name));
      await page.getByTestId('head').first().waitFor();
      await page.locator('[data-testid=heatmap] [data-query="2"][data-key="1"]').click();
      await open(page);
      assert.equal((await page.getByTestId('scaled').count()) === 0, more, name);
      assert.ok(Math.abs((await number(page, 'softmax')) - (await readout(page))) < 0.002, name);
      await page.getByTestId('another').click();
    }
  },
);

onPage(
  'strips fit at 320 pixels, next to lines, too',
  { viewport: { width: 320, height: 800 } },
  async (page) => {
    await page.getByTestId('draw-lines').check();
    await open(page);
    await assertFits(page);
  },
);
