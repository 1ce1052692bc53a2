// Activation patching between two sentences: the numbers match the package with the same patch.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before } from 'node:test';
import { Translator } from '../../../../../dist/index.js';
import { testsOnPage } from '../../../../../tests/page/on_page.mjs';
import { assertAccessibleToAll, assertFits, read, root } from '../../../../../tests/page/open.mjs';

const onPage = testsOnPage('#view=translation');
// Node may run the other binary, which rounds sums differently.
const tolerance = 1e-3;
const base = 'My brother is a doctor.';
const donor = 'My sister is a doctor.';
const streams = [0, 1, 2, 3, 4, 5].map((layer) => `encoder.layers.${layer}.input`);
streams.push('encoder.layers.5.output');

let translator;
before(async () => {
  const options = { compute: 'f32', gradients: true };
  translator = await Translator.load(join(root, 'weights/en-de'), options);
});
after(() => translator?.dispose());

const value = (locator) => locator.getAttribute('data-value').then(Number);
const near = (got, expected, what) =>
  assert.ok(Math.abs(got - expected) <= tolerance, `${what}: ${got}, not ${expected}`);
const cell = (page, row, index) => page.locator(`[data-row="${row}"][data-cell="${index}"]`);

const one = async (text, options) => (await translator.translate(text, options)).sentences[0];

/** Returns the lead of "Meine" over "Mein" as the first token. */
async function contrast(text, patch = []) {
  const first = async (from) => (await one(from, { beams: 4 })).tokens[0].id;
  const logprob = async (id) =>
    (await one(text, { beams: 1, prefixes: [[id]], maxLength: 1, patch })).tokens[0].logprob;
  return (await logprob(await first(donor))) - (await logprob(await first(base)));
}

async function open(page, second) {
  await read(page, base);
  await page.getByRole('button', { name: 'Compare with a second sentence' }).click();
  await page.getByTestId('second').fill(second);
  const done = page.locator('[data-testid="turning"][aria-busy="false"]');
  await done.waitFor();
}

onPage('a cell’s number is the effect of patching that vector', {}, async (page) => {
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
  await page.getByTestId('performed').getByText(text).waitFor();
  near(await value(page.getByTestId('turn')), (await contrast(donor)) - whole, 'turn');
  await page.keyboard.press('Escape');
  assert.equal(await page.getByTestId('performed').count(), 0);
});

/** Returns the gradient times the change of each vector, for texts with the same number of tokens. */
async function estimates(first, second) {
  const traces = [];
  const ids = [];
  for (const text of [first, second]) {
    const { trace, tokens } = await one(text, { beams: 4, trace: streams });
    traces.push(trace);
    ids.push(tokens[0].id);
  }
  const [own, other] = traces;
  const [against, token] = ids;
  const options = { method: 'gradients', names: streams, token, against };
  const { gradients } = await translator.explain(first, options);
  const found = {};
  for (const [row, name] of streams.entries()) {
    const { shape, data } = gradients[name];
    for (let index = 0; index < shape[0]; index++) {
      let sum = 0;
      for (let c = index * shape[1]; c < (index + 1) * shape[1]; c++)
        sum += data[c] * (other[name].data[c] - own[name].data[c]);
      found[`${row}.${index}`] = sum;
    }
  }
  return found;
}

onPage('estimates fill the table first and are plotted against Δ', {}, async (page) => {
  // Records the estimates that are ever in the table.
  await page.evaluate(() => {
    window.estimated = {};
    new MutationObserver(() => {
      for (const { dataset } of document.querySelectorAll('[data-estimated]'))
        window.estimated[dataset.estimated] = Number(dataset.value);
    }).observe(document.body, { subtree: true, childList: true, attributes: true });
  });
  await open(page, donor);
  assert.equal(await page.locator('[data-estimated]').count(), 0);
  const expected = await estimates(base, donor);
  const estimated = await page.evaluate(() => window.estimated);
  assert.deepEqual(Object.keys(estimated).sort(), Object.keys(expected).sort());
  for (const [place, estimate] of Object.entries(expected))
    near(estimated[place], estimate, `estimate ${place}`);

  const points = await page.locator('[data-point]').evaluateAll((list) =>
    list.map(({ dataset }) => ({
      ...{ place: dataset.point, estimate: Number(dataset.estimate) },
      measured: Number(dataset.measured),
    })),
  );
  assert.ok(points.length > 20, `${points.length}`);
  for (const { place, estimate, measured } of points) {
    near(estimate, expected[place], `x of ${place}`);
    assert.equal(measured, await value(cell(page, ...place.split('.'))), `y of ${place}`);
  }
  const told = await page.getByTestId('correlation').textContent();
  assert.match(told, new RegExp(`is −?\\d\\.\\d+, over ${points.length} cells`));
});

const longer = 'He is not my friend.';
const shorter = 'He is my friend.';

async function beside(page, first, second) {
  await read(page, first);
  await page.getByRole('button', { name: 'Compare with a second sentence' }).click();
  await page.getByTestId('second').fill(second);
  await page.locator('[data-testid="turning"][aria-busy="false"]').waitFor();
}

/** Returns the lead of the second's word over the first's where the translations first differ. */
async function lead(of, first, second, options = {}) {
  const [own, other] = [(await one(first, {})).tokens, (await one(second, {})).tokens];
  const at = own.findIndex(({ id }, i) => id !== other[i].id);
  const prefix = own.slice(0, at).map(({ id }) => id);
  const forced = { beams: 1, prefixes: [prefix], maxLength: at + 1, trace: ['logits'] };
  const { data, shape } = (await one(of, { ...forced, ...options })).trace.logits;
  return data[at * shape[1] + other[at].id] - data[at * shape[1] + own[at].id];
}

onPage('a token without a counterpart is removed from a layer onward', {}, async (page) => {
  await beside(page, longer, shorter);
  const { sourceTokens } = await one(longer, {});
  const turning = page.getByTestId('turning');
  assert.equal(await turning.locator('[data-row="0"]').count(), sourceTokens.length);
  // All tokens except "not" have a counterpart with the same id and position.
  for (const token of [0, 1, 3, 4, 5, 6])
    assert.equal(await value(cell(page, 0, token)), 0, `${token}`);
  assert.equal(await turning.locator('.unpaired').count(), streams.length);
  const whole = await lead(longer, longer, shorter);
  const masked = await lead(longer, longer, shorter, { maskTokens: [[2]] });
  near(await value(cell(page, 0, 2)), masked - whole, 'from the first layer on');
  for (const row of [3, 6]) {
    const attentions = [3, 4, 5]
      .filter((layer) => layer >= row)
      .map((layer) => `encoder.layers.${layer}.self_attn`)
      .concat([0, 1].map((layer) => `decoder.layers.${layer}.encoder_attn`));
    const patch = attentions.map((name) => ({
      ...{ name: `${name}.scores`, keys: [2], value: -Infinity },
    }));
    const there = await lead(longer, longer, shorter, { patch });
    near(await value(cell(page, row, 2)), there - whole, `row ${row}`);
  }
  await cell(page, 0, 2).click();
  assert.match(await page.getByTestId('turned').textContent(), /“not” removed before layer 1/);
  const { text } = await one(longer, { beams: 4, maskTokens: [[2]] });
  await page.getByTestId('performed').getByText(text).waitFor();
  await page.keyboard.press('Escape');
  // The second sentence's tokens have shifted positions: its own number is shown, too.
  const alone = (await lead(shorter, longer, shorter)).toFixed(2);
  assert.ok((await page.getByTestId('turned').textContent()).includes(`+${alone} unaligned`));
});

onPage('axe finds no violations', {}, async (page) => {
  await beside(page, longer, shorter);
  await assertAccessibleToAll(page);
});

onPage('in a long sentence, a cell is a word', {}, async (page) => {
  const much = Array.from({ length: 30 }, () => 'really').join(', ');
  const first = `He is ${much} my friend.`;
  await read(page, first);
  await page.getByRole('button', { name: 'Compare with a second sentence' }).click();
  await page.getByTestId('second').fill(first.replace('friend', 'brother'));
  const turning = page.getByTestId('turning');
  await turning.locator('[data-cell]').first().waitFor();
  const { sourceTokens } = await one(first, { beams: 1 });
  assert.ok(sourceTokens.length > 64);
  const words = first.split(' ').length;
  assert.equal(await turning.locator('[data-row="0"]').count(), words + 1);
  await page.getByText('a cell is a word').waitFor();
});

onPage('the cells fit a phone', { viewport: { width: 320, height: 800 } }, async (page) => {
  await open(page, donor);
  await assertFits(page);
});
