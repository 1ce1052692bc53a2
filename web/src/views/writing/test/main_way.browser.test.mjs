// The main way through the writing view: the next tokens with their probabilities, and a chosen one.
import assert from 'node:assert/strict';
import { Generator } from '../../../../../dist/index.js';
import { assertNear, mainWay } from '../../../../../tests/page/on_page.mjs';
import { settled } from '../../../../../tests/page/open.mjs';

mainWay('a text is continued', '#view=writing', async (page) => {
  const generator = await Generator.load('weights/writer', { compute: 'f32' });
  const bars = () =>
    page
      .getByTestId('next')
      .evaluateAll((list) => list.map(({ dataset }) => [dataset.text, Number(dataset.value)]));
  /** Compares the bars with the package's probabilities. Returns the tokens of the bars. */
  const assertBars = async (text) => {
    const options = { count: 0, temperature: 0.8, topK: 0, topP: 0.95 };
    const { next } = await generator.next(text, options);
    const chances = new Map(next.map((each) => [each.text, each.probability]));
    const shown = await bars();
    assert.equal(shown[0][0], next[0].text);
    assertNear(
      shown.map(([, chance]) => chance),
      shown.map(([token]) => chances.get(token) ?? 0),
      text,
    );
    return shown.map(([token]) => token);
  };

  const text = await page.getByTestId('input').inputValue();
  assert.equal(text, 'This film is');
  const [, second] = await assertBars(text);
  const typed = await page.getByTestId('token').count();
  await page.getByTestId('next').nth(1).click();
  await settled(page);
  assert.equal(await page.getByTestId('token').count(), typed + 1);
  await assertBars(text + second);
  generator.dispose();
});
