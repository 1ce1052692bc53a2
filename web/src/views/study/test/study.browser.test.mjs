// Studies on the page: the mean effect is that of the package, and the view serves everybody.
import assert from 'node:assert/strict';
import { Classifier } from '../../../../../dist/index.js';
import { testsOnPage } from '../../../../../tests/browser/on_page.mjs';
import { assertAccessibleToAll, assertFits } from '../../../../../tests/browser/open.mjs';

const onPage = testsOnPage('#view=study&heads=3.2');

const textsOf = async (page) =>
  (await page.getByTestId('study-texts').inputValue()).split('\n').map((line) => {
    const [label, text] = line.split('\t');
    return { label, text };
  });

async function run(page) {
  await page.getByTestId('study-run').click();
  await page.getByTestId('study-result').waitFor();
  await page.getByTestId('study-run').waitFor();
  return Number(await page.getByTestId('study-delta').getAttribute('data-value'));
}

onPage('the mean change without a head is the package’s', {}, async (page) => {
  const delta = await run(page);
  const model = await Classifier.load('weights/sentiment', { compute: 'f32' });
  const logOdds = ({ logits }) => logits.positive - logits.negative;
  const texts = await textsOf(page);
  assert.equal(texts.length, 30);
  let sum = 0;
  let right = 0;
  for (const { label, text } of texts) {
    const ablate = [{ attention: 'encoder', layer: 3, head: 2 }];
    const before = await model.classify(text);
    const after = await model.classify(text, { ablate });
    sum += logOdds(after) - logOdds(before);
    right += Number(before.label === label);
  }
  assert.ok(Math.abs(delta - sum / texts.length) < 1e-4, `${delta}, ${sum / texts.length}`);
  // The labels of the probes are the model's answers, nearly always.
  assert.ok(right >= 27, `${right} of 30`);
  assert.equal(await page.getByTestId('study-row').count(), 30);
  await page.getByTestId('study-mean').check();
  assert.notEqual(await run(page), delta);
  model.dispose();
});

onPage('hidden units, with the tokens that activate them, and files', {}, async (page) => {
  await page.getByTestId('study-units').check();
  await page.getByTestId('study-layer').selectOption('2');
  await page.getByTestId('study-numbers').fill('1-40');
  assert.notEqual(await run(page), 0);
  await page.waitForURL(/units=1-40/);
  const downloads = page.waitForEvent('download');
  await page.getByTestId('files-study').getByRole('button', { name: 'CSV' }).click();
  assert.equal((await downloads).suggestedFilename(), 'study.csv');
});

onPage('nothing to object to, and it fits', {}, async (page) => {
  await run(page);
  await assertAccessibleToAll(page, 'study');
  for (const width of [320, 390, 1280]) {
    await page.setViewportSize({ width, height: 800 });
    await assertFits(page, `${width}`);
  }
});
