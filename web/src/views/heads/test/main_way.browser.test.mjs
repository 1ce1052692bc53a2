// The main way through the view Heads: the head that matters most, its own link, and its place at work.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { mainWay } from '../../../../../tests/page/on_page.mjs';
import { root, settled } from '../../../../../tests/page/open.mjs';

const measured = async (model) =>
  JSON.parse(await readFile(join(root, 'weights', model, 'heads.json'), 'utf8')).heads;

mainWay(
  'a head is found by what is lost without it, and seen at work',
  '#view=heads',
  async (page) => {
    const heads = await measured('sentiment');
    const cards = page.getByTestId('card');
    await cards.nth(heads.length - 1).waitFor();
    const [most] = [...heads].sort((a, b) => b.zero.mean - a.zero.mean);
    const first = cards.first().getByRole('link');
    const title = `Layer ${most.layer + 1}, head ${most.head + 1}`;
    assert.equal(await first.textContent(), title);
    // Heads that were set before training say so.
    assert.equal(await page.locator('[data-testid=card] [data-began]').count(), 4);
    await first.click();
    const one = page.getByTestId('one-head');
    await one.getByText('On 1,000 texts').waitFor();
    await page.waitForURL(new RegExp(`head=encoder\\.${most.layer}\\.${most.head}`));
    await one.getByRole('link', { name: 'See it at work' }).click();
    await page.locator('#head-title').filter({ hasText: title }).waitFor();
    await page.goBack();
    await one.waitFor();
    await page.getByText('To German').click();
    await cards.nth(79).waitFor();
    assert.match(await cards.first().textContent(), /(Encoder|Decoder|Cross-attention) layer/);
    await page.getByTestId('order').selectOption('previous');
    await cards.first().locator('[data-role=previous]').waitFor();
    await cards.first().getByRole('link').click();
    await one.getByRole('link', { name: 'See it at work' }).click();
    await page.waitForURL(/view=translation/);
    await settled(page);
    await page.goBack();
    await one.waitFor();
  },
);
