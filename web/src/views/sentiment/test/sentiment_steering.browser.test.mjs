// Steering in the Sentiment view: the verdict with a push, and what the push costs.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { Classifier, steeringVector } from '../../../../../dist/index.js';
import { testsOnPage } from '../../../../../tests/page/on_page.mjs';
import { assertAccessibleToAll, assertFits, read, root } from '../../../../../tests/page/open.mjs';
import { source } from '../../../../../tests/page/source.mjs';

const { presets, steeredBy } = await source('panels/steering/steering');
const { probes } = await source('panels/verdict/probes');
const onPage = testsOnPage();
const sentence = 'The plot is not good at all.';

const rested = (page, strength) =>
  page.waitForFunction((wanted) => {
    const part = document.querySelector('[data-testid=steering][aria-busy=false]');
    return part?.querySelector('[data-testid=steering-right]') && part.textContent.includes(wanted);
  }, strength);

onPage(
  'the steered verdict is the package’s, and the curves say what it costs',
  {},
  async (page) => {
    await read(page, sentence);
    await page.getByRole('button', { name: 'Add praise or blame' }).click();
    await rested(page, 'with +0.30');
    await page.getByTestId('steering-strength').fill('0.6');
    await rested(page, 'with +0.60');
    const value = (id) => page.getByTestId(id).getAttribute('data-value').then(Number);

    const model = await Classifier.load(join(root, 'weights/sentiment'), { compute: 'f32' });
    const [{ toward, away }] = presets;
    const direction = await steeringVector(model, {
      name: 'encoder.layers.2.output',
      toward,
      away,
    });
    const positive = async (text, strength) => {
      const { scores } = await model.classify(text, { patch: steeredBy(direction, strength) });
      return scores.at(-1).score;
    };
    const [plain, steered] = [await positive(sentence, 0), await positive(sentence, 0.6)];
    // Node may run the other binary, which rounds sums differently.
    assert.ok(Math.abs((await value('unsteered')) - plain) < 2e-3);
    assert.ok(Math.abs((await value('steered')) - steered) < 2e-3);
    assert.ok(plain < 0.5 && steered > 0.5, `${plain}, ${steered}`);
    let right = 0;
    for (const [i, text] of probes.entries()) {
      if ((await positive(text, 0)) > 0.5 === (i % 2 === 0)) right++;
    }
    model.dispose();

    const points = (name) =>
      page
        .locator(`[data-testid=steering-${name}] circle`)
        .evaluateAll((all) => all.map(({ dataset }) => Number(dataset.value)));
    const [effect, kept] = [await points('positive'), await points('right')];
    assert.equal(effect.length, 9);
    assert.ok(effect[0] < effect[4] && effect[4] < effect.at(-1), `${effect}`);
    assert.ok(Math.abs(kept[4] - right / probes.length) < 1e-6, `${kept[4]}, ${right}`);
    assert.ok(kept[0] < kept[4] && kept.at(-1) < kept[4], `${kept}`);
    await assertAccessibleToAll(page, 'steering');
    await page.setViewportSize({ width: 390, height: 844 });
    await assertFits(page);
  },
);
