// Views that show the same number show it alike, to the last digit.
import assert from 'node:assert/strict';
import { source } from '../source.mjs';
import { testsOnPage } from '../on_page.mjs';
import { settled, until } from '../open.mjs';

const { percent, signed } = await source('ui/text/format');

const onPage = testsOnPage();
const text = 'The plot is not good at all.';

/** Opens a link in the page, so that views share their models. */
async function go(page, link) {
  await page.evaluate((hash) => (location.hash = hash), new URLSearchParams(link).toString());
  await settled(page);
}

/** The text of an element, once there is one and it no longer changes. */
async function textOf(page, locator) {
  await settled(page);
  await locator.waitFor();
  return (await locator.textContent()).replace(/\s+/g, ' ').trim();
}

const answers = (page) => page.getByTestId('answers').first().getByRole('button');
const valueOf = (locator) => locator.getAttribute('data-value').then(Number);

/** Returns the answers of Inside: their labels, percentages and logits. */
async function answersInside(page) {
  await settled(page);
  await answers(page).first().waitFor();
  return answers(page).evaluateAll((list) =>
    list.map((each) => {
      const part = (name) => each.querySelector(`.${name}`).textContent.trim();
      return { label: part('label'), percent: part('percent'), logit: part('logit') };
    }),
  );
}

onPage('a verdict is the same in all views', {}, async (page) => {
  await go(page, { text, head: '1.5' });
  const score = await textOf(page, page.getByTestId('score'));
  const label = await textOf(page, page.getByTestId('verdict'));
  const weight = await valueOf(page.locator('[data-query="4"][data-key="3"]'));
  await page.getByText('ledger', { exact: true }).click();
  const sum = await textOf(page, page.getByTestId('ledger-sum'));
  const [, evidence] = /add up to (\S+),/.exec(sum);

  await go(page, { view: 'inside', text, token: 'encoder.4', head: '1.5' });
  const [best] = await answersInside(page);
  assert.deepEqual([best.label, best.percent], [label, score]);
  const own = page.locator('[data-step="encoder.layers.1.self_attn.weights"] [data-key="3"]');
  assert.equal(await valueOf(own), weight);

  await go(page, { view: 'course', lesson: 'verdict', text });
  const bar = await textOf(page, page.getByTestId('verdict-bar').first());
  const positive = /([\d.<>]+)\s?% positive/.exec(bar)[1];
  assert.equal(bar.startsWith(label), true);
  const negative = `${(100 - Number(positive)).toFixed(1)}`;
  assert.equal(score.replace(/\s?%/, ''), label === 'positive' ? positive : negative);

  await go(page, { view: 'transplant', text: `${text}\nThe plot is good.` });
  assert.equal(await textOf(page, page.getByTestId('score')), score);
  assert.equal(await textOf(page, page.getByTestId('verdict')), label);

  await go(page, { view: 'study', heads: '3.2' });
  await page.getByTestId('study-texts').fill(text);
  await page.getByTestId('study-run').click();
  const before = page.getByTestId('study-row').first().locator('td').nth(1);
  assert.equal(await textOf(page, before), evidence);
  assert.ok(page.workers().length <= 2, 'one model, and a worker that draws');
});

onPage('a token’s effect is the same in all views', {}, async (page) => {
  await go(page, { text });
  await page.locator('[role=toolbar][aria-busy=false]').waitFor();
  const values = (locator) =>
    locator.evaluateAll((list) => list.map(({ dataset }) => Number(dataset.value)));
  const tokens = page.getByTestId('token');
  const effects = await values(tokens);
  const not = (await tokens.allTextContents()).indexOf('not');
  assert.ok(effects[not] < 0, '“not” speaks against “positive”');
  const printed = signed(effects[not]);
  assert.equal(
    await tokens.nth(not).getAttribute('aria-label'),
    `not, effect ${printed}: negative`,
  );
  await page.getByText('ledger', { exact: true }).click();
  assert.equal(await textOf(page, page.getByTestId('token-effect').nth(not)), printed);

  // The lesson asks about the answer, “negative”, and says so.
  await go(page, { view: 'course', lesson: 'explanation', text });
  const effect = page.locator('td[data-symbol=effect]');
  assert.equal(await textOf(page, effect.nth(not)), signed(-effects[not]));
  await page.getByRole('columnheader', { name: 'effect on “negative”' }).waitFor();
});

onPage('a next token is as probable in Writing as in Inside', {}, async (page) => {
  const begun = 'The script, the music, the';
  await go(page, { view: 'writing', text: begun });
  const next = page.getByTestId('next').first();
  await next.waitFor();
  const probability = Number(await next.getAttribute('data-probability'));
  await go(page, { view: 'inside', model: 'writer', text: begun });
  const [best] = await answersInside(page);
  assert.equal(best.percent, percent(probability));
});

onPage('a translation’s first token is as probable in its tree as in Inside', {}, async (page) => {
  const sentence = 'The dog sleeps.';
  await go(page, { view: 'translation', to: 'de', text: sentence });
  const nodes = page.locator('[data-testid=tree] [data-node]');
  await nodes.first().waitFor();
  const logprobs = await nodes.evaluateAll((list) =>
    list.map(({ dataset }) => Number(dataset.value)),
  );
  const shown = new Set(logprobs.map((logprob) => percent(Math.exp(logprob))));
  await go(page, { view: 'inside', model: 'en-de', text: sentence, token: 'decoder.0' });
  const found = await until(
    page,
    () => answersInside(page),
    (all) => all.length > 0,
  );
  assert.ok(shown.has(found[0].percent), `${found[0].percent} in ${[...shown]}`);
});
