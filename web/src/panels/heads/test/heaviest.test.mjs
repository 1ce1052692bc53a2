// The head with the largest effect.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { source } from '../../../../../tests/page/source.mjs';

const { heaviestOf } = await source('panels/heads/heaviest');

test('the heaviest head has the largest effect, of either sign', () => {
  const effects = Float32Array.of(0.01, -2, 1, NaN, 0.049, 0.5);
  assert.deepEqual(heaviestOf(effects, 3), {
    name: 'Layer 1, head 2',
    value: -2,
    slight: 2,
    known: 5,
  });
  assert.equal(heaviestOf(Float32Array.of(NaN, NaN), 2), undefined);
});
