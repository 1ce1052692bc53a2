// The main way through the view “Your model”: a published checkpoint is opened and asked. Its answers
// are those of the original library.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { mainWay } from '../../../../../tests/page/on_page.mjs';
import { settled } from '../../../../../tests/page/open.mjs';

const folder = 'tests/fixtures/checkpoints/bert_sequence';

mainWay('a folder is opened, and a text is classified', '#view=model', async (page) => {
  await page.getByTestId('folder').setInputFiles(folder);
  await page.getByTestId('answer').waitFor();
  await settled(page);
  const { texts, labels } = JSON.parse(await readFile(`${folder}/expected.json`, 'utf8'));
  const { text, scores } = texts.find(({ pair }) => !pair);
  await page.getByTestId('input').fill(text);
  await page.getByTestId('second').fill('');
  await settled(page);
  const shown = await page
    .getByTestId('class')
    .evaluateAll((list) => list.map(({ dataset }) => [dataset.label, Number(dataset.value)]));
  assert.equal(shown.length, labels.length);
  for (const [label, score] of shown) {
    const expected = scores[labels.indexOf(label)];
    assert.ok(Math.abs(score - expected) <= 2e-3, `${label}: ${score}, not ${expected}`);
  }
  assert.ok((await page.getByTestId('head').count()) > 0);
});
