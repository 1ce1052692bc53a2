// The two words in which texts differ.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { source } from '../../../../../tests/page/source.mjs';

const { parting, rowOf } = await source('panels/words/next-logits');
const logits = (...probabilities) => Float32Array.from(probabilities, Math.log);

test('texts differ in the most likely token of each', () => {
  assert.deepEqual(parting(logits(0.6, 0.3, 0.1), logits(0.2, 0.3, 0.5)), [0, 2]);
});

test('if that is the same, in the largest loss and the largest gain', () => {
  assert.deepEqual(parting(logits(0.6, 0.3, 0.1), logits(0.45, 0.25, 0.3)), [0, 2]);
  assert.deepEqual(parting(logits(0.5, 0.2, 0.3), logits(0.65, 0.25, 0.1)), [2, 0]);
  const more = parting(logits(0.5, 0.3, 0.19, 0.01), logits(0.55, 0.1, 0.25, 0.1));
  assert.deepEqual(more, [1, 3]);
});

test('identical texts do not differ', () => {
  const same = logits(0.5, 0.3, 0.2);
  assert.equal(parting(same, same.slice()), undefined);
});

test('rows count from both ends, and are copies', () => {
  const matrix = { shape: [3, 2], data: Float32Array.of(1, 2, 3, 4, 5, 6) };
  assert.deepEqual([...rowOf(matrix, 1)], [3, 4]);
  const last = rowOf(matrix, -1);
  assert.deepEqual([...last], [5, 6]);
  last[0] = 0;
  assert.equal(matrix.data[4], 5);
});
