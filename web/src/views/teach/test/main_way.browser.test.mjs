// The main way through the view Teach: sentences that the model gets wrong are learned.
import assert from 'node:assert/strict';
import { Classifier } from '../../../../../dist/index.js';
import { assertNear, mainWay } from '../../../../../tests/page/on_page.mjs';
import { openAll } from './open_all.mjs';

mainWay('sentences are learned', '#view=teach', async (page) => {
  await openAll(page);
  const rows = await page.getByTestId('taught').evaluateAll((list) =>
    list.map((row) => ({
      text: row.querySelector('input').value,
      wanted: row.querySelector('select').value,
      change: row.querySelector('[data-testid=change]').textContent.replace(/\s+/g, ' ').trim(),
    })),
  );
  assert.equal(rows.length, 5);
  const classifier = await Classifier.load('weights/sentiment', { compute: 'f32' });
  for (const { text, wanted, change } of rows) {
    const { label, score } = await classifier.classify(text);
    assert.notEqual(label, wanted, `the shipped model gets “${text}” wrong`);
    const [, before, percent, after] = /before: (\w+) ([\d.]+)%; ?after: (\w+)/.exec(change);
    assert.deepEqual([before, after], [label, wanted], text);
    assertNear([Number(percent)], [100 * score], text, 0.2);
  }
  classifier.dispose();
  assert.match(await page.getByTestId('result').innerText(), /gets 5 of 5 sentences right/);
});
