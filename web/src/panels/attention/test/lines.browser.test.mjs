// One head as lines between tokens, in every view with heads.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { testsOnPage } from '../../../../../tests/page/on_page.mjs';
import {
  assertAccessibleToAll,
  assertFits,
  read,
  root,
  savedBy,
  settled,
} from '../../../../../tests/page/open.mjs';

const onPage = testsOnPage();

const text = 'The plot is not good.';
const drawn = (page) =>
  page
    .locator('[data-testid=lines] path')
    .evaluateAll((list) =>
      list.map(({ dataset: { query, key, value } }) => [query, key, value].map(Number)),
    );
const cells = (page) =>
  page
    .locator('[data-testid=heatmap] [data-value]')
    .evaluateAll((list) =>
      list.map(({ dataset: { query, key, value } }) => [query, key, value].map(Number)),
    );
/** Shows the head as a map or as lines, and waits until it is drawn. */
async function draw(page, how) {
  await page.getByTestId(`draw-${how}`).check();
  await page.getByTestId(how === 'map' ? 'heatmap' : how).waitFor();
}
const token = (page, side, index) =>
  page.locator(`[data-testid=line-token][data-side=${side}][data-token="${index}"]`);
const order = (list) => [...list].sort((a, b) => a[0] - b[0] || a[1] - b[1]);

/** Returns the map's weights of at least `least`, in the order of the lines. */
const heavy = (map, least) => order(map.filter(([, , value]) => value >= least));

async function linesAreThoseOfTheMap(page) {
  await draw(page, 'map');
  const map = await cells(page);
  await draw(page, 'lines');
  assert.deepEqual(order(await drawn(page)), heavy(map, 0.02));
  const first = map.filter(([query]) => query === 0);
  await token(page, 'query', 0).hover();
  assert.deepEqual(order(await drawn(page)), heavy(first, 0.002));
  await page.keyboard.press('Escape');
  return map;
}

for (const hash of ['', '#view=translation', '#view=writing']) {
  onPage(`lines show the weights of the map, ${hash || 'sentiment'}`, { hash }, async (page) => {
    await page.getByTestId('head').last().click();
    const map = await linesAreThoseOfTheMap(page);
    assert.ok(map.length >= 9);
    if (hash.includes('translation')) {
      for (const kind of ['encoder', 'decoder']) {
        await page.getByTestId(`show-${kind}`).check();
        await linesAreThoseOfTheMap(page);
      }
    }
  });
}

onPage('a visitor’s own model has lines, too', { hash: '#view=model' }, async (page) => {
  const folder = join(root, 'tests/fixtures/checkpoints/distilbert_sequence');
  await page.locator('input[type=file]').first().setInputFiles(folder);
  await page.getByTestId('head').first().waitFor();
  await linesAreThoseOfTheMap(page);
});

onPage(
  'a token on either side shows its lines when pointed at, and a press pins them',
  {},
  async (page) => {
    await read(page, text);
    await draw(page, 'map');
    const map = await cells(page);
    await draw(page, 'lines');
    await token(page, 'key', 3).hover();
    const onto = map.filter(([, key]) => key === 3);
    assert.deepEqual(order(await drawn(page)), heavy(onto, 0.002));
    await token(page, 'query', 2).click();
    assert.equal(await page.getByTestId('pinned').count(), 1);
    await token(page, 'query', 4).hover();
    const from = map.filter(([query]) => query === 2);
    assert.deepEqual(order(await drawn(page)), heavy(from, 0.002), 'pinned');
    // A press on the other side selects the pair, and the lines stay.
    await token(page, 'key', 1).click();
    assert.deepEqual(order(await drawn(page)), heavy(from, 0.002));
    assert.match(await page.locator('.readout').textContent(), /is.*attends to.*plot/s);
    await page.getByRole('button', { name: 'Show all lines' }).click();
    assert.deepEqual(order(await drawn(page)), heavy(map, 0.02));
  },
);

onPage('lines can be used with the keyboard only', {}, async (page) => {
  await read(page, text);
  await draw(page, 'lines');
  await page.getByTestId('draw-lines').focus();
  await page.keyboard.press('Tab');
  const focused = () =>
    page.evaluate(() => {
      const { side, token } = document.activeElement.dataset;
      return `${side} ${token}`;
    });
  assert.match(await focused(), /^query \d$/);
  await page.keyboard.press('Control+Home');
  assert.equal(await focused(), 'query 0');
  await page.keyboard.press('ArrowDown');
  assert.equal(await focused(), 'query 1');
  assert.deepEqual(new Set((await drawn(page)).map(([query]) => query)), new Set([1]));
  await page.keyboard.press('Enter');
  await page.keyboard.press('ArrowRight');
  assert.match(await focused(), /^key \d$/);
  await page.keyboard.press('Control+Home');
  await page.keyboard.press('Escape');
  assert.equal(await page.getByTestId('pinned').count(), 0);
});

onPage(
  'of 512 tokens, the lines of one are drawn, and every token can be reached',
  {},
  async (page) => {
    await read(page, 'good, not bad; '.repeat(130));
    await draw(page, 'lines');
    const places = (side) =>
      page
        .locator(`[data-testid=line-token][data-side=${side}]`)
        .evaluateAll((list) => list.map(({ dataset }) => Number(dataset.token)));
    assert.equal((await places('query')).length, 24);
    await token(page, 'query', (await places('query'))[2]).hover();
    const lines = await drawn(page);
    assert.equal(new Set(lines.map(([query]) => query)).size, 1);
    assert.ok(lines.length <= 24);
    const seen = new Set(await places('query'));
    const earlier = page.getByRole('button', { name: 'Earlier tokens' });
    while (await earlier.isEnabled()) await earlier.click();
    const later = page.getByRole('button', { name: 'Later tokens' });
    for (;;) {
      for (const query of await places('query')) seen.add(query);
      if (!(await later.isEnabled())) break;
      await later.click();
    }
    assert.equal(seen.size, 512);
  },
);

onPage('lines are saved as drawn, and a link restores them', {}, async (page) => {
  await read(page, text);
  await draw(page, 'lines');
  await token(page, 'query', 3).click();
  const saved = (name) => savedBy(page, page.getByRole('button', { name, exact: true }));
  const svg = `${await saved('SVG')}`;
  const values = [...svg.matchAll(/data-value="([^"]+)"/g)].map(([, value]) => Number(value));
  assert.deepEqual(
    values,
    (await drawn(page)).map(([, , value]) => value),
  );
  assert.equal(svg.match(/>plot<\/text>/g).length, 2);
  const png = await saved('PNG');
  assert.deepEqual([...png.subarray(1, 4)], [...Buffer.from('PNG')]);
  await page.waitForURL(/draw=lines/);
  await page.reload();
  await settled(page);
  await page.getByTestId('lines').waitFor();
  assert.equal(await page.getByTestId('draw-lines').isChecked(), true);
});

onPage('axe finds no problems in lines', {}, async (page) => {
  for (const typed of [text, 'good, not bad; '.repeat(30)]) {
    await read(page, typed);
    await draw(page, 'lines');
    // A long text shows a part, around the selected token.
    await page.locator('[data-testid=line-token][data-side=query]').nth(2).hover();
    await assertAccessibleToAll(page);
  }
});

onPage(
  'a tap shows a token’s lines, at 320 pixels',
  { viewport: { width: 320, height: 800 }, hasTouch: true },
  async (page) => {
    for (const typed of [text, 'good, not bad; '.repeat(30), `${'x'.repeat(40)} good`]) {
      await read(page, typed);
      await draw(page, 'lines');
      await page.locator('[data-testid=line-token][data-side=query]').nth(1).tap();
      assert.equal(new Set((await drawn(page)).map(([query]) => query)).size, 1);
      await assertFits(page);
    }
  },
);
