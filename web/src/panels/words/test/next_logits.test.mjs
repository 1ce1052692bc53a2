// The rows of logits.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { source } from '../../../../../tests/page/source.mjs';

const { rowOf } = await source('panels/words/next-logits');

test('rows count from both ends, and are copies', () => {
  const matrix = { shape: [3, 2], data: Float32Array.of(1, 2, 3, 4, 5, 6) };
  assert.deepEqual([...rowOf(matrix, 1)], [3, 4]);
  const last = rowOf(matrix, -1);
  assert.deepEqual([...last], [5, 6]);
  last[0] = 0;
  assert.equal(matrix.data[4], 5);
});
