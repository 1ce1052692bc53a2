// The main way through the view Heads: the head that matters most, its own link, its place at work, and
// the texts in which it is strongest.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { assertNear, mainWay, testsOnPage, valuesOf } from '../../../../../tests/page/on_page.mjs';
import { root, settled } from '../../../../../tests/page/open.mjs';
import { source } from '../../../../../tests/page/source.mjs';
import { ranked } from './ranked.mjs';

const { setOf } = await source('panels/heads/head-roles');
const { measuredIn } = await source('panels/heads/measured/heads-file');
const { textsOf } = await source('views/heads/strongest/texts');

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

const onPage = testsOnPage('#view=terms');
const keyOf = ({ attention, layer, head }) => `${attention}.${layer}.${head}`;
/** Returns the texts of links. */
const textsIn = (links) =>
  links.evaluateAll((list) =>
    list.map(({ hash }) => new URLSearchParams(hash.slice(1)).get('text')),
  );

const cases = {
  'a head of the sentiment model with a role': ['sentiment', 'encoder', true],
  'one without': ['sentiment', 'encoder', false],
  'a cross-attention head without a role': ['en-de', 'cross', false],
  'a head of a translator’s decoder': ['en-de', 'decoder', true],
  'a head of the writer': ['writer', 'decoder', true],
};
for (const [name, [model, attention, role]] of Object.entries(cases)) {
  onPage(`the texts in which it is strongest: ${name}`, {}, async (page) => {
    const { heads } = measuredIn({ texts: 1, heads: await measured(model) });
    const [head, other] = heads.filter(
      (each) => each.attention === attention && (setOf(each) !== undefined) === role,
    );
    const show = (one) =>
      page.evaluate((to) => (location.hash = to), `#view=heads&model=${model}&head=${keyOf(one)}`);
    const expected = await ranked(model, head, setOf(head), textsOf[model]);
    const most = expected.slice(0, 5).map(({ value }) => value);

    await show(head);
    await page.getByTestId('find-strongest').click();
    const items = page.getByTestId('strong-text');
    await items.nth(4).waitFor();
    assertNear(await valuesOf(items), most, 'the largest values');
    const texts = await textsIn(items.getByRole('link'));
    const own = texts.map((text) => expected.find((each) => each.text === text).value);
    assertNear(own, most, 'the values of these texts');
    const told = await page.getByTestId('ranked-by').textContent();
    assert.match(told, new RegExp(`Of ${expected.length} short texts`));

    // Texts that were read once serve all heads.
    const title = (of) => `Layer ${of.layer + 1}, head ${of.head + 1}`;
    const heading = page.locator('#one-head-title');
    if (other) {
      await show(other);
      await heading.filter({ hasText: new RegExp(title(other), 'i') }).waitFor();
      assert.equal(await page.getByTestId('find-strongest').count(), 0);
      await show(head);
      await heading.filter({ hasText: new RegExp(title(head), 'i') }).waitFor();
    }

    // The link leads to the head on this text, where the pair has the same weight.
    const first = items.first();
    const weight = await first.getByTestId('strong-weight').textContent();
    const pair = await Promise.all(
      ['strong-query', 'strong-key'].map((id) => first.getByTestId(id).textContent()),
    );
    await first.getByRole('link').click();
    await page
      .locator('#head-title')
      .filter({ hasText: title(head) })
      .waitFor();
    await settled(page);
    assert.equal(await page.getByTestId('input').inputValue(), texts[0]);
    await page.getByTestId('draw-table').check();
    const weights = await page.getByTestId('table').evaluate((table, [query, key]) => {
      const columns = [...table.tHead.rows[0].cells].map(({ textContent }) => textContent);
      const rows = [...table.tBodies[0].rows].filter(({ cells }) => cells[0].textContent === query);
      return rows.flatMap(({ cells }) =>
        columns.flatMap((label, i) => (label === key ? [cells[i].textContent] : [])),
      );
    }, pair);
    assert.ok(weights.includes(weight), `${pair}: ${weight}, not ${weights}`);
  });
}
