// The sentence about the methods on many texts.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { root } from '../../../../../tools/build.mjs';
import { source } from '../../../../../tests/page/source.mjs';

const { toldMeasured } = await source('panels/methods/measured');

test('the best method is named, then ties, then the first that is behind', () => {
  const of = (method, mean, behind) => ({
    method,
    mean,
    low: mean - 0.1,
    high: mean + 0.1,
    behind,
  });
  const methods = [
    of('attn_lrp', 2, { mean: 0, low: 0, high: 0 }),
    of('relevance', 1.9, { mean: 0.1, low: -0.05, high: 0.2 }),
    of('rollout', 1, { mean: 1, low: 0.8, high: 1.25 }),
  ];
  assert.equal(
    toldMeasured({ texts: 300, methods }),
    'On 300 texts that the model was not trained on, “AttnLRP” scores best: +2.00 (95%: +1.90 to ' +
      '+2.10). “Relevance” cannot be told from it. “Rollout” is behind by 1.00 (95%: 0.80 to 1.25).',
  );
  assert.equal(toldMeasured({ texts: 300, methods: [] }), '');
});

for (const model of ['sentiment', 'writer'])
  test(`${model}: the measured methods are sorted, with their intervals`, () => {
    const path = join(root, 'weights', model, 'methods.json');
    const measured = JSON.parse(readFileSync(path, 'utf8'));
    assert.equal(measured.texts, 300);
    for (const [i, { mean, low, high, behind }] of measured.methods.entries()) {
      assert.ok(low < mean && mean < high && behind.low <= behind.high);
      if (i > 0) assert.ok(mean <= measured.methods[i - 1].mean);
    }
    assert.match(toldMeasured(measured), /^On 300 texts/);
  });
