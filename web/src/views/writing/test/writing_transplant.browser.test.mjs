// Activation patching between two texts: the numbers match the package with the same patch.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before } from 'node:test';
import { Generator } from '../../../../../dist/index.js';
import { testsOnPage } from '../../../../../tests/page/on_page.mjs';
import { assertAccessibleToAll, assertFits, read, root } from '../../../../../tests/page/open.mjs';

const onPage = testsOnPage('#view=writing');
// Node may run the other binary, which rounds sums differently.
const tolerance = 1e-3;
const layers = 5;
const streams = [0, 1, 2, 3, 4].map((layer) => `decoder.layers.${layer}.input`);
streams.push('decoder.layers.4.output');
const positions = 'decoder.embed_positions';

let generator;
before(async () => {
  const options = { compute: 'f32', gradients: true };
  generator = await Generator.load(join(root, 'weights/writer'), options);
});
after(() => generator?.dispose());

const value = (locator) => locator.getAttribute('data-value').then(Number);
const near = (got, expected, what) =>
  assert.ok(Math.abs(got - expected) <= tolerance, `${what}: ${got}, not ${expected}`);
const cell = (page, row, index) => page.locator(`[data-row="${row}"][data-cell="${index}"]`);
const valuesOf = (page, index) =>
  Promise.all(streams.map((_, row) => value(cell(page, row, index))));

/** Returns all next tokens, the most likely first. */
const next = async (text, patch = []) =>
  (await generator.next(text, { count: 0, temperature: 1, topK: 0, topP: 1, patch })).next;

/** Returns the lead of the second of two tokens over the first. */
async function lead([is, would], text, patch) {
  const all = await next(text, patch);
  const logprob = (id) => all.find((token) => token.id === id).logprob;
  return logprob(would) - logprob(is);
}

/** Returns a row of a traced tensor, to use it as a patch. */
async function rowOf(text, name, row, patch = []) {
  const { trace } = await generator.next(text, { count: 1, trace: [name], patch });
  const [, width] = trace[name].shape;
  return trace[name].data.slice(row * width, (row + 1) * width);
}

/** Returns a patch that gives a text's tokens the position encodings of these places. */
async function placed(columns) {
  const { trace } = await generator.next('one '.repeat(20), { count: 1, trace: [positions] });
  const [, width] = trace[positions].shape;
  const value = new Float32Array(columns.length * width);
  columns.forEach((column, i) =>
    value.set(trace[positions].data.slice(column * width, (column + 1) * width), i * width),
  );
  return [{ name: positions, value: { shape: [columns.length, width], data: value } }];
}

async function settled(page) {
  // Typing is read after a pause; until then, the panel is marked as busy.
  await page.locator('[data-testid="turning"][aria-busy="false"]').waitFor();
}

async function open(page) {
  await page.getByRole('button', { name: 'Compare with a second text' }).click();
  await settled(page);
}

async function beside(page, base, donor) {
  await read(page, base);
  await page.getByRole('button', { name: 'Compare with a second text' }).click();
  await page.getByTestId('second').fill(donor);
  await settled(page);
}

onPage('a cell’s number is the effect of patching that vector', {}, async (page) => {
  const [base, donor] = ['This film is', 'The problem is'];
  await open(page);
  assert.equal(await page.getByTestId('second').inputValue(), donor);
  const ids = [(await next(base))[0].id, (await next(donor))[0].id];
  assert.notEqual(ids[0], ids[1]);
  const whole = await lead(ids, base);
  assert.equal(await page.getByTestId('turning').locator('[data-cell]').count(), 6 * 3);
  for (const [row, name] of streams.entries()) {
    for (const index of [0, 1, 2]) {
      const patch = [{ name, tokens: [index], value: await rowOf(donor, name, index) }];
      const expected = (await lead(ids, base, patch)) - whole;
      near(await value(cell(page, row, index)), expected, `${row} ${index}`);
    }
  }
  // Before the first layer, the last tokens are equal; after the last, only they count.
  assert.equal(await value(cell(page, 0, 2)), 0);
  assert.deepEqual([await value(cell(page, 5, 0)), await value(cell(page, 5, 1))], [0, 0]);
  const way = (await lead(ids, donor)) - whole;
  assert.ok(way > 1, `${way}`);
  near(await value(cell(page, 5, 2)), way, 'all of the way');
  const told = await page.getByTestId('turned').textContent();
  for (const lead of [whole, whole + way])
    assert.ok(told.includes(lead.toFixed(2).replace('-', '−')), told);
});

/** Returns the gradient times the change of each vector, for texts with the same number of tokens. */
async function estimates(base, donor) {
  const [token, against] = [(await next(donor))[0].id, (await next(base))[0].id];
  const options = { method: 'gradients', names: streams, token, against };
  const { gradients } = await generator.explain(base, options);
  const traces = [];
  for (const text of [base, donor])
    traces.push((await generator.next(text, { count: 1, trace: streams })).trace);
  const [own, other] = traces;
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
  await open(page);
  assert.equal(await page.locator('[data-estimated]').count(), 0);
  const expected = await estimates('This film is', 'The problem is');
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
  assert.ok(points.length > 5, `${points.length}`);
  for (const { place, estimate, measured } of points) {
    near(estimate, expected[place], `x of ${place}`);
    assert.equal(measured, await value(cell(page, ...place.split('.'))), `y of ${place}`);
  }
  const told = await page.getByTestId('correlation').textContent();
  assert.match(told, new RegExp(`is −?\\d\\.\\d+, over ${points.length} cells`));
});

onPage('cells can be patched by mouse, keys and drag', {}, async (page) => {
  const [base, donor] = ['This film is', 'The problem is'];
  await open(page);
  const greedy = { sample: false, maxNewTokens: 10 };
  for (const [testid, text] of [
    ['donor-text', donor],
    ['base-text', base],
  ]) {
    const shown = await page.getByTestId(testid).textContent();
    assert.ok(shown.includes(text + (await generator.generate(text, greedy)).text), shown);
  }
  const performed = async (row, index) => {
    assert.equal(await cell(page, row, index).getAttribute('aria-pressed'), 'true');
    const name = streams[row];
    const patch = [{ name, tokens: [index], value: await rowOf(donor, name, index) }];
    const { text } = await generator.generate(base, { ...greedy, patch });
    const shown = page.getByTestId('performed');
    await shown.getByText('%').waitFor();
    assert.ok((await shown.textContent()).includes(base + text), `${row} ${index}: ${text}`);
    const [first] = await next(base, patch);
    const share = `${(100 * Math.exp(first.logprob)).toFixed(1)}%`;
    assert.ok((await shown.textContent()).includes(`“${first.text.trim()}” ${share}`), share);
    near(await value(page.getByTestId('turn')), await value(cell(page, row, index)), 'turn');
    return text;
  };
  await cell(page, 0, 1).click();
  const turned = await performed(0, 1);
  assert.match(turned, /^ that/);
  assert.match(await page.getByTestId('turned').textContent(), /“problem” patched into “film”/);
  for (const key of ['ArrowDown', 'ArrowDown', 'ArrowRight', 'ArrowDown'])
    await page.keyboard.press(key);
  await performed(3, 2);
  await page.keyboard.press('Escape');
  assert.equal(await page.getByTestId('performed').count(), 0);

  const middle = async (row, index) => {
    const box = await cell(page, row, index).boundingBox();
    return [box.x + box.width / 2, box.y + box.height / 2];
  };
  await page.mouse.move(...(await middle(4, 1)));
  await page.mouse.down();
  await page.mouse.move(...(await middle(4, 2)), { steps: 4 });
  await page.mouse.up();
  assert.notEqual(await performed(4, 2), (await generator.generate(base, greedy)).text);
});

onPage('a token without a counterpart is removed from a layer onward', {}, async (page) => {
  await page.getByRole('button', { name: 'Compare with a second text' }).click();
  await page.getByRole('button', { name: 'Neither' }).click();
  const [base, donor] = ['The film is neither funny', 'The film is funny'];
  await page.getByTestId('base-text').getByText(base).waitFor();
  await settled(page);
  const { promptTokens } = await generator.next(base, { count: 1 });
  assert.equal(promptTokens.length, 5);
  assert.equal(await page.locator('.unpaired').count(), streams.length);
  // Both texts are equal up to there, and later tokens are masked.
  for (const index of [0, 1, 2]) assert.deepEqual(await valuesOf(page, index), Array(6).fill(0));
  const ids = [(await next(base))[0].id, (await next(donor))[0].id];
  const whole = await lead(ids, base);
  const gone = await valuesOf(page, 3);
  for (const row of [0, 2, 4]) {
    const patch = Array.from({ length: layers - row }, (_, i) => ({
      ...{ name: `decoder.layers.${row + i}.self_attn.scores`, keys: [3], value: -Infinity },
    }));
    near(gone[row], (await lead(ids, base, patch)) - whole, `removed from ${row}`);
  }
  assert.equal(gone[5], 0);
  // The second text's last token gets the position of its counterpart.
  const apart = await placed([0, 1, 2, 4]);
  const carried = await valuesOf(page, 4);
  assert.equal(carried[0], 0);
  for (const row of [1, 3]) {
    const name = streams[row];
    const patch = [{ name, tokens: [4], value: await rowOf(donor, name, 3, apart) }];
    near(carried[row], (await lead(ids, base, patch)) - whole, `carried before ${row}`);
  }
  const aligned = await lead(ids, donor, apart);
  near(carried[5], aligned - whole, 'all of the way');
  const alone = await lead(ids, donor);
  assert.ok(Math.abs(aligned - alone) > 0.01);
  const told = await page.getByTestId('turned').textContent();
  assert.ok(told.includes(`+${aligned.toFixed(2)} aligned, +${alone.toFixed(2)} unaligned`), told);

  await cell(page, 0, 3).click();
  assert.match(await page.getByTestId('turned').textContent(), /“neither” removed before/);
});

onPage('a continuation gets the positions after the last token’s', {}, async (page) => {
  const donor = 'The actors are';
  await beside(page, 'The actors and the film are', donor);
  const answer = async (columns) => {
    const patch = await placed(columns);
    return (await generator.generate(donor, { sample: false, maxNewTokens: 10, patch })).text;
  };
  const text = await answer([0, 1, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14]);
  assert.notEqual(text, await answer([0, 1, 5]));
  const shown = await page.getByTestId('donor-text').textContent();
  assert.ok(shown.includes(donor + text), `${shown} / ${text}`);
});

onPage(
  'last tokens are counterparts; for equal next words, two other words are compared',
  {},
  async (page) => {
    const [base, donor] = ['This film is not', 'This film is'];
    await beside(page, base, donor);
    await page.getByText('The most probable token is the same in both').waitFor();
    const [own, other] = [await next(base), await next(donor)];
    assert.equal(own[0].id, other[0].id);
    const share = (all, id) => Math.exp(all.find((token) => token.id === id).logprob);
    const gains = own.map(({ id }) => [share(other, id) - share(own, id), id]);
    gains.sort(([a], [b]) => a - b);
    const ids = [gains[0][1], gains.at(-1)[1]];
    // "is" has no counterpart; that of "not" is "is".
    const turning = page.getByTestId('turning');
    assert.equal(await turning.locator('[data-row="5"]').count(), 4);
    assert.equal(await turning.locator('[data-row="5"].unpaired').count(), 1);
    const all = (await lead(ids, donor, await placed([0, 1, 3]))) - (await lead(ids, base));
    near(await value(cell(page, 5, 3)), all, 'all of the way');

    // Typing recomputes the cells. Equal or empty texts have no cells.
    await page.getByTestId('second').fill(base);
    await page.getByText('Change a word of the second text').waitFor();
    await page.getByTestId('second').fill('');
    await page.getByText('Change a word of the second text').waitFor();
    assert.equal(await turning.count(), 0);
    await page.getByTestId('second').fill('This film was not');
    await settled(page);
    assert.equal(await turning.locator('.unpaired').count(), 0);
    assert.equal(await turning.locator('[data-row="0"]').count(), 4);
  },
);

onPage('too long texts are clipped, and in long texts a cell is a word', {}, async (page) => {
  const donor = `${'Good film. '.repeat(300)}The problem is`;
  await beside(page, 'This film is', donor);
  const ids = [(await next('This film is'))[0].id, (await next(donor))[0].id];
  const all = (await lead(ids, donor)) - (await lead(ids, 'This film is'));
  near(await value(cell(page, 5, 2)), all, 'all of the way');

  const first = `The film is ${Array(35).fill('really').join(', ')} good`;
  await read(page, first);
  await page.getByTestId('second').fill(first.replace('film', 'problem'));
  // Until the new table comes, the one of the first text and the long donor is there.
  const current = page.locator('[data-testid="turning"]:not(.stale)');
  await current.getByText('a cell is a word').waitFor();
  const { promptTokens } = await generator.next(first, { count: 1 });
  assert.ok(promptTokens.length > 64);
  const words = first.split(' ').length;
  assert.equal(await page.getByTestId('turning').locator('[data-row="0"]').count(), words);
});

onPage('axe finds no violations', {}, async (page) => {
  await open(page);
  await cell(page, 2, 1).click();
  await page.getByTestId('performed').getByText('%').waitFor();
  await assertAccessibleToAll(page);
});

onPage('the cells fit a phone', { viewport: { width: 320, height: 800 } }, async (page) => {
  await open(page);
  await page.getByRole('button', { name: 'He or she' }).click();
  await page.getByTestId('base-text').getByText('a young man').waitFor();
  await settled(page);
  await assertFits(page);
});
