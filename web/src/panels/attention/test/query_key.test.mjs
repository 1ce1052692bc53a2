// An attention score, dimension by dimension, from a trace.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { source } from '../../../../../tests/page/source.mjs';

const { differenceIn, namesFor, queryKeyOf } = await source('panels/attention/query-key');

/** Two heads of four numbers, two tokens. In head 1, only the first key is visible to query 0. */
const [q, k, scores] = namesFor('encoder', 3);
const trace = {
  [q]: {
    shape: [2, 2, 4],
    data: Float32Array.from([9, 9, 9, 9, 1, 2, 3, 4, 9, 9, 9, 9, 0, 1, 0, 1]),
  },
  [k]: {
    shape: [2, 2, 4],
    data: Float32Array.from([9, 9, 9, 9, 1, 0, 1, 0, 9, 9, 9, 9, 2, 2, 2, 2]),
  },
  [scores]: {
    shape: [2, 2, 2],
    data: Float32Array.from([9, 9, 9, 9, 2, -Infinity, 0, 2]),
  },
};
const at = { layer: 3, head: 1 };

test('the tensors of a layer have the model’s names', () => {
  assert.deepEqual(
    [q, k, scores],
    [
      'encoder.layers.3.self_attn.q',
      'encoder.layers.3.self_attn.k',
      'encoder.layers.3.self_attn.scores',
    ],
  );
  assert.equal(namesFor('cross', 0)[0], 'decoder.layers.0.encoder_attn.q');
  assert.equal(namesFor('decoder', 0)[1], 'decoder.layers.0.self_attn.k');
});

test('the products of a pair, their sum, the sum over √d_head, and its softmax', () => {
  const pair = queryKeyOf(trace, 'encoder', at, { query: 1, key: 1 });
  assert.deepEqual([...pair.q], [0, 1, 0, 1]);
  assert.deepEqual([...pair.k], [2, 2, 2, 2]);
  assert.deepEqual([...pair.products], [0, 2, 0, 2]);
  assert.deepEqual([pair.sum, pair.scaled, pair.score, pair.seen], [4, 2, 2, 2]);
  assert.ok(Math.abs(pair.weight - Math.exp(2) / (1 + Math.exp(2))) < 1e-6);
  assert.equal(differenceIn(pair), 'none');
});

test('a masked key has weight 0', () => {
  const pair = queryKeyOf(trace, 'encoder', at, { query: 0, key: 1 });
  assert.deepEqual([pair.score, pair.seen, pair.weight], [-Infinity, 1, 0]);
  assert.equal(differenceIn(pair), 'none');
});

test('rounding is distinguished from another formula', () => {
  const pair = { scaled: 2, score: 2 };
  assert.equal(differenceIn({ ...pair, score: 2.004 }), 'rounding');
  assert.equal(differenceIn({ ...pair, score: 4 }), 'more');
});

test('a trace of another text or layer has no such pair', () => {
  assert.equal(queryKeyOf({}, 'encoder', at, { query: 0, key: 0 }), undefined);
  assert.equal(queryKeyOf(trace, 'encoder', at, { query: 2, key: 0 }), undefined);
  assert.equal(
    queryKeyOf(trace, 'encoder', { layer: 0, head: 0 }, { query: 0, key: 0 }),
    undefined,
  );
});
