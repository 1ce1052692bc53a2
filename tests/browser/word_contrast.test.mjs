// Why this word and not that one, in Chromium; the numbers are made anew by the package in Node.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { Generator } from '../../dist/index.js';
import { launch, looks, root, serve, settled, violationsOf, visit } from './open.mjs';

let browser, server, writer;
before(async () => {
  [browser, server, writer] = await Promise.all([
    launch(),
    serve(),
    Generator.load(join(root, 'weights/writer')),
  ]);
});
after(async () => {
  writer?.dispose();
  await browser?.close();
  await server?.close();
});

const text = 'The acting is dreadful, so this film is';

const onPage = (name, options, body) =>
  test(name, () =>
    visit(browser, `${server.url}#view=writing`, options, async (page) => {
      await page.getByTestId('input').fill(text);
      await settled(page);
      await page.getByTestId('contrast').click();
      await told(page);
      await body(page);
    }),
  );

/** Waits until every token was hidden once. */
const told = (page) =>
  page.getByTestId('contrast-told').filter({ hasText: 'counts most' }).waitFor();

/** By how much one token leads another, with the token at `hidden` unseen. */
async function lead(first, second, hidden) {
  const patch = Array.from(
    { length: hidden === undefined ? 0 : writer.info.layers },
    (_, layer) => ({
      name: `decoder.layers.${layer}.self_attn.scores`,
      keys: [hidden],
      value: -Infinity,
    }),
  );
  const { next } = await writer.next(text, { count: 0, temperature: 1, topK: 0, topP: 1, patch });
  const of = (wanted) => next.find((each) => each.text.trim() === wanted).logprob;
  return of(first) - of(second);
}

const chosen = (page, name) =>
  page.getByTestId(name).evaluate(({ selectedOptions }) => selectedOptions[0].textContent.trim());

async function assertCounts(page) {
  const [first, second] = [await chosen(page, 'why'), await chosen(page, 'whynot')];
  const whole = await lead(first, second);
  const shown = Number(await page.getByTestId('contrast-told').getAttribute('data-value'));
  assert.ok(Math.abs(shown - whole) < 1e-3, `${first} ${second}: ${shown}, not ${whole}`);
  const values = await page
    .getByTestId('counts')
    .evaluateAll((list) => list.map(({ dataset }) => Number(dataset.value)));
  for (const [token, value] of values.entries()) {
    const expected = whole - (await lead(first, second, token));
    assert.ok(Math.abs(value - expected) < 1e-3, `${token}: ${value}, not ${expected}`);
  }
  return values;
}

onPage('each token’s part in the lead is what goes when it is hidden', {}, async (page) => {
  const before = await assertCounts(page);
  await page.getByTestId('whynot').selectOption({ index: 4 });
  await told(page);
  assert.notDeepEqual(await assertCounts(page), before);
});

onPage('another text is measured anew', {}, async (page) => {
  await page.getByTestId('input').fill('I loved');
  await settled(page);
  await told(page);
  assert.equal(await page.getByTestId('counts').count(), 2);
});

for (const [look, options] of looks) {
  onPage(`axe finds nothing to object to, ${look}`, options, async (page) => {
    const found = (await violationsOf(page)).map(
      ({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html)}`,
    );
    assert.deepEqual(found, []);
  });
}

onPage(
  'nothing scrolls sideways on a phone',
  { viewport: { width: 320, height: 800 } },
  async (page) => {
    const [inner, outer] = await page.evaluate(() => [
      document.documentElement.scrollWidth,
      document.documentElement.clientWidth,
    ]);
    assert.ok(inner <= outer, `${inner} wide in ${outer}`);
  },
);
