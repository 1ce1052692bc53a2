// Steering in the Writing view: two continuations, and the curves over the strength.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { Generator, steeringVector } from '../../../../../dist/index.js';
import { testsOnPage } from '../../../../../tests/page/on_page.mjs';
import { assertAccessibleToAll, assertFits, read, root } from '../../../../../tests/page/open.mjs';
import { source } from '../../../../../tests/page/source.mjs';

const { presets, steeredBy } = await source('panels/steering/steering');
const onPage = testsOnPage('#view=writing');

const rested = (page) =>
  page
    .locator('[data-testid=steering][aria-busy=false]:has([data-testid=steering-perplexity])')
    .waitFor();

onPage('the steered text is the package’s, and the curves say what it costs', {}, async (page) => {
  await read(page, 'This film is');
  await page.getByRole('button', { name: 'Add praise or blame' }).click();
  await rested(page);
  await page.getByTestId('steering-strength').fill('-0.4');
  await page.waitForFunction(() =>
    document
      .querySelector('[data-testid=steered]')
      ?.previousElementSibling.textContent.includes('0.40'),
  );
  await rested(page);
  const [plain, steered] = await Promise.all(
    ['unsteered', 'steered'].map((id) => page.getByTestId(id).textContent()),
  );
  assert.notEqual(plain.trim(), steered.trim());

  const model = await Generator.load(join(root, 'weights/writer'), { compute: 'f32' });
  const [{ toward, away }] = presets;
  const direction = await steeringVector(model, { name: 'decoder.layers.2.output', toward, away });
  const patch = steeredBy(direction, -0.4);
  const { text } = await model.generate('This film is', { patch, sample: false, maxNewTokens: 24 });
  model.dispose();
  assert.equal(steered.trim(), `This film is${text}`.trim());

  const points = (name) =>
    page
      .locator(`[data-testid=steering-${name}] circle`)
      .evaluateAll((all) => all.map(({ dataset }) => Number(dataset.value)));
  const [positive, perplexity] = [await points('positive'), await points('perplexity')];
  assert.equal(positive.length, 9);
  assert.ok(positive[0] < 0.2 && positive.at(-1) > 0.8, `${positive}`);
  assert.ok(perplexity[0] > perplexity[4] && perplexity.at(-1) > perplexity[4], `${perplexity}`);
  await assertAccessibleToAll(page, 'steering');
  await page.setViewportSize({ width: 390, height: 844 });
  await assertFits(page);
});
