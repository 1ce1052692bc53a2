// Which cell turns the next word of a text: the numbers are what the package gives with that patch.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before } from 'node:test';
import { Generator } from '../../../../../dist/index.js';
import { testsOnPage } from '../../../../../tests/browser/on_page.mjs';
import {
  assertAccessibleToAll,
  assertFits,
  read,
  root,
} from '../../../../../tests/browser/open.mjs';

const onPage = testsOnPage('#view=writing');
// Node may run the other of the two binaries, whose sums round differently.
const tolerance = 1e-3;
const layers = 5;
const streams = [0, 1, 2, 3, 4].map((layer) => `decoder.layers.${layer}.input`);
streams.push('decoder.layers.4.output');
const positions = 'decoder.embed_positions';

let generator;
before(async () => {
  generator = await Generator.load(join(root, 'weights/writer'), { compute: 'f32' });
});
after(() => generator?.dispose());

const value = (locator) => locator.getAttribute('data-value').then(Number);
const near = (got, expected, what) =>
  assert.ok(Math.abs(got - expected) <= tolerance, `${what}: ${got}, not ${expected}`);
const cell = (page, row, index) => page.locator(`[data-row="${row}"][data-cell="${index}"]`);
const valuesOf = (page, index) =>
  Promise.all(streams.map((_, row) => value(cell(page, row, index))));

/** All that may come next, the likeliest first. */
const next = async (text, patch = []) =>
  (await generator.next(text, { count: 0, temperature: 1, topK: 0, topP: 1, patch })).next;

/** How far the second of two tokens is before the first. */
async function lead([is, would], text, patch) {
  const all = await next(text, patch);
  const logprob = (id) => all.find((token) => token.id === id).logprob;
  return logprob(would) - logprob(is);
}

/** A row of what a text's run has by a name, to be put in another one's place. */
async function rowOf(text, name, row, patch = []) {
  const { trace } = await generator.next(text, { count: 1, trace: [name], patch });
  const [, width] = trace[name].shape;
  return trace[name].data.slice(row * width, (row + 1) * width);
}

/** The positions of a text's tokens, as those of another text's tokens at these places. */
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
  // What was typed is read after a pause; until then what is shown is told to be old.
  await page.locator('[data-testid="turning"][aria-busy="false"]').waitFor();
}

async function open(page) {
  await page.getByRole('button', { name: 'Set a second text beside it' }).click();
  await settled(page);
}

async function beside(page, base, donor) {
  await read(page, base);
  await page.getByRole('button', { name: 'Set a second text beside it' }).click();
  await page.getByTestId('second').fill(donor);
  await settled(page);
}

onPage('a cell’s number is what carrying that vector does to the next word', {}, async (page) => {
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
  // Before the first layer the last tokens are the same; after the last they are all that counts.
  assert.equal(await value(cell(page, 0, 2)), 0);
  assert.deepEqual([await value(cell(page, 5, 0)), await value(cell(page, 5, 1))], [0, 0]);
  const way = (await lead(ids, donor)) - whole;
  assert.ok(way > 1, `${way}`);
  near(await value(cell(page, 5, 2)), way, 'all of the way');
  const told = await page.getByTestId('turned').textContent();
  for (const lead of [whole, whole + way])
    assert.ok(told.includes(lead.toFixed(2).replace('-', '−')), told);
});

onPage('a pressed cell is performed, by mouse, keys and drag', {}, async (page) => {
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
  assert.match(await page.getByTestId('turned').textContent(), /“problem” carried into “film”/);
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

onPage('a token without a partner is taken out from a layer on', {}, async (page) => {
  await page.getByRole('button', { name: 'Set a second text beside it' }).click();
  await page.getByRole('button', { name: 'Neither' }).click();
  const [base, donor] = ['The film is neither funny', 'The film is funny'];
  await page.getByTestId('base-text').getByText(base).waitFor();
  await settled(page);
  const { promptTokens } = await generator.next(base, { count: 1 });
  assert.equal(promptTokens.length, 5);
  assert.equal(await page.locator('.unpaired').count(), streams.length);
  // Both have the same up to there, and nothing later is seen.
  for (const index of [0, 1, 2]) assert.deepEqual(await valuesOf(page, index), Array(6).fill(0));
  const ids = [(await next(base))[0].id, (await next(donor))[0].id];
  const whole = await lead(ids, base);
  const gone = await valuesOf(page, 3);
  for (const row of [0, 2, 4]) {
    const patch = Array.from({ length: layers - row }, (_, i) => ({
      ...{ name: `decoder.layers.${row + i}.self_attn.scores`, keys: [3], value: -Infinity },
    }));
    near(gone[row], (await lead(ids, base, patch)) - whole, `taken out from ${row}`);
  }
  assert.equal(gone[5], 0);
  // The second text's last token stands where its partner stands.
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
  assert.ok(told.includes(`+${aligned.toFixed(2)} aligned, +${alone.toFixed(2)} alone`), told);

  await cell(page, 0, 3).click();
  assert.match(await page.getByTestId('turned').textContent(), /“neither” taken out before/);
});

onPage('what is written on has the positions after the last token’s', {}, async (page) => {
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

onPage('last tokens are partners, and of the same next word the odds count', {}, async (page) => {
  const [base, donor] = ['This film is not', 'This film is'];
  await beside(page, base, donor);
  await page.getByText('The likeliest token is the same in both').waitFor();
  const [own, other] = [await next(base), await next(donor)];
  assert.equal(own[0].id, other[0].id);
  const share = (all, id) => Math.exp(all.find((token) => token.id === id).logprob);
  const gains = own.map(({ id }) => [share(other, id) - share(own, id), id]);
  gains.sort(([a], [b]) => a - b);
  const ids = [gains[0][1], gains.at(-1)[1]];
  // "is" has no partner, "not" has "is" for one.
  const turning = page.getByTestId('turning');
  assert.equal(await turning.locator('[data-row="5"]').count(), 4);
  assert.equal(await turning.locator('[data-row="5"].unpaired').count(), 1);
  const all = (await lead(ids, donor, await placed([0, 1, 3]))) - (await lead(ids, base));
  near(await value(cell(page, 5, 3)), all, 'all of the way');

  // Typing makes it anew; without a difference, or a text, there is nothing to carry.
  await page.getByTestId('second').fill(base);
  await page.getByText('Change a word of the second text').waitFor();
  await page.getByTestId('second').fill('');
  await page.getByText('Change a word of the second text').waitFor();
  assert.equal(await turning.count(), 0);
  await page.getByTestId('second').fill('This film was not');
  await settled(page);
  assert.equal(await turning.locator('.unpaired').count(), 0);
  assert.equal(await turning.locator('[data-row="0"]').count(), 4);
});

onPage('texts longer than the model reads, and words as cells', {}, async (page) => {
  const donor = `${'Good film. '.repeat(300)}The problem is`;
  await beside(page, 'This film is', donor);
  const ids = [(await next('This film is'))[0].id, (await next(donor))[0].id];
  const all = (await lead(ids, donor)) - (await lead(ids, 'This film is'));
  near(await value(cell(page, 5, 2)), all, 'all of the way');

  const first = `The film is ${Array(35).fill('really').join(', ')} good`;
  await read(page, first);
  await page.getByTestId('second').fill(first.replace('film', 'problem'));
  await page.getByText('a cell is a word').waitFor();
  const { promptTokens } = await generator.next(first, { count: 1 });
  assert.ok(promptTokens.length > 64);
  const words = first.split(' ').length;
  assert.equal(await page.getByTestId('turning').locator('[data-row="0"]').count(), words);
});

onPage('axe finds nothing to object to', {}, async (page) => {
  await open(page);
  await cell(page, 2, 1).click();
  await page.getByTestId('performed').getByText('%').waitFor();
  await assertAccessibleToAll(page);
});

onPage('it fits a phone', { viewport: { width: 320, height: 800 } }, async (page) => {
  await open(page);
  await page.getByRole('button', { name: 'He or she' }).click();
  await page.getByTestId('base-text').getByText('a young man').waitFor();
  await settled(page);
  await assertFits(page);
});
