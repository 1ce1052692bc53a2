// Compares two possible next words in Chromium; the package in Node recomputes the numbers.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before } from 'node:test';
import { Generator } from '../../../../../dist/index.js';
import { testsOnPage } from '../../../../../tests/page/on_page.mjs';
import {
  assertAccessible,
  assertAccessibleToAll,
  assertFits,
  root,
  settled,
} from '../../../../../tests/page/open.mjs';

let writer;
before(async () => {
  writer = await Generator.load(join(root, 'weights/writer'), { compute: 'f32' });
});
after(() => writer?.dispose());

const text = 'The acting is dreadful, so this film is';

const onWritingPage = testsOnPage('#view=writing');
const onPage = (name, options, body) =>
  onWritingPage(name, options, async (page) => {
    await page.getByTestId('input').fill(text);
    await settled(page);
    await page.getByTestId('contrast').click();
    await told(page);
    await body(page);
  });

/** Waits until every token was hidden once. */
const told = (page) =>
  page.getByTestId('contrast-told').filter({ hasText: 'has the largest effect' }).waitFor();

/** Returns the lead of one token over another, with the token at `hidden` masked. */
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

onPage('each token’s number is the lead with it minus the lead without it', {}, async (page) => {
  const before = await assertCounts(page);
  await page.getByTestId('whynot').selectOption({ index: 4 });
  await told(page);
  assert.notDeepEqual(await assertCounts(page), before);
});

onPage('another text is measured again', {}, async (page) => {
  await page.getByTestId('input').fill('I loved');
  await settled(page);
  await told(page);
  assert.equal(await page.getByTestId('counts').count(), 2);
});

onPage('each method takes the package’s test', {}, async (page) => {
  await page.getByTestId('contrast-methods').check();
  await page.getByTestId('random').waitFor();
  const against = Number(await page.getByTestId('whynot').inputValue());
  const token = Number(await page.getByTestId('why').inputValue());
  const explainer = await Generator.load(join(root, 'weights/writer'), {
    compute: 'f32',
    gradients: true,
  });
  const rows = await page.getByTestId('method').evaluateAll((list) =>
    list.map((row) => ({
      name: row.querySelector('h3').textContent,
      test: Number(row.querySelector('[data-testid=faithfulness]').dataset.value),
      scores: [...row.querySelectorAll('[data-value][title]')].map(({ dataset }) =>
        Number(dataset.value),
      ),
    })),
  );
  assert.equal(rows.length, 9);
  for (const [name, of] of [
    ['Ledger, token read', 'direct_logit_attribution'],
    ['Gradient × input', 'gradient_times_input'],
    ['Relevance', 'relevance'],
    ['AttnLRP', 'attn_lrp'],
    ['CP-LRP', 'cp_lrp'],
    ['Rollout', 'rollout'],
    ['Value zeroing', 'value_zeroing'],
  ]) {
    const options = { method: 'faithfulness', of, orders: 0, token, against };
    const { order, scores } = await explainer.explain(text, options);
    const row = rows.find((each) => each.name === name);
    assertClose(row.scores, scores, name);
    assertClose([row.test], [order.score], `${name}, test`);
  }
  explainer.dispose();
  assert.ok(rows[0].test >= Math.max(...rows.slice(1).map(({ test }) => test)) - 1);
  await assertAccessible(page);
  await assertFits(page);
});

const values = (locator) =>
  locator.evaluateAll((list) => list.map(({ dataset }) => Number(dataset.value)));

function assertClose(got, expected, what) {
  assert.equal(got.length, expected.length, `${what}: how many`);
  for (const [i, value] of got.entries())
    assert.ok(Math.abs(value - expected[i]) < 2e-3, `${what} ${i}: ${value}, not ${expected[i]}`);
}

/** Opens the ledger and waits until it is complete. */
async function openLedger(page) {
  await page.getByText('ledger', { exact: true }).click();
  await page.locator('.ledger[aria-busy="false"] [data-testid="ledger"]').waitFor();
}

onPage(
  'the ledger matches the package for any two tokens, including the effects',
  {},
  async (page) => {
    await openLedger(page);
    const explainer = await Generator.load(join(root, 'weights/writer'), {
      compute: 'f32',
      explain: true,
    });
    for (const index of [1, 4]) {
      await page.getByTestId('whynot').selectOption({ index });
      const against = Number(await page.getByTestId('whynot').inputValue());
      const table = await explainer.explain(text, {
        method: 'direct_logit_attribution',
        against,
        effects: true,
      });
      const { columns, tokens, value } = table;
      const shown = page.getByTestId('ledger-sum');
      await shown.filter({ hasText: `over “${table.against.text.trim()}”` }).waitFor();
      await page.locator('.ledger[aria-busy="false"] [data-testid="ledger"]').waitFor();
      assertClose(await values(shown), [value], 'sum');
      for (const [view, name] of [
        ['read', 'at the token it was read from'],
        ['written', 'at the token it was written to'],
      ]) {
        await page.getByText(name).click();
        const rows = tokens.map((_, i) =>
          table[view].data.slice(i * columns.length, (i + 1) * columns.length),
        );
        const sums = rows.map((row) => row.reduce((a, b) => a + b));
        assertClose(await values(page.getByTestId('token-sum')), sums, view);
        assertClose(await values(page.getByTestId('counts')), sums, `colors, ${view}`);
      }
      // The effect of a token or part is the number with it minus the number without it.
      assertClose(
        [(await values(page.getByTestId('token-effect'))).at(-1)],
        [value - (await lead('a', table.against.text.trim(), tokens.length - 1))],
        'effect',
      );
      const effects = await values(page.getByTestId('component-effect'));
      const embedded = ['embed_tokens', 'embed_positions'];
      assertClose(
        effects.slice(0, 2),
        embedded.map((name) => table.effects[columns.indexOf(name)]),
        'effects',
      );
      const heads = (layer) => Array.from({ length: 4 }, (_, head) => ({ layer, head }));
      const ablate = heads(1).map((head) => ({ attention: 'decoder', ...head }));
      const all = { count: 0, temperature: 1, topK: 0, topP: 1, ablate };
      const { next } = await writer.next(text, all);
      const of = (wanted) => next.find(({ id }) => id === wanted).logprob;
      assertClose([effects[4]], [value - (of(table.token.id) - of(against))], 'effect of heads');
    }
    explainer.dispose();
  },
);

onPage('the ledger follows the text and mentions heads that are off', {}, async (page) => {
  await openLedger(page);
  await page.getByTestId('input').fill('I loved');
  await settled(page);
  await page.locator('[data-testid=ledger] tbody tr').nth(1).waitFor();
  await page.locator('[data-testid=ledger] tbody tr').nth(2).waitFor({ state: 'detached' });
  await page.getByTestId('head-switch').nth(4).click();
  await page.getByText('heads that are off are ignored here').waitFor();
});

for (const options of [{}, { colorScheme: 'dark' }, { viewport: { width: 320, height: 800 } }])
  onPage(`the ledger passes axe and fits, ${JSON.stringify(options)}`, options, async (page) => {
    await openLedger(page);
    await assertAccessible(page);
    await assertFits(page);
  });

onPage('axe finds no violations', {}, async (page) => {
  await assertAccessibleToAll(page);
});

onPage(
  'nothing scrolls sideways on a phone',
  { viewport: { width: 320, height: 800 } },
  async (page) => {
    await assertFits(page);
  },
);
