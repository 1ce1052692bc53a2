// The writing view of the built page, with the real model. Its bars are compared with the package's
// results in Node.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { Generator } from '../../../../../dist/index.js';
import {
  assertAccessibleToAll,
  assertFitsAt,
  kept,
  launch,
  root,
  serve,
  settled,
  visit,
  visitCopy,
} from '../../../../../tests/page/open.mjs';

// Node may run the other binary, which rounds sums differently.
const tolerance = 2e-3;

let browser, server, generator;
before(async () => {
  [browser, server, generator] = await Promise.all([
    launch(),
    serve(),
    Generator.load(join(root, 'weights/writer'), { compute: 'f32' }),
  ]);
});
after(async () => {
  await browser?.close();
  await server?.close();
  generator?.dispose();
});

const onPage = (name, { hash = '', ...options }, body) =>
  test(name, () => visit(browser, `${server.url}#view=writing${hash}`, options, body));

const value = (locator) => locator.getAttribute('data-value').then(Number);
const near = (got, expected, what) =>
  assert.ok(Math.abs(got - expected) <= tolerance, `${what}: ${got}, not ${expected}`);

/** Returns the text in an address. */
const textIn = (url) => new URLSearchParams(url.hash.slice(1)).get('text') ?? '';

const bars = (page) =>
  page.getByTestId('next').evaluateAll((list) =>
    list.map(({ dataset }) => ({
      text: dataset.text,
      chance: Number(dataset.value),
      probability: Number(dataset.probability),
    })),
  );

const begin = async (page, text) => {
  await page.getByTestId('input').fill(text);
  await settled(page);
};

const slide = async (page, name, at) => {
  await page.getByTestId(name).fill(`${at}`);
};

/** Compares the bars with the package's probabilities for these settings. */
async function assertBars(page, text, options) {
  const { next } = await generator.next(text, { count: 0, ...options });
  const shown = await bars(page);
  for (const [i, { text: token, chance }] of shown.entries()) {
    const expected = next.find((each) => each.text === token);
    near(chance, expected?.probability ?? 0, `${i}, ${JSON.stringify(token)}`);
  }
  assert.equal(shown[0].text, next[0].text);
  return next;
}

onPage('the bars match the package for all settings', {}, async (page) => {
  const text = 'This film is';
  assert.equal(await page.getByTestId('input').inputValue(), text);
  await assertBars(page, text, { temperature: 0.8, topK: 0, topP: 0.95 });
  assert.match(await page.getByTestId('others').textContent(), /tokens of 4,096 can be drawn/);

  await slide(page, 'temperature', 1.5);
  await slide(page, 'top-p', 1);
  await assertBars(page, text, { temperature: 1.5, topK: 0, topP: 1 });

  await slide(page, 'top-k', 3); // its fourth stop
  const next = await assertBars(page, text, { temperature: 1.5, topK: 4, topP: 1 });
  assert.equal(next.length, 4);
  assert.equal(await page.locator('[data-testid=next].out').count(), 6);
  await slide(page, 'temperature', 0);
  const greedy = await bars(page);
  assert.deepEqual(
    greedy.map(({ chance }) => chance),
    [1, ...Array(9).fill(0)],
  );
  assert.ok(greedy[1].probability > 0);
});

onPage('each token shows both probabilities', {}, async (page) => {
  const text = 'This film is';
  const own = await generator.next(text, { count: 0, temperature: 1, topK: 0, topP: 1 });
  const settings = { temperature: 0.8, topK: 0, topP: 0.95 };
  const sampled = await generator.next(text, { count: 0, ...settings });
  const number = (printed) => Number(printed.match(/^<?([\d.]+)%/)[1]) / 100;
  const rows = page.getByTestId('next');
  for (let i = 0; i < 10; i++) {
    const token = await rows.nth(i).getAttribute('data-text');
    const of = ({ next }) => next.find((each) => each.text === token)?.probability ?? 0;
    const printed = await rows.nth(i).getByTestId('own').textContent();
    near(number(printed), of(own), `${token}, the model’s own`);
    near(number(await rows.nth(i).getByTestId('drawn').textContent()), of(sampled), token);
    assert.match(printed, /by the model/);
  }
  assert.ok(Math.abs(own.next[0].probability - sampled.next[0].probability) > 0.02);
  // A token that is left out shows only the model's own probability.
  await slide(page, 'top-k', 0);
  assert.match(await rows.nth(1).getByTestId('drawn').textContent(), /left out/);
  near(number(await rows.nth(1).getByTestId('own').textContent()), own.next[1].probability, 'own');
  assert.match(await page.getByTestId('others').textContent(), /the model’s own probabilities/);
});

onPage('pressing a bar continues the text; pressing a token goes back to it', {}, async (page) => {
  const [, second] = await bars(page);
  await page.getByTestId('next').nth(1).click();
  await settled(page);
  const tokens = () => page.getByTestId('token').allTextContents();
  assert.deepEqual(await tokens(), ['This', 'film', 'is', second.text.trim()]);
  await page.getByTestId('next').first().click();
  await settled(page);
  const whole = await tokens();
  assert.equal(whole.length, 5);

  // Before the fourth token, the text stays until another token is chosen.
  await page.getByTestId('token').nth(3).click();
  await settled(page);
  assert.deepEqual(await tokens(), whole);
  assert.equal(await page.locator('[data-testid=token].ahead').count(), 2);
  assert.deepEqual((await bars(page)).slice(0, 10)[1].text, second.text);
  assert.equal(
    await page.locator('[data-testid=next].stands').getAttribute('data-text'),
    second.text,
  );
  // Choosing the same token goes forward and keeps the text.
  await page.locator('[data-testid=next].stands').click();
  await settled(page);
  assert.deepEqual(await tokens(), whole);
  assert.equal(await page.locator('[data-testid=token].ahead').count(), 1);
  await page.getByTestId('token').nth(3).click();
  await settled(page);
  const [first] = await bars(page);
  await page.getByTestId('next').first().click();
  await settled(page);
  assert.deepEqual(await tokens(), [...whole.slice(0, 3), first.text.trim()]);

  // There is a distribution before the first token, too.
  await page.getByTestId('token').first().click();
  await settled(page);
  assert.ok((await bars(page)).length >= 10);
  await page.getByTestId('end').click();
  await settled(page);
  assert.equal(await page.locator('[data-testid=token].ahead').count(), 0);
});

onPage('the model writes one token, plays, pauses, and finishes', {}, async (page) => {
  const start = 'The script, the music, the';
  await begin(page, start);
  const typed = await page.getByTestId('token').count();
  await slide(page, 'temperature', 0);
  const { text: greedy } = await generator.generate(start, { sample: false, maxNewTokens: 4 });
  await page.getByTestId('step').click();
  await settled(page);
  assert.equal(await page.getByTestId('token').count(), typed + 1);
  await page.getByTestId('play').click();
  await page
    .getByTestId('token')
    .nth(typed + 3)
    .waitFor();
  await page.getByTestId('play').click();
  await settled(page);
  const count = await page.getByTestId('token').count();
  // The address follows after a delay.
  await page.waitForURL((url) => textIn(url).startsWith(`${start}${greedy}`));
  // Nothing is written while paused, until the address has followed another change.
  await page.getByTestId('head').nth(1).click();
  await page.waitForURL((url) => url.hash.includes('head=0.1'));
  assert.equal(await page.getByTestId('token').count(), count);

  await page.getByTestId('restart').click();
  await settled(page);
  // A double click writes two tokens.
  await page.getByTestId('step').dblclick();
  await settled(page);
  assert.equal(await page.getByTestId('token').count(), typed + 2);
  await page.getByTestId('restart').click();
  await settled(page);
  assert.equal(await page.getByTestId('token').count(), typed);
  await slide(page, 'temperature', 0.8);
  await page.getByTestId('finish').click();
  await page.getByText(/The model ended the review here|can read no more/).waitFor();
  await settled(page);
  assert.ok((await page.getByTestId('token').count()) > typed);
});

onPage('switching off a head changes the bars, and undoing it restores them', {}, async (page) => {
  const text = 'This film is';
  const options = { temperature: 0.8, topK: 0, topP: 0.95 };
  await page.getByTestId('head').nth(5).click();
  await page.getByTestId('ablate').click();
  await settled(page);
  const ablate = [{ attention: 'decoder', layer: 1, head: 1 }];
  await assertBars(page, text, { ...options, ablate });
  assert.match(await page.getByTestId('change').textContent(), /1 head off/);
  assert.ok(Number.isFinite(await value(page.getByTestId('difference'))));
  await page.getByTestId('reset').click();
  await settled(page);
  await assertBars(page, text, options);
  assert.equal(await page.getByTestId('change').count(), 0);
});

onPage('the heads’ attention weights match the package', {}, async (page) => {
  await begin(page, 'The script, the music, the');
  await page.getByTestId('head').nth(7).click();
  const { attention, promptTokens } = await generator.next('The script, the music, the', {
    attention: true,
  });
  const matrix = attention.decoder.at(1, 3);
  const cells = await page
    .locator('[data-testid=heatmap] [data-value]')
    .evaluateAll((list) =>
      list.map(({ dataset }) => [dataset.query, dataset.key, dataset.value].map(Number)),
    );
  const count = promptTokens.length;
  assert.equal(cells.length, count * count);
  for (const [query, key, got] of cells) near(got, matrix[query * count + key], `${query} ${key}`);
  // The row shows the attention weights from the last token.
  for (let key = 0; key < count; key++) {
    const shown = await value(page.getByTestId('token').nth(key));
    near(shown, matrix[(count - 1) * count + key], `row ${key}`);
  }
  assert.equal(await page.getByTestId('head').count(), 20);
});

onPage('a link opens the text in the sentiment view', {}, async (page) => {
  await begin(page, 'A dreadful, boring film.');
  await page.getByRole('link', { name: 'Classify this text' }).click();
  await page.getByTestId('verdict').filter({ hasText: 'negative' }).waitFor();
  assert.equal(await page.getByTestId('input').inputValue(), 'A dreadful, boring film.');
});

onPage('a link restores text, place, settings and heads', {}, async (page) => {
  await page.getByTestId('next').first().click();
  await settled(page);
  await page.getByTestId('token').nth(2).click();
  await settled(page);
  await slide(page, 'temperature', 1.2);
  await slide(page, 'top-k', 7);
  await page.getByTestId('head').nth(9).click();
  await page.getByTestId('ablate').click();
  await settled(page);
  await page.waitForURL(/off=2\.1/);
  const shown = await bars(page);
  const tokens = await page.getByTestId('token').allTextContents();
  const other = await page.context().newPage();
  await other.goto(page.url());
  await settled(other);
  assert.deepEqual(await bars(other), shown);
  assert.deepEqual(await other.getByTestId('token').allTextContents(), tokens);
  assert.equal(await other.locator('[data-testid=token].ahead').count(), 2);
  assert.equal(await other.getByTestId('top-k').getAttribute('aria-valuetext'), '20');
  assert.equal(await other.getByTestId('input').inputValue(), 'This film is');
});

onPage('empty, strange and too long texts work', {}, async (page) => {
  for (const text of ['', 'Ein “Film” 🙂, früh', 'x'.repeat(300), 'A good film. '.repeat(400)]) {
    await begin(page, text);
    assert.ok((await bars(page)).length >= 10, text.slice(0, 20));
    assert.equal(await page.getByRole('alert').count(), 0);
  }
  assert.match(await page.locator('.clipped').textContent(), /Longer than the 512 tokens/);
  assert.equal(await page.getByTestId('step').isDisabled(), true);
});

test('once loaded, it writes offline', async () => {
  const options = { hash: '#view=writing', serviceWorkers: 'allow' };
  await visitCopy(browser, options, async (page, { context, disconnect }) => {
    await settled(page);
    for (const file of ['config.json', 'model.safetensors', 'tokenizer.json'])
      await kept(page, `models/writer/${file}`);
    await disconnect();
    await context.setOffline(true);
    await page.reload();
    await settled(page);
    await page.getByTestId('step').click();
    await settled(page);
    assert.equal(await page.getByTestId('token').count(), 4);
  });
});

onPage('nothing scrolls sideways', {}, async (page) => {
  for (const text of ['Meh.', 'x'.repeat(200), 'good, not bad; '.repeat(30)]) {
    await begin(page, text);
    await assertFitsAt(page, [320, 390, 1280]);
  }
});

onPage('axe finds no violations', {}, async (page) => {
  await page.getByTestId('next').nth(2).click();
  await settled(page);
  await page.getByTestId('token').nth(2).click();
  await page.getByTestId('head-switch').nth(4).click();
  await settled(page);
  await slide(page, 'top-k', 2);
  await assertAccessibleToAll(page);
});

onPage('a text in another script gets a notice', {}, async (page) => {
  assert.equal(await page.getByTestId('unknown').count(), 0);
  await page.getByTestId('input').fill('Этот фильм');
  await settled(page);
  assert.match(await page.getByTestId('unknown').textContent(), /not in Latin letters/);
});

onPage('arrow keys move along the tokens and down the bars', {}, async (page) => {
  await page.getByTestId('end').focus();
  await page.keyboard.press('ArrowLeft');
  await page.keyboard.press('Enter');
  await settled(page);
  assert.equal(await page.locator('[data-testid=token].ahead').count(), 1);
  await page.getByTestId('next').first().focus();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  const text = await page.evaluate(() => document.activeElement.dataset.text);
  assert.equal(text, (await bars(page))[2].text);
});

onPage('with forced colors, bars and choices are visible', {}, async (page) => {
  await slide(page, 'top-k', 2);
  await page.emulateMedia({ forcedColors: 'active' });
  const colors = await page
    .locator('.bar i')
    .evaluateAll((list) => list.map((one) => getComputedStyle(one).backgroundColor));
  assert.notEqual(colors[0], colors[9]);
});
