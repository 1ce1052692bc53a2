// Which cell turns a word of a translation: the numbers are what the package gives with that patch.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before } from 'node:test';
import { Translator } from '../../dist/index.js';
import { testsOnPage } from './on_page.mjs';
import { read, root, violationsOf } from './open.mjs';

const onPage = testsOnPage('#view=translation');
// Node may run the other of the two binaries, whose sums round differently.
const tolerance = 0.05;
const base = 'My brother is a doctor.';
const donor = 'My sister is a doctor.';
const streams = [0, 1, 2, 3, 4, 5].map((layer) => `encoder.layers.${layer}.input`);
streams.push('encoder.layers.5.output');

let translator;
before(async () => {
  translator = await Translator.load(join(root, 'weights/en-de'));
});
after(() => translator?.dispose());

const value = (locator) => locator.getAttribute('data-value').then(Number);
const near = (got, expected, what) =>
  assert.ok(Math.abs(got - expected) <= tolerance, `${what}: ${got}, not ${expected}`);
const cell = (page, row, index) => page.locator(`[data-row="${row}"][data-cell="${index}"]`);

const one = async (text, options) => (await translator.translate(text, options)).sentences[0];

/** How far "Meine" is before "Mein" as the first token. */
async function contrast(text, patch = []) {
  const first = async (from) => (await one(from, { beams: 4 })).tokens[0].id;
  const logprob = async (id) =>
    (await one(text, { beams: 1, prefixes: [[id]], maxLength: 1, patch })).tokens[0].logprob;
  return (await logprob(await first(donor))) - (await logprob(await first(base)));
}

async function open(page, second) {
  await read(page, base);
  await page.getByRole('button', { name: 'Set a second sentence beside it' }).click();
  await page.getByTestId('second').fill(second);
  const done = page.locator('[data-testid="turning"][aria-busy="false"]');
  await done.waitFor({ timeout: 120_000 });
}

onPage('a cell’s number is what carrying that vector does to the word', {}, async (page) => {
  await open(page, donor);
  const { trace, text, sourceTokens } = await one(donor, { beams: 4, trace: streams });
  assert.equal(await page.getByTestId('donor-text').textContent(), text);
  assert.equal(
    await page.getByTestId('base-text').textContent(),
    (await one(base, { beams: 4 })).text,
  );
  const count = streams.length * sourceTokens.length;
  assert.equal(await page.getByTestId('turning').locator('[data-cell]').count(), count);
  const whole = await contrast(base);
  for (const [row, index] of [
    [0, 1],
    [2, 0],
    [2, 1],
    [4, 2],
    [6, 0],
  ]) {
    const { shape, data } = trace[streams[row]];
    const vector = data.slice(index * shape[1], (index + 1) * shape[1]);
    const patch = [{ name: streams[row], tokens: [index], value: vector }];
    near(
      await value(cell(page, row, index)),
      (await contrast(base, patch)) - whole,
      `${row} ${index}`,
    );
  }
  // Before the first layer only the changed word differs.
  assert.equal(await value(cell(page, 0, 0)), 0);
  near(await value(cell(page, 0, 1)), (await contrast(donor)) - whole, 'all of the way');

  await cell(page, 0, 1).click();
  await page.getByTestId('performed').getByText(text).waitFor({ timeout: 30_000 });
  near(await value(page.getByTestId('turn')), (await contrast(donor)) - whole, 'turn');
  await page.keyboard.press('Escape');
  assert.equal(await page.getByTestId('performed').count(), 0);
});

onPage('a token too many leaves the others at their partners’ positions', {}, async (page) => {
  await read(page, 'He is not my friend.');
  await page.getByRole('button', { name: 'Set a second sentence beside it' }).click();
  await page.getByText('Change a word of the second sentence').waitFor();
  await page.getByTestId('second').fill('He is my friend.');
  await page.locator('[data-testid="turning"][aria-busy="false"]').waitFor({ timeout: 120_000 });
  // All but "not" have a partner, with whom they share piece and position.
  const { sourceTokens } = await one('He is not my friend.', { beams: 1 });
  const row = page.getByTestId('turning').locator('[data-row="0"]');
  assert.equal(await row.count(), sourceTokens.length - 1);
  const values = await row.evaluateAll((list) => list.map(({ dataset }) => Number(dataset.value)));
  assert.deepEqual(new Set(values), new Set([0]));
  const violations = await violationsOf(page);
  assert.deepEqual(
    violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html)}`),
    [],
  );
});

onPage('it fits a phone', { viewport: { width: 320, height: 800 } }, async (page) => {
  await open(page, donor);
  assert.ok(
    await page.evaluate(
      () => document.documentElement.scrollWidth <= document.documentElement.clientWidth,
    ),
  );
});
