// Classifies a list of texts in Chromium and compares the verdicts with the package in Node.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before } from 'node:test';
import { Classifier } from '../../../../../dist/index.js';
import { testsOnPage } from '../../../../../tests/page/on_page.mjs';
import {
  assertAccessibleToAll,
  assertFits,
  root,
  savedBy,
  settled,
} from '../../../../../tests/page/open.mjs';

let classifier;
before(async () => {
  classifier = await Classifier.load(join(root, 'weights/sentiment'), { compute: 'f32' });
});
after(() => classifier?.dispose());

const onFirstPage = testsOnPage();
const onPage = (name, options, body) =>
  onFirstPage(name, options, async (page) => {
    await page.getByTestId('many').click();
    await page.getByTestId('texts').waitFor();
    await body(page);
  });

const list = [
  'positive\tA gripping, beautifully shot film.',
  'negative\tThe plot is not good at all.',
  'positive\tDreadful from start to finish.',
  'A film about a dog.',
];
const texts = list.map((line) => line.split('\t').at(-1));

async function judge(page, lines) {
  await page.getByTestId('texts').fill(lines.join('\n'));
  await page.getByTestId('judge').click();
  await page.getByTestId('judge').waitFor();
  await page.getByTestId('judged').first().waitFor();
}

const rowsOf = (page) =>
  page
    .getByTestId('judged')
    .evaluateAll((rows) =>
      rows.map(({ dataset, cells }) => [
        cells[2].textContent.trim(),
        dataset.verdict,
        Number(dataset.value),
      ]),
    );

onPage('each text has the package’s verdict, and labels are counted', {}, async (page) => {
  await judge(page, list);
  const expected = await classifier.classifyBatch(texts);
  for (const [i, [text, verdict, value]] of (await rowsOf(page)).entries()) {
    assert.deepEqual([text, verdict], [texts[i], expected[i].label]);
    assert.ok(Math.abs(value - expected[i].scores[1].score) < 2e-3, text);
  }
  assert.match(await page.getByTestId('summary').textContent(), /2 of 3 match their label, 66\.7%/);
  await page.getByTestId('wrong').check();
  assert.deepEqual(
    (await rowsOf(page)).map(([text]) => text),
    [texts[2]],
  );
  await page.getByRole('radio', { name: 'all', exact: true }).check();
  await page.getByTestId('texts-order').selectOption('probability');
  const values = (await rowsOf(page)).map(([, , value]) => value);
  assert.deepEqual(
    values,
    [...values].sort((a, b) => b - a),
  );
});

onPage(
  'a press opens a text above, and heads that are off stay off for the list',
  {},
  async (page) => {
    await judge(page, list);
    await page.getByRole('button', { name: texts[2] }).click();
    await settled(page);
    assert.equal(await page.getByTestId('input').inputValue(), texts[2]);
    await page.getByTestId('ablate').click();
    await settled(page);
    await page.getByTestId('judge').click();
    await page.getByTestId('summary').filter({ hasText: 'with 1 head off' }).waitFor();
    const off = [{ attention: 'encoder', layer: 0, head: 0 }];
    const expected = await classifier.classifyBatch(texts, { ablate: off });
    for (const [i, [, , value]] of (await rowsOf(page)).entries())
      assert.ok(Math.abs(value - expected[i].scores[1].score) < 2e-3, texts[i]);
  },
);

onPage('a long list is read from a file, can be stopped, and is saved', {}, async (page) => {
  const short = (i) => `Film number ${i} is ${i % 2 ? 'good' : 'bad'}.`;
  // Half a minute of work: not done before the press.
  const many = Array.from({ length: 3000 }, (_, i) => `${short(i)} ${'It is long. '.repeat(20)}`);
  await page.locator('input[type=file]').setInputFiles({
    name: 'many.txt',
    mimeType: 'text/plain',
    buffer: Buffer.from(many.join('\n')),
  });
  await page.getByTestId('stop').click();
  await page.getByTestId('judge').waitFor();
  // There are no counts if it was stopped before the first text.
  const counts = (await page.getByTestId('summary').textContent()).match(/[\d,]+/g) ?? [];
  const known = counts.reduce((sum, count) => sum + Number(count.replace(',', '')), 0);
  assert.ok(known < many.length, `${known}`);
  await judge(
    page,
    Array.from({ length: 300 }, (_, i) => short(i)),
  );
  assert.equal(await page.getByTestId('judged').count(), 200);
  const saved = `${await savedBy(page, page.getByRole('button', { name: 'Save as TSV' }))}`;
  assert.equal(saved.trimEnd().split('\n').length, 301);
});

onPage('axe finds no violations', {}, async (page) => {
  await judge(page, list);
  await assertAccessibleToAll(page);
});

onPage(
  'nothing scrolls sideways on a phone',
  { viewport: { width: 320, height: 800 } },
  async (page) => {
    await judge(page, list);
    await assertFits(page);
  },
);
