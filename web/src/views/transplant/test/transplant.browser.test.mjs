// The transplant view of the built page, with the real model. Its table is compared with the
// package's results in Node.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before } from 'node:test';
import { Classifier } from '../../../../../dist/index.js';
import { testsOnPage } from '../../../../../tests/page/on_page.mjs';
import {
  assertAccessibleToAll,
  assertFitsAt,
  openMenu,
  root,
  settled,
} from '../../../../../tests/page/open.mjs';

// Node may run the other binary, which rounds sums differently.
const tolerance = 1e-3;
const label = 'positive';

let classifier;
before(async () => {
  classifier = await Classifier.load(join(root, 'weights/sentiment'), {
    compute: 'f32',
    gradients: true,
  });
});
after(() => classifier?.dispose());

const onPage = testsOnPage('#view=transplant');

const cell = (page, row, index) => page.locator(`[data-row="${row}"][data-cell="${index}"]`);
const value = (locator) => locator.getAttribute('data-value').then(Number);
const near = (got, expected, what) =>
  assert.ok(Math.abs(got - expected) <= tolerance, `${what}: ${got}, not ${expected}`);
const sigmoid = (x) => 1 / (1 + Math.exp(-x));

/** Compares the table with the package's for the texts in the boxes. */
async function assertTable(page, part = { site: 'residual' }) {
  await settled(page);
  const text = await page.getByTestId('base').inputValue();
  const pair = await page.getByTestId('donor').inputValue();
  const table = await classifier.explain(
    { text, pair },
    { method: 'activation_patching', ...part, label },
  );
  const [, cells] = table.delta.shape;
  const expected = [...table.delta.data]
    .map((value, i) => [`${Math.floor(i / cells)}.${i % cells}`, value])
    .filter(([, value]) => !Number.isNaN(value));
  const shown = await page
    .locator('[data-cell]')
    .evaluateAll((list) =>
      list.map(({ dataset }) => [`${dataset.row}.${dataset.cell}`, Number(dataset.value)]),
    );
  const got = new Map(shown);
  assert.equal(shown.length, expected.length, 'cells');
  for (const [place, value] of expected) near(got.get(place), value, `${part.site} ${place}`);
  return table;
}

onPage('the table matches the package for every site', {}, async (page) => {
  const table = await assertTable(page);
  assert.equal(await page.locator('.unpaired').count(), table.delta.shape[0]);
  near(await value(page.getByTestId('score')), sigmoid(-table.base), 'score');
  assert.match(await page.getByTestId('donor-number').textContent(), /aligned, .* unaligned/);
  for (const [name, site] of [
    ['attention output', 'attention'],
    ['feed-forward output', 'feed_forward'],
  ]) {
    await page.getByText(name).click();
    await assertTable(page, { site });
  }
  await page.getByText('one head’s output').click();
  await assertTable(page, { site: 'head', head: 0 });
  await page.getByTestId('site-head').selectOption('head 6');
  await assertTable(page, { site: 'head', head: 5 });
});

onPage('estimates fill the table first and are plotted against Δ', {}, async (page) => {
  // Records the estimates that are ever in the table.
  await page.evaluate(() => {
    window.estimated = {};
    new MutationObserver(() => {
      for (const { dataset } of document.querySelectorAll('[data-estimated]'))
        window.estimated[dataset.estimated] = Number(dataset.value);
    }).observe(document.body, { subtree: true, childList: true, attributes: true });
  });
  const [text, pair] = ['The plot is not so bad.', 'The plot is so good.'];
  await page.getByTestId('donor').fill(pair);
  await page.getByTestId('base').fill(text);
  await settled(page);
  await page.evaluate(() => (window.estimated = {}));
  await page.getByTestId('base').fill(`${text} `);
  const table = await assertTable(page);
  assert.equal(await page.locator('[data-estimated]').count(), 0);

  let first;
  const onProgress = (soFar) => (first ??= soFar);
  const options = { method: 'activation_patching', label, onProgress };
  await classifier.explain({ text: `${text} `, pair }, options);
  const [rows, cells] = table.delta.shape;
  const places = Array.from(
    { length: rows * cells },
    (_, i) => `${Math.floor(i / cells)}.${i % cells}`,
  ).filter((_, i) => !Number.isNaN(first.delta.data[i]));
  const at = ({ data }, place) => {
    const [row, cell] = place.split('.').map(Number);
    return data[row * cells + cell];
  };
  const estimated = await page.evaluate(() => window.estimated);
  assert.deepEqual(Object.keys(estimated).sort(), [...places].sort());
  for (const place of places) near(estimated[place], at(first.delta, place), `estimate ${place}`);

  const points = await page.locator('[data-point]').evaluateAll((list) =>
    list.map(({ dataset, cx, cy }) => ({
      ...{ place: dataset.point, x: cx.baseVal.value, y: cy.baseVal.value },
      ...{ estimate: Number(dataset.estimate), measured: Number(dataset.measured) },
    })),
  );
  const differing = places.filter((place) => at(table.delta, place) !== 0);
  assert.deepEqual(points.map(({ place }) => place).sort(), differing.sort());
  for (const { place, estimate, measured } of points) {
    near(estimate, at(first.delta, place), `x of ${place}`);
    near(measured, at(table.delta, place), `y of ${place}`);
  }
  // Larger numbers are further to the right, and higher.
  const most = (key) => points.reduce((a, b) => (b[key] > a[key] ? b : a));
  assert.equal(Math.max(...points.map(({ x }) => x)), most('estimate').x);
  assert.equal(Math.min(...points.map(({ y }) => y)), most('measured').y);
  const mean = (of) => points.reduce((sum, point) => sum + of(point), 0) / points.length;
  const [x, y] = [mean((p) => p.estimate), mean((p) => p.measured)];
  const covariance = mean((p) => (p.estimate - x) * (p.measured - y));
  const variances = mean((p) => (p.estimate - x) ** 2) * mean((p) => (p.measured - y) ** 2);
  const told = await page.getByTestId('correlation').textContent();
  const [, said, over] = /is (−?[\d.]+), over (\d+) cells/.exec(told);
  const expected = covariance / Math.sqrt(variances);
  assert.ok(Math.abs(Number(said.replace('−', '-')) - expected) < 0.006, `${told} ${expected}`);
  assert.equal(Number(over), points.length);
});

onPage('cells can be patched by mouse, keys and drag', {}, async (page) => {
  const table = await assertTable(page);
  const [, cells] = table.delta.shape;
  const told = page.getByTestId('told');
  const performed = async (row, index) => {
    assert.equal(await cell(page, row, index).getAttribute('aria-pressed'), 'true');
    const delta = table.delta.data[row * cells + index];
    near(await value(page.getByTestId('carried')), delta, 'carried');
    const positive = sigmoid(table.base + delta);
    const score = Math.max(positive, 1 - positive);
    near(await value(page.getByTestId('score')), score, 'score');
    const verdict = positive > 0.5 ? 'positive' : 'negative';
    assert.equal(await page.getByTestId('verdict').textContent(), verdict);
  };
  await cell(page, 1, 4).click();
  await performed(1, 4);
  assert.match(await told.textContent(), /“good” patched before layer 2.*stays negative/is);
  await page.keyboard.press('ArrowLeft');
  await performed(1, 3);
  await page.keyboard.press('ArrowUp');
  await performed(0, 3);
  assert.match(await told.textContent(), /“not” removed before layer 1.*becomes positive/is);
  await page.keyboard.press('Escape');
  assert.equal(await page.getByTestId('carried').count(), 0);

  const middle = async (row, index) => {
    const box = await cell(page, row, index).boundingBox();
    return [box.x + box.width / 2, box.y + box.height / 2];
  };
  await cell(page, 3, 2).scrollIntoViewIfNeeded();
  await page.mouse.move(...(await middle(2, 2)));
  await page.mouse.down();
  await page.mouse.move(...(await middle(3, 2)), { steps: 4 });
  await performed(3, 2);
  await page.mouse.up();
  await performed(3, 2);
  await page.getByTestId('reset').click();
  near(await value(page.getByTestId('score')), sigmoid(-table.base), 'score');
});

onPage('typing recomputes the table, and a patched token stays patched', {}, async (page) => {
  await cell(page, 2, 4).click();
  await page.getByTestId('base').fill('');
  await page.getByText('Type two texts').waitFor();
  assert.equal(await page.getByTestId('transplant').count(), 0);
  await page.getByTestId('base').pressSequentially('The plot is not really good.');
  await assertTable(page);
  await cell(page, 2, 5).click();
  await page.getByTestId('base').fill('The plot is really good.');
  await assertTable(page);
  assert.equal(await cell(page, 2, 4).getAttribute('aria-pressed'), 'true');
  await page.getByTestId('donor').fill('Der Film war gut. 电影');
  await assertTable(page);
});

onPage('the texts can be swapped, and each example has its table', {}, async (page) => {
  const donor = await page.getByTestId('donor').inputValue();
  await page.getByRole('button', { name: 'Swap the two texts' }).click();
  await assertTable(page);
  assert.equal(await page.getByTestId('base').inputValue(), donor);
  const examples = page.getByRole('group', { name: 'Examples' }).getByRole('button');
  const notices = new Set();
  for (let i = 0; i < (await examples.count()); i++) {
    await examples.nth(i).click();
    await assertTable(page);
    notices.add(await page.getByTestId('notice').textContent());
  }
  assert.ok(notices.size >= 5 && !notices.has(''));
});

onPage('a link restores texts, site and cell', {}, async (page, { context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.getByTestId('donor').fill('The plot is fine & 100% good.');
  await page.getByText('one head’s output').click();
  await page.getByTestId('site-head').selectOption('head 3');
  await settled(page);
  await cell(page, 1, 2).click();
  await openMenu(page);
  await page.getByRole('button', { name: 'Copy link' }).click();
  await page.getByRole('button', { name: 'Copied', exact: true }).waitFor();
  const link = await page.evaluate(() => navigator.clipboard.readText());
  const other = await context.newPage();
  await other.goto(link);
  await settled(other);
  await assertTable(other, { site: 'head', head: 2 });
  assert.equal(await other.getByTestId('donor').inputValue(), 'The plot is fine & 100% good.');
  assert.equal(await cell(other, 1, 2).getAttribute('aria-pressed'), 'true');
});

onPage('nothing scrolls sideways', { viewport: { width: 320, height: 900 } }, async (page) => {
  const long = 'It was not good, but I have seen worse in my time. ';
  for (const [donor, base] of [
    ['Good.', 'x'.repeat(120)],
    [long.replace('not ', '').repeat(7), long.repeat(7)],
  ]) {
    await page.getByTestId('donor').fill(donor);
    await page.getByTestId('base').fill(base);
    await assertTable(page);
    await assertFitsAt(page, [390, 1280, 320]);
  }
  const box = await cell(page, 0, 0).boundingBox();
  assert.ok(box.width >= 24 && box.height >= 24, `${box.width} × ${box.height}`);
});

for (const width of [320, 390])
  onPage(
    `every cell shows its number at ${width} pixels`,
    { viewport: { width, height: 900 } },
    async (page) => {
      const examples = page.getByRole('group', { name: 'Examples' }).getByRole('button');
      for (let i = 0; i < (await examples.count()); i++) {
        await examples.nth(i).click();
        await settled(page);
        const cells = await page.locator('[data-cell]').evaluateAll((list) =>
          list.map((each) => {
            const range = document.createRange();
            range.selectNodeContents(each);
            const [text, box] = [range.getBoundingClientRect(), each.getBoundingClientRect()];
            return {
              shown: each.textContent.trim(),
              value: Number(each.dataset.value),
              fits: text.left >= box.left && text.right <= box.right,
            };
          }),
        );
        assert.ok(cells.length > 10);
        for (const { shown, value, fits } of cells) {
          const said = Number(shown.replace('−', '-'));
          assert.ok(shown !== '' && Math.abs(said - value) <= 0.0501, `${shown}: ${value}`);
          assert.ok(fits, `${shown} is wider than its cell`);
        }
      }
    },
  );

onPage('axe finds no violations', {}, async (page) => {
  await cell(page, 1, 4).click();
  await assertAccessibleToAll(page);
});
