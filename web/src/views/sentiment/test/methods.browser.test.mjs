// The comparison of methods in the sentiment view: scores and faithfulness match the package.
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
  workersLeft,
} from '../../../../../tests/page/open.mjs';

const onPage = testsOnPage();
// Node may run the other binary, which rounds sums differently.
const tolerance = 2e-3;
const sentence = 'The plot is not good at all.';

let classifier;
before(async () => {
  classifier = await Classifier.load(join(root, 'weights/sentiment'), {
    compute: 'f32',
    gradients: true,
  });
});
after(() => classifier?.dispose());

const value = (locator) => locator.getAttribute('data-value').then(Number);
const near = (got, expected, what, within = tolerance) =>
  assert.ok(Math.abs(got - expected) <= within, `${what}: ${got}, not ${expected}`);
const method = (page, name) =>
  page.getByTestId('method').filter({ has: page.getByRole('heading', { name }) });

async function open(page, text) {
  await read(page, text);
  await page.getByRole('button', { name: 'Compare the methods' }).click();
  await page.getByTestId('random').waitFor();
}

onPage('each method shows its scores and its result in the test', {}, async (page) => {
  await open(page, sentence);
  assert.equal(await page.getByTestId('method').count(), 13);
  const tests = [];
  for (const row of await page.getByTestId('method').all()) {
    const scores = await row
      .locator('[data-value][title]')
      .evaluateAll((list) => list.map(({ dataset }) => Number(dataset.value)));
    const options = { method: 'faithfulness', scores: Float32Array.from(scores), orders: 0 };
    const found = await classifier.explain(sentence, options);
    const score = await value(row.getByTestId('faithfulness'));
    tests.push({ name: await row.getByRole('heading').textContent(), scores, score, found });
    // Two words with nearly the same score may change places due to rounding.
    near(score, found.order.score, tests.at(-1).name, 0.1);
  }
  const [first] = tests;
  assert.equal(first.name, 'Leaving it out');
  near(first.score, first.found.leaveOneOut.score, 'leave-one-out', 0.1);
  first.scores.forEach((score, i) => near(score, first.found.losses[i], `loss ${i}`, 0.02));
  const of = async (name, expected) => {
    const { scores } = tests.find((each) => each.name === name);
    assert.equal(scores.length, expected.length, name);
    scores.forEach((score, i) => near(score, expected[i], `${name} ${i}`, 0.02));
  };
  for (const [name, key] of [
    ['Rollout', 'rollout'],
    ['Value norms', 'value_norms'],
    ['Gradient × input', 'gradient_times_input'],
    ['Integrated gradients', 'integrated_gradients'],
    ['Relevance', 'relevance'],
    ['AttnLRP', 'attn_lrp'],
    ['CP-LRP', 'cp_lrp'],
  ])
    await of(name, (await classifier.explain(sentence, { method: key })).scores);
  const ledger = await classifier.explain(sentence, { method: 'direct_logit_attribution' });
  const [rows, columns] = ledger.read.shape;
  const sums = (tensor) =>
    Array.from({ length: rows }, (_, i) =>
      tensor.data.slice(i * columns, (i + 1) * columns).reduce((a, b) => a + b, 0),
    );
  await of('Ledger, token read', sums(ledger.read));
  await of('Ledger, row written', sums(ledger.written));
  const options = { method: 'faithfulness', of: 'rollout', orders: 20 };
  const { random } = await classifier.explain(sentence, options);
  near(await value(page.getByTestId('random')), random.mean, 'random orders', 0.05);
});

// The first text is clear; on the second, all methods are within the range of random orders.
for (const text of [sentence, 'A film.', 'I expected to hate it. I was wrong.'])
  onPage(`the test’s result is stated once, without contradiction: ${text}`, {}, async (page) => {
    await open(page, text);
    const told = (await page.getByTestId('methods-told').textContent())
      .replaceAll(/\s+/g, ' ')
      .trim();
    const mean = await value(page.getByTestId('random'));
    const rows = await page.getByTestId('method').evaluateAll((list) =>
      list.map((row) => ({
        name: row.querySelector('h3').textContent,
        score: Number(row.querySelector('[data-testid=faithfulness]').dataset.value),
      })),
    );
    const printed = (score) =>
      score
        .toFixed(2)
        .replace('-', '−')
        .replace(/^(?=\d)/, '+');
    const [, ofRandom, deviation, bar] =
      /score ([+−][\d.]+) ± ([\d.]+) .*from ([+−][\d.]+) on: /.exec(told) ?? [];
    assert.equal(ofRandom, printed(mean), told);
    const number = (text) => Number(text.replace('−', '-'));
    near(number(bar), mean + 2 * Number(deviation), 'two deviations above', 0.02);
    // Every method is named once, with its score, on the correct side of the bar.
    const [above, others] = /No method is more/.test(told)
      ? ['', told]
      : told.split(' Not clearly above: ');
    for (const { name, score } of rows) {
      const named = `“${name}” (${printed(score)})`;
      assert.equal(told.split(named).length, 2, `${named} in ${told}`);
      if (Math.abs(score - number(bar)) < 0.02) continue;
      assert.ok(
        (score > number(bar) ? above : (others ?? '')).includes(named),
        `${named}: ${told}`,
      );
    }
    assert.doesNotMatch(await page.getByTestId('methods').textContent(), /ceiling/);
  });

onPage('the scores are also in a table', {}, async (page) => {
  await open(page, sentence);
  await page.getByText('The scores as a table').click();
  const table = page.getByTestId('scores');
  assert.equal(await table.locator('tbody tr').count(), 8);
  const { losses, label } = await classifier.explain(sentence, {
    ...{ method: 'faithfulness', orders: 0 },
  });
  assert.equal(label, 'negative');
  const printed = await table.locator('tbody tr').nth(3).locator('td').first().textContent();
  // Printed for the last label, like the page's colors.
  near(Number(printed.replace('−', '-')), -losses[3], 'printed', 0.03);
});

onPage('the comparison follows typing and says which texts it cannot compare', {}, async (page) => {
  await open(page, sentence);
  await workersLeft(page, 1); // The model with gradients is the view's.
  await page.getByTestId('input').pressSequentially(' Really not. Never!');
  const row = method(page, 'Leaving it out');
  await row.getByText('Never').waitFor();
  await read(page, 'Good');
  await page.getByText('The test needs at least two words').waitFor();
  assert.equal(await page.getByTestId('method').count(), 0);
  await read(page, 'It is not bad, and then again it is. '.repeat(20));
  await page.getByText('For texts of up to 128 tokens').waitFor();
  await goTo(page, 'Speed');
  await workersLeft(page, 1);
});

onPage('the two that pass relevance back show what their scores sum to', {}, async (page) => {
  await open(page, sentence);
  assert.equal(await page.getByTestId('exactness').count(), 3);
  for (const [name, key] of [
    ['AttnLRP', 'attn_lrp'],
    ['CP-LRP', 'cp_lrp'],
  ]) {
    const told = await method(page, name).getByTestId('exactness').textContent();
    const { scores, value: whole } = await classifier.explain(sentence, { method: key });
    const shown = told.match(/[+−][\d.]+/g).map((number) => Number(number.replace('−', '-')));
    near(
      shown[0],
      scores.reduce((sum, score) => sum + score, 0),
      'sum',
      0.01,
    );
    near(shown[1], whole, 'value', 0.01);
  }
});

onPage('integrated gradients show their gap', {}, async (page) => {
  await open(page, sentence);
  const told = await method(page, 'Integrated gradients').getByTestId('exactness').textContent();
  const { gap, value, baseline, steps } = await classifier.explain(sentence, {
    method: 'integrated_gradients',
  });
  const numbers = told
    .replaceAll('−', '-')
    .match(/[+-]?\d+(\.\d+)?/g)
    .map(Number);
  near(numbers[0], gap, 'gap', 0.01);
  assert.equal(numbers[1], steps);
  near(numbers[2], value - baseline, 'difference', 0.01);
});

onPage('the binary with everything is fetched when a panel needs it', {}, async (page) => {
  const fetched = [];
  page.on('request', (request) => fetched.push(request.url()));
  const binaries = () => fetched.filter((url) => /glassformer(\.relaxed)?-[-\w]+\.wasm$/.test(url));
  await read(page, sentence);
  assert.equal(binaries().length, 0, fetched.join(' '));
  await page.getByRole('button', { name: 'Compare the methods' }).click();
  await page.getByTestId('method').first().waitFor();
  assert.equal(binaries().length, 1, fetched.join(' '));
  await page.getByRole('button', { name: 'Find the smallest circuit' }).click();
  await page.getByTestId('circuit-told').waitFor();
  assert.equal(binaries().length, 1, fetched.join(' '));
});

onPage('axe finds no violations', {}, async (page) => {
  await open(page, sentence);
  await page.getByText('The scores as a table').click();
  await assertAccessibleToAll(page);
});

onPage('the comparison fits a phone', { viewport: { width: 320, height: 800 } }, async (page) => {
  await open(page, sentence);
  await page.getByText('The scores as a table').click();
  await assertFits(page);
});
