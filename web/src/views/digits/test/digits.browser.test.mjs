// The view Digits in Chromium: what is drawn, wiped and shown, compared with the package in Node.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before } from 'node:test';
import { ImageClassifier } from '../../../../../dist/index.js';
import { testsOnPage } from '../../../../../tests/page/on_page.mjs';
import {
  assertAccessibleToAll,
  assertFits,
  root,
  settled,
  until,
} from '../../../../../tests/page/open.mjs';
import { source } from '../../../../../tests/page/source.mjs';

const { pictureOf, side, strokesIn, wiped } = await source('panels/pictures/drawing');
const { examples } = await source('panels/pictures/digits');

let classifier;
before(async () => {
  classifier = await ImageClassifier.load(join(root, 'weights/digits'), { compute: 'f32' });
});
after(() => classifier?.dispose());

const onPage = testsOnPage('#view=digits');
const pixelsOf = (strokes) => ({ width: side, height: side, data: pictureOf(strokesIn(strokes)) });

const scoresOn = (page) =>
  page.getByTestId('label').evaluateAll((rows) => rows.map(({ dataset }) => Number(dataset.value)));

async function assertShows(page, expected) {
  await settled(page);
  assert.equal(await page.getByTestId('verdict').textContent(), expected.label);
  const scores = await scoresOn(page);
  for (const [i, { score }] of expected.scores.entries()) {
    assert.ok(Math.abs(scores[i] - score) < 2e-3, `${i}: ${scores[i]} for ${score}`);
  }
}

onPage('each example is read as the package reads it, and is right', {}, async (page) => {
  for (const { name, strokes } of examples) {
    await page.getByRole('button', { name, exact: true }).click();
    const expected = await classifier.classify(pixelsOf(strokes));
    assert.equal(expected.label, name);
    await assertShows(page, expected);
  }
});

onPage('a digit can be drawn with a mouse, undone and cleared', {}, async (page) => {
  await page.getByTestId('clear').click();
  await page.getByTestId('verdict').filter({ hasText: 'Draw a digit' }).waitFor();
  const { x, y, width } = await page.getByTestId('pad').boundingBox();
  const stroke = async (points) => {
    await page.mouse.move(x + points[0][0] * width, y + points[0][1] * width);
    await page.mouse.down();
    for (const [px, py] of points) await page.mouse.move(x + px * width, y + py * width);
    await page.mouse.up();
  };
  await stroke([
    [0.3, 0.2],
    [0.5, 0.2],
    [0.7, 0.2],
    [0.6, 0.5],
    [0.5, 0.85],
  ]);
  await page.getByTestId('verdict').filter({ hasText: '7' }).waitFor();
  const before = await scoresOn(page);
  await stroke([
    [0.2, 0.9],
    [0.8, 0.9],
  ]);
  await until(
    page,
    () => scoresOn(page),
    (scores) => scores.some((score, i) => Math.abs(score - before[i]) > 0.01),
  );
  await page.getByRole('button', { name: 'Undo stroke' }).click();
  await until(
    page,
    () => scoresOn(page),
    (scores) => scores.every((score, i) => score === before[i]),
  );
});

onPage('a wiped patch is black for the model, and comes back', {}, async (page) => {
  const picture = pixelsOf(examples[3].strokes);
  const whole = await classifier.classify(picture);
  await assertShows(page, whole);
  await page.locator('[data-testid=patch][data-patch="24"]').click();
  await page.getByTestId('reset').waitFor();
  const part = { left: 12, top: 12, width: 4, height: 4 };
  await assertShows(page, await classifier.classify(wiped(picture, part)));
  await until(
    page,
    () => page.evaluate(() => location.hash),
    (hash) => hash.includes('wipe=24'),
  );
  await page.reload();
  await assertShows(page, await classifier.classify(wiped(picture, part)));
  await page.getByTestId('reset').click();
  await assertShows(page, whole);
});

onPage('attention is that of the head and of the row that asks', {}, async (page) => {
  const { attention } = await classifier.classify(pixelsOf(examples[3].strokes), {
    attention: true,
  });
  const { encoder } = attention;
  const shown = () =>
    page
      .locator('[data-testid=query]')
      .evaluateAll((patches) =>
        patches.map((patch) => patch.getAttribute('aria-label').split(', ').at(-1)),
      );
  const written = (value) => (value === 0 ? '0' : value < 0.0005 ? '<0.001' : value.toFixed(3));
  const rowOf = (layer, head, row) => [
    ...encoder.at(layer, head).subarray(row * encoder.keys + 1, (row + 1) * encoder.keys),
  ];
  const matches = (values) => (texts) =>
    texts.length === values.length &&
    texts.every((text, i) => {
      const number = text === '<0.001' ? 0.0003 : Number(text);
      return Math.abs(number - values[i]) < 2e-3 || text === written(values[i]);
    });
  await until(page, shown, matches(rowOf(0, 0, 0)));
  await page.locator('[data-testid=head][data-layer="2"][data-head="1"]').click();
  await until(page, shown, matches(rowOf(2, 1, 0)));
  await page.locator('[data-testid=query][data-patch="10"]').click();
  await until(page, shown, matches(rowOf(2, 1, 11)));
  await page.getByRole('button', { name: 'Let the class token ask' }).click();
  await until(page, shown, matches(rowOf(2, 1, 0)));
});

onPage('methods, layers and positions are shown on demand', {}, async (page) => {
  await page.getByTestId('decide').click();
  await page.getByTestId('layer').nth(4).waitFor();
  await page.getByTestId('method').nth(3).waitFor();
  assert.deepEqual(
    await page.getByTestId('method').evaluateAll((all) => all.map(({ dataset }) => dataset.name)),
    ['Wiping it', 'Attention rollout', 'Relevance', 'Gradient × input'],
  );
  const last = page.getByTestId('layer').nth(4);
  assert.equal(
    await last.getAttribute('data-label'),
    await page.getByTestId('verdict').innerText(),
  );
  await page.getByTestId('place').click();
  await page.getByTestId('positions').waitFor();
  assert.equal(await page.getByTestId('positions').getByRole('button').count(), 49);
  assert.match(await page.getByTestId('position-told').innerText(), /row 1, column 1 is most like/);
});

onPage('a picture’s file is read in place of the drawing', {}, async (page) => {
  const file = join(root, 'tests/fixtures/pictures/files/gray8.png');
  await page.locator('input[type=file]').setInputFiles({
    name: 'gray8.png',
    mimeType: 'image/png',
    buffer: readFileSync(file),
  });
  await page.getByText('Your picture, in the size that the model reads.').waitFor();
  await settled(page);
  assert.equal((await scoresOn(page)).length, 10);
  await page.locator('input[type=file]').setInputFiles({
    name: 'broken.png',
    mimeType: 'image/png',
    buffer: Buffer.from('no picture'),
  });
  await page.getByRole('alert').waitFor();
});

onPage('axe finds no violations', {}, async (page) => {
  await page.getByTestId('decide').click();
  await page.getByTestId('place').click();
  await page.getByTestId('layer').nth(4).waitFor();
  await page.getByTestId('positions').waitFor();
  await assertAccessibleToAll(page);
});

onPage(
  'nothing scrolls sideways on a phone',
  { viewport: { width: 320, height: 800 } },
  async (page) => {
    await page.getByTestId('decide').click();
    await page.getByTestId('place').click();
    await page.getByTestId('layer').nth(4).waitFor();
    await page.getByTestId('positions').waitFor();
    await assertFits(page);
  },
);
