// The translation read from each layer matches the package.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before } from 'node:test';
import { Translator } from '../../../../../dist/index.js';
import { testsOnPage } from '../../../../../tests/page/on_page.mjs';
import {
  assertAccessibleToAll,
  assertFits,
  read,
  root,
  settled,
  until,
  threadsLeft,
} from '../../../../../tests/page/open.mjs';

const onPage = testsOnPage('#view=translation');
// Node may run the other binary, which rounds sums differently.
const tolerance = 0.02;
const sentence = 'My sister is a doctor.';

let translator;
before(async () => {
  translator = await Translator.load(join(root, 'weights/en-de'), {
    compute: 'f32',
    explain: true,
  });
});
after(() => translator?.dispose());

const rows = (page) => page.getByTestId('encoder-layers').locator('li');

/** Waits until the page shows the package's layers for the sentence and these beams. */
async function assertRead(page, text, beams) {
  const { sentences } = await translator.explain(text, { method: 'decoder_lens', beams });
  const [{ layers }] = sentences;
  const shown = () =>
    rows(page).evaluateAll((list) =>
      list.map((row) => ({
        text: row.querySelector('.text').textContent,
        score: Number(row.querySelector('[data-value]').dataset.value),
      })),
    );
  const same = (list) =>
    list.length === layers.length &&
    list.every(
      ({ text, score }, i) =>
        text === layers[i].text && Math.abs(score - layers[i].score) <= tolerance,
    );
  await until(page, shown, same);
  return layers;
}

async function open(page, text) {
  await read(page, text);
  await page.getByRole('button', { name: 'Read every layer' }).click();
  await page.getByTestId('encoder-layers').waitFor();
}

onPage(
  'each layer’s translation matches the package, and the last one matches the view',
  {},
  async (page) => {
    await open(page, sentence);
    const layers = await assertRead(page, sentence, 4);
    assert.equal(await page.getByTestId('target').textContent(), layers.at(-1).text);
    const texts = layers.map(({ text }) => text);
    const first = texts.map((text) => text !== texts.at(-1)).lastIndexOf(true) + 1;
    assert.ok(first > 0 && first < layers.length);
    assert.match(
      await page.getByTestId('settled').textContent(),
      new RegExp(`From encoder layer ${first} `),
    );
    // Words that the last one lacks are marked.
    const marked = await rows(page).first().locator('b').allTextContents();
    const words = new Set(texts.at(-1).split(' '));
    assert.deepEqual(
      marked,
      texts[0].split(' ').filter((word) => !words.has(word)),
    );
    assert.equal(await rows(page).last().locator('b').count(), 0);
  },
);

onPage('each decoder layer’s most likely tokens match the package', {}, async (page) => {
  await open(page, sentence);
  await assertRead(page, sentence, 4);
  const { sentences } = await translator.explain(sentence, { method: 'lens', beams: 4 });
  const [{ tokens, layers }] = sentences;
  const marks = { '<s>': 'start', '</s>': 'end' };
  const table = page.getByTestId('decoder-layers').locator('tbody tr');
  assert.equal(await table.count(), layers.length);
  for (const [layer, turns] of layers.entries()) {
    const cells = await table.nth(layer).locator('td').all();
    assert.equal(cells.length, turns.length);
    for (const [turn, cell] of cells.entries()) {
      const [{ text, logprob }] = turns[turn];
      const printed = (await cell.textContent()).trim();
      assert.ok(printed.startsWith(marks[text] ?? text.trim()), `${printed}, not ${text}`);
      const value = Number(await cell.getAttribute('data-value'));
      assert.ok(Math.abs(value - logprob) <= tolerance, `${layer} ${turn}: ${value}, ${logprob}`);
    }
  }
  assert.equal(layers.at(-1).length, tokens.length + (tokens.at(-1).text === '</s>' ? 0 : 1));
});

onPage('the layers follow text, sentence, beams and language', {}, async (page) => {
  await open(page, `${sentence} The dog sleeps.`);
  await assertRead(page, sentence, 4);
  await page.getByTestId('sentences').getByRole('radio').nth(1).check();
  await assertRead(page, 'The dog sleeps.', 4);
  await page.getByTestId('beams').getByRole('radio').first().check();
  await settled(page);
  await assertRead(page, 'The dog sleeps.', 1);
  await page.getByTestId('into-fr').check();
  await settled(page);
  const french = await Translator.load(join(root, 'weights/en-fr'), { compute: 'f32' });
  const { text } = await french.translate('The dog sleeps.');
  french.dispose();
  await rows(page).last().getByText(text, { exact: true }).waitFor();
  await threadsLeft(page); // The model that explains is the view's.
  await page.getByRole('button', { name: 'Read every layer' }).click();
  await threadsLeft(page);
});

onPage('axe finds no violations', {}, async (page) => {
  await open(page, sentence);
  await assertAccessibleToAll(page);
});

onPage('the layers fit a phone', { viewport: { width: 320, height: 800 } }, async (page) => {
  await open(page, 'My sister is a doctor and she works in a large hospital.');
  await assertFits(page);
});
