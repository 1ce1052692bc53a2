// The main way through the translation view: a sentence, its translation and the attention to it.
import assert from 'node:assert/strict';
import { Translator } from '../../../../../dist/index.js';
import { assertNear, mainWay, valuesOf } from '../../../../../tests/page/on_page.mjs';
import { read } from '../../../../../tests/page/open.mjs';

const text = 'I have not seen him since Monday.';

mainWay('a sentence is translated', '#view=translation', async (page) => {
  const translator = await Translator.load('weights/en-de', { compute: 'f32' });
  const translated = await translator.translate(text, { beams: 4, attention: true });
  translator.dispose();
  await read(page, text);
  assert.equal(await page.getByTestId('target').textContent(), translated.text);
  assertNear(await valuesOf(page.getByTestId('score')), [translated.score], 'score');
  await page.getByTestId('show-cross').check();
  await page.getByTestId('head').last().click();
  const { cross } = translated.sentences[0].attention;
  const cells = page.getByTestId('heatmap').locator('[data-value]');
  const expected = cross.at(cross.layers - 1, cross.heads - 1);
  assertNear(await valuesOf(cells), [...expected], 'attention');
});
