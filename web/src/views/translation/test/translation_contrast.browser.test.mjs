// Compares a word of the translation with another; the package in Node recomputes the numbers.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before } from 'node:test';
import { Translator } from '../../../../../dist/index.js';
import { testsOnPage } from '../../../../../tests/page/on_page.mjs';
import {
  assertAccessible,
  assertAccessibleToAll,
  assertFits,
  read,
  root,
  settled,
} from '../../../../../tests/page/open.mjs';

const onPage = testsOnPage('#view=translation');
// Node may run the other binary, which rounds sums differently.
const tolerance = 0.05;
const text = 'My sister is a doctor.';

let translator;
before(async () => {
  translator = await Translator.load(join(root, 'weights/en-de'), { compute: 'f32' });
});
after(() => translator?.dispose());

const one = async (options) => (await translator.translate(text, options)).sentences[0];

/** Waits until every token was hidden once. */
const told = (page) =>
  page.getByTestId('contrast-told').filter({ hasText: 'has the largest effect' }).waitFor();

async function open(page) {
  await read(page, text);
  await page.getByTestId('contrast').click();
  await told(page);
}

const chosen = (page, name) =>
  page
    .getByTestId(name)
    .evaluate(({ selectedOptions: [option] }) => [Number(option.value), option.textContent.trim()]);

onPage('each method takes the package’s test of a word', {}, async (page) => {
  await open(page);
  await page.getByTestId('why').selectOption({ index: 2 });
  await page.getByTestId('contrast-methods').check();
  await page.getByTestId('random').waitFor();
  const [against] = await chosen(page, 'whynot');
  const { tokens, sourceTokens } = await one({ beams: 4 });
  const explainer = await Translator.load(join(root, 'weights/en-de'), {
    compute: 'f32',
    gradients: true,
  });
  const pair = { prefix: tokens.slice(0, 2).map(({ id }) => id), token: tokens[2].id, against };
  const test = { method: 'faithfulness', of: 'attn_lrp', orders: 0, ...pair };
  const { order, scores } = await explainer.explain(text, test);
  explainer.dispose();
  assert.equal(scores.length, 3 + sourceTokens.length);
  const row = page
    .getByTestId('method')
    .filter({ has: page.getByRole('heading', { name: 'AttnLRP' }) });
  const shown = await row
    .locator('[data-value][title]')
    .evaluateAll((list) => list.map(({ dataset }) => Number(dataset.value)));
  assert.equal(shown.length, scores.length);
  for (const [i, score] of shown.entries()) assert.ok(Math.abs(score - scores[i]) < tolerance);
  const tested = Number(await row.getByTestId('faithfulness').getAttribute('data-value'));
  assert.ok(Math.abs(tested - order.score) < tolerance, `${tested}, not ${order.score}`);
});

/** Checks the page's numbers for the chosen words, with each token hidden. */
async function assertCounts(page, touches = {}) {
  const [place] = await chosen(page, 'why');
  const [rival] = await chosen(page, 'whynot');
  const { hidden = [], ...rest } = touches;
  const { tokens, sourceTokens } = await one({ beams: 4, ...rest, maskTokens: [hidden] });
  const prefix = tokens.slice(0, place).map(({ id }) => id);
  const lead = async (gone) => {
    const logprob = async (id) => {
      const forced = { beams: 1, prefixes: [[...prefix, id]], maxLength: place + 1 };
      return (await one({ ...rest, ...forced, maskTokens: [gone] })).tokens[place].logprob;
    };
    return (await logprob(tokens[place].id)) - (await logprob(rival));
  };
  const whole = await lead(hidden);
  const shown = Number(await page.getByTestId('contrast-told').getAttribute('data-value'));
  assert.ok(Math.abs(shown - whole) < tolerance, `${shown}, not ${whole}`);
  const values = await page
    .getByTestId('counts')
    .evaluateAll((list) => list.map(({ dataset }) => Number(dataset.value)));
  assert.equal(values.length, sourceTokens.length);
  for (const [token, value] of values.entries()) {
    const gone = [...new Set([...hidden, token])].sort((a, b) => a - b);
    const expected = whole - (await lead(gone));
    assert.ok(Math.abs(value - expected) < tolerance, `${token}: ${value}, not ${expected}`);
  }
  return values;
}

onPage(
  'each source token’s number is the lead with it minus the lead without it',
  {},
  async (page) => {
    await open(page);
    assert.deepEqual(await chosen(page, 'why'), [0, 'Meine']);
    const values = await assertCounts(page);
    await page.getByTestId('whynot').selectOption({ label: 'Mein' });
    await told(page);
    // "sister" causes "Meine".
    const against = await assertCounts(page);
    assert.notDeepEqual(against, values);
    assert.equal(against.indexOf(Math.max(...against)), 1);
    await page.getByTestId('why').selectOption({ index: 3 });
    await told(page);
    await assertCounts(page);
  },
);

onPage('heads stay off and tokens stay hidden here', {}, async (page) => {
  await open(page);
  await page.getByTestId('show-encoder').check();
  await page.getByTestId('head-switch').nth(1).click();
  await settled(page);
  await page.getByTestId('source-tokens').getByTestId('token').nth(3).click();
  await settled(page);
  await told(page);
  const ablate = [{ attention: 'encoder', layer: 0, head: 1 }];
  assert.equal((await assertCounts(page, { ablate, hidden: [3] }))[3], 0);
});

const ledgerOnPage = (page) => page.getByTestId('ledger');
const drawnUp = (page) =>
  page.waitForFunction(() => {
    const effects = [...document.querySelectorAll('[data-testid="component-effect"]')];
    return effects.length > 0 && effects.filter(({ dataset }) => dataset.value).length > 6;
  });

onPage('the ledger writes a word’s lead as a sum over target and source', {}, async (page) => {
  await open(page);
  await page.getByTestId('why').selectOption({ index: 4 });
  await told(page);
  await page.getByText('ledger', { exact: true }).click();
  await ledgerOnPage(page).waitFor();
  await drawnUp(page);
  const [place, name] = await chosen(page, 'why');
  const [rival] = await chosen(page, 'whynot');
  const { tokens, sourceTokens } = await one({ beams: 4 });
  assert.equal(tokens[place].text.trim(), name);
  const explaining = await Translator.load(join(root, 'weights/en-de'), {
    compute: 'f32',
    explain: true,
  });
  const ledger = await explaining.explain(text, {
    ...{
      method: 'direct_logit_attribution',
      effects: true,
      token: tokens[place].id,
      against: rival,
    },
    prefix: tokens.slice(0, place).map(({ id }) => id),
  });
  explaining.dispose();
  const numbers = (testid) =>
    page
      .getByTestId(testid)
      .evaluateAll((list) => list.map(({ dataset }) => Number(dataset.value)));
  const near = (got, expected, what) =>
    assert.ok(Math.abs(got - expected) < tolerance, `${what}: ${got}, not ${expected}`);
  near((await numbers('ledger-sum'))[0], ledger.value, 'sum');

  // One row per token that the decoder has read, and one per source token.
  const [rows, columns] = ledger.read.shape;
  const sums = await numbers('token-sum');
  assert.equal(sums.length, rows);
  assert.equal(rows, place + 1 + sourceTokens.length);
  for (const [row, got] of sums.entries()) {
    const parts = ledger.read.data.slice(row * columns, (row + 1) * columns);
    near(
      got,
      parts.reduce((a, b) => a + b),
      `row ${row}`,
    );
  }
  const labels = await page.locator('tbody th').allInnerTexts();
  assert.deepEqual(labels.slice(0, 3), [
    '‹start›',
    ...tokens.slice(0, 2).map((t) => t.text.trim()),
  ]);
  assert.deepEqual(labels.slice(place + 1), ['My', 'sister', 'is', 'a', 'doctor', '.', '‹end›']);
  // The words above have the values of the source rows.
  assert.deepEqual(await numbers('counts'), sums.slice(place + 1));

  // Cross-attention heads are listed separately; each has its own effect.
  await page.getByRole('button', { name: /layer 2/ }).click();
  await drawnUp(page);
  const names = await page.locator('thead th .unseen').allInnerTexts();
  const at = names.indexOf('layer 2, head 5 of cross-attention');
  const column = ledger.columns.indexOf('layers.1.encoder_attn.head.4');
  near((await numbers('component-effect'))[at], ledger.effects[column], 'effect');
});

onPage(
  'the ledger fits a phone and passes axe',
  {
    viewport: { width: 390, height: 844 },
  },
  async (page) => {
    await open(page);
    await page.getByText('ledger', { exact: true }).click();
    await ledgerOnPage(page).waitFor();
    await drawnUp(page);
    await assertFits(page);
    await assertAccessible(page);
  },
);

onPage('axe finds no violations', {}, async (page) => {
  await open(page);
  await assertAccessibleToAll(page);
});

onPage(
  'nothing scrolls sideways on a phone',
  { viewport: { width: 320, height: 800 } },
  async (page) => {
    await open(page);
    await assertFits(page);
  },
);
