// The ledger in the sentiment view: every number matches the package's.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before } from 'node:test';
import { Classifier } from '../../../../../dist/index.js';
import { testsOnPage } from '../../../../../tests/page/on_page.mjs';
import {
  assertAccessibleToAll,
  assertFits,
  goTo,
  read,
  root,
  settled,
  workersLeft,
} from '../../../../../tests/page/open.mjs';

const onPage = testsOnPage();
// Node may run the other one of the two binaries, whose sums round differently.
const tolerance = 2e-3;
const label = 'positive';
const sentence = 'The plot is not good at all.';

let classifier;
before(async () => {
  classifier = await Classifier.load(join(root, 'weights/sentiment'), {
    compute: 'f32',
    explain: true,
  });
});
after(() => classifier?.dispose());

const sheet = (page) => page.getByTestId('ledger');
const values = (locator) =>
  locator.evaluateAll((list) => list.map(({ dataset }) => Number(dataset.value)));
const value = (locator) => locator.getAttribute('data-value').then(Number);

function assertClose(actual, expected, what) {
  assert.equal(actual.length, expected.length, `${what}: count`);
  const worst = actual.reduce((max, each, i) => Math.max(max, Math.abs(each - expected[i])), 0);
  assert.ok(worst <= tolerance, `${what}: differs by ${worst}`);
}

/** Opens the ledger and waits until it shows the text, including effects. */
async function open(page, text) {
  await page.getByText('ledger', { exact: true }).click();
  await read(page, text);
  await sheet(page).locator('tbody tr').last().waitFor();
  await page.locator('[aria-busy="false"] [data-testid="ledger"]').waitFor();
  // The sheet may not be busy yet.
  await page.waitForFunction(() =>
    [...document.querySelectorAll('[data-testid=component-effect]')].every(
      ({ textContent }) => !textContent.includes('…'),
    ),
  );
}

/** Returns the package's values, [tokens, components]; only layer `unfolded` has single heads. */
function expectedOf(table, view, unfolded) {
  const groups = new Map();
  table.columns.forEach((column, i) => {
    const layer = /^layers\.(\d+)\.self_attn/.exec(column)?.[1];
    const key = layer !== undefined && Number(layer) !== unfolded ? `heads ${layer}` : column;
    groups.set(key, [...(groups.get(key) ?? []), i]);
  });
  const width = table.columns.length;
  const cells = table.tokens.map((_, token) =>
    [...groups.values()].map((columns) =>
      columns.reduce((sum, i) => sum + table[view].data[token * width + i], 0),
    ),
  );
  return { keys: [...groups.keys()], cells };
}

onPage('every entry matches the package’s, and the sum matches the verdict', {}, async (page) => {
  await open(page, sentence);
  const table = await classifier.explain(sentence, {
    method: 'direct_logit_attribution',
    label,
    effects: true,
  });
  const { scores } = await classifier.classify(sentence);
  for (const [view, name] of [
    ['read', 'at the token it was read from'],
    ['written', 'at the token it was written to'],
  ]) {
    await page.getByText(name).click();
    const { keys, cells } = expectedOf(table, view);
    assert.ok(keys.includes('bias') && !keys.includes('rounding'));
    assertClose(await values(sheet(page).locator('[data-row]')), cells.flat(), view);
    const sums = cells.map((row) => row.reduce((a, b) => a + b, 0));
    assertClose(await values(page.getByTestId('token-sum')), sums, 'sums of tokens');
    assertClose(await values(page.getByTestId('token')), sums, 'colors of tokens');
    const columns = keys.map((_, i) => cells.reduce((sum, row) => sum + row[i], 0));
    assertClose(await values(page.getByTestId('component-sum')), columns, 'sums of parts');
    const total = await value(page.getByTestId('ledger-sum'));
    assertClose([total], [scores[1].logit - scores[0].logit], 'sum');
    assertClose([total], [columns.reduce((a, b) => a + b, 0)], 'sum of sums');
    const score = await value(page.getByTestId('score'));
    assertClose([1 / (1 + Math.exp(Math.abs(total) * -1))], [score], 'score');
  }
});

onPage(
  'effects of parts are measured, with − without, with a layer’s heads as one',
  {},
  async (page) => {
    await open(page, sentence);
    const table = await classifier.explain(sentence, {
      method: 'direct_logit_attribution',
      label,
      effects: true,
    });
    const effects = await values(page.getByTestId('component-effect'));
    const { keys } = expectedOf(table, 'read');
    for (const [i, key] of keys.entries()) {
      const layer = /^heads (\d)/.exec(key)?.[1];
      if (key === 'bias') {
        assert.ok(Number.isNaN(effects[i]), key);
      } else if (layer === undefined) {
        assertClose([effects[i]], [table.effects[table.columns.indexOf(key)]], key);
      } else {
        const heads = Array.from({ length: 8 }, (_, head) => ({ layer: Number(layer), head }));
        const ablate = heads.map((head) => ({ attention: 'encoder', ...head }));
        const { scores } = await classifier.classify(sentence, { ablate });
        assertClose([effects[i]], [table.value - (scores[1].logit - scores[0].logit)], key);
      }
    }
    await sheet(page).getByRole('button', { name: 'layer 2' }).click();
    const { keys: unfolded, cells } = expectedOf(table, 'read', 1);
    assertClose(await values(sheet(page).locator('[data-row]')), cells.flat(), 'unfolded');
    const ofHeads = (await values(page.getByTestId('component-effect'))).slice(4, 12);
    const expected = unfolded.slice(4, 12).map((key) => table.effects[table.columns.indexOf(key)]);
    assertClose(ofHeads, expected, 'effects of heads');
    // The effects of single heads do not add up.
    const together = effects[4];
    assert.ok(Math.abs(ofHeads.reduce((a, b) => a + b, 0) - together) > 0.01);
  },
);

onPage('what heads carry, and where they look, is that of the package', {}, async (page) => {
  await open(page, sentence);
  await page.waitForFunction(
    () => document.querySelector('[data-testid=component-routing][data-value]') !== null,
  );
  const table = await classifier.explain(sentence, {
    ...{ method: 'direct_logit_attribution', label, loadings: true },
  });
  const { columns, heads, asks, answers, content } = table;
  assert.equal(heads.length, 32);
  const sumOf = ({ data }, column) => {
    let sum = 0;
    for (let i = column; i < data.length; i += columns.length) sum += data[i];
    return sum;
  };
  const shown = async (row) => values(page.getByTestId(`component-${row}`));
  // The first two components are single columns: tokens and positions.
  for (const [i, column] of ['embed_tokens', 'embed_positions'].entries()) {
    const at = columns.indexOf(column);
    const routing = sumOf(asks, at) + sumOf(answers, at);
    assertClose([(await shown('carried'))[i]], [sumOf(content, at)], `carried ${column}`);
    assertClose([(await shown('routing'))[i]], [routing], `routing ${column}`);
  }
});

onPage('entries can be read by pointer and keys', {}, async (page) => {
  await open(page, sentence);
  const told = page.getByTestId('ledger-cell');
  const cell = (row, column) => sheet(page).locator(`[data-row="${row}"][data-column="${column}"]`);
  await cell(3, 2).hover();
  assert.match(await told.textContent(), /^“not”, layer 1, heads: [+−]\d\.\d{3}$/);
  await cell(3, 2).focus();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowRight');
  await page.locator('[data-row="4"][data-column="3"]:focus').waitFor();
  const printed = (await value(cell(4, 3)))
    .toFixed(3)
    .replace('-', '−')
    .replace(/^(?=\d)/, '+');
  assert.equal(await told.textContent(), `“good”, layer 1, feed-forward: ${printed}`);
  await page.keyboard.press('Control+End');
  await cell(7, 10).and(page.locator(':focus')).waitFor();
  await page.keyboard.press('Escape');
  assert.equal(await told.count(), 0);
});

onPage('it follows the typing, and keeps a model only while it is open', {}, async (page) => {
  await open(page, sentence);
  await workersLeft(page, 1); // The model that explains is the view's.
  await page.getByTestId('input').pressSequentially(' Really.');
  await settled(page);
  await sheet(page).getByText('Really').waitFor();
  await page.locator('[aria-busy="false"] [data-testid="ledger"]').waitFor();
  const { value: expected } = await classifier.explain(`${sentence} Really.`, {
    ...{ method: 'direct_logit_attribution', label },
  });
  assertClose([await value(page.getByTestId('ledger-sum'))], [expected], 'sum');
  await goTo(page, 'Speed');
  await workersLeft(page, 1);
});

onPage('a long text has only the visible rows, but all sums', {}, async (page) => {
  const text = 'It is not bad, and then again it is. '.repeat(45).trim();
  await open(page, text);
  const table = await classifier.explain(text, { method: 'direct_logit_attribution', label });
  assert.ok(table.tokens.length > 400);
  await page.waitForFunction(
    ({ value, tolerance: near }) =>
      Math.abs(document.querySelector('[data-testid=ledger-sum]').dataset.value - value) < near,
    { value: table.value, tolerance },
  );
  assert.ok((await sheet(page).locator('[data-row]').count()) < 1000);
  assertClose([await value(page.getByTestId('ledger-sum'))], [table.value], 'sum');
  await sheet(page).locator('[data-row="0"][data-column="0"]').focus();
  await page.keyboard.press('Control+End');
  const last = `[data-row="${table.tokens.length - 1}"][data-column="10"]`;
  await page.locator(`${last}:focus`).waitFor();
});

onPage('it is accessible', {}, async (page) => {
  await open(page, sentence);
  await assertAccessibleToAll(page);
});

onPage('it fits a phone', { viewport: { width: 320, height: 800 } }, async (page) => {
  await open(page, sentence);
  await assertFits(page);
  await page.getByRole('button', { name: 'Show the numbers' }).click();
  assert.match(await sheet(page).locator('[data-row="3"][data-column="2"]').textContent(), /\d/);
  await assertFits(page);
});
