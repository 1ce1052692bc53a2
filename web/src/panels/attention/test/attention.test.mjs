// Attention weights: sums, blocks, habits and linked words.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { source } from '../../../../../tests/page/source.mjs';

const attention = await source('panels/attention/attention');
const { habitOf } = await source('panels/attention/habit');
const { alignmentOf, partners, stretchesOf } = await source('panels/alignment/alignment');
const { tokenEvidence, evidence, evidenceName } = await source('panels/ledger/evidence');

const matrix = (rows, causal) => ({
  weights: Float32Array.from(rows.flat()),
  queries: rows.length,
  keys: rows[0].length,
  ...(causal && { causal }),
});

test('the attention that a key receives is the mean over queries', () => {
  const sums = attention.received(
    matrix([
      [1, 0],
      [0.5, 0.5],
    ]),
  );
  assert.deepEqual([...sums], [0.75, 0.25]);
});

test('the strongest cell, and masked cells', () => {
  const map = matrix(
    [
      [1, 0],
      [0.25, 0.75],
    ],
    true,
  );
  assert.deepEqual(attention.strongestCell(map), { query: 0, key: 0 });
  assert.equal(attention.unseen(map, { query: 0, key: 1 }), true);
  assert.equal(attention.unseen(map, { query: 1, key: 1 }), false);
  assert.equal(attention.unseen({ ...map, causal: false }, { query: 0, key: 1 }), false);
});

test('shrinking keeps the largest weight of each block', () => {
  const rows = Array.from({ length: 10 }, (_, i) =>
    Array.from({ length: 10 }, (_, j) => (i === 7 && j === 2 ? 1 : 0)),
  );
  const small = attention.shrink(matrix(rows), 5);
  assert.equal(small.queries, 5);
  assert.equal(small.keys, 5);
  assert.equal(small.weights[3 * 5 + 1], 1);
  assert.equal(
    small.weights.reduce((a, b) => a + b),
    1,
  );
  const tiny = matrix([[1]]);
  assert.equal(attention.shrink(tiny, 5), tiny);
});

test('a habit names the tokens with the most attention', () => {
  const names = ['a', 'b', 'c'];
  const diagonal = [0, 1, 2].map((i) => [0, 1, 2].map((j) => Number(i === j)));
  const previous = [0, 1, 2].map((i) => [0, 1, 2].map((j) => Number(j === Math.max(0, i - 1))));
  const sink = [0, 1, 2].map(() => [0, 1, 0]);
  const even = Array.from({ length: 8 }, () => Array(8).fill(1 / 8));
  const words = (rows, keys) => habitOf({ keyLabels: names, keys }, matrix(rows)).words;
  assert.equal(words(diagonal), 'to the token itself');
  assert.equal(words(previous), 'to the token before');
  assert.equal(words(sink), 'to “b”');
  assert.match(habitOf({ keyLabels: [...'abcdefgh'] }, matrix(even)).words, /many/);
  assert.equal(words(diagonal, 'written'), 'to the token written last');
  assert.equal(words(sink, 'source'), 'to “b”');
  assert.equal(words(diagonal, 'source'), 'to one source token per step');
});

test('the parts of a text join to the same text', () => {
  const text = 'Don’t stop, 🙂 now!';
  const words = [...text.matchAll(/[\p{L}’]+/gu)].map(({ 0: word, index }) => ({
    start: index,
    end: index + word.length,
  }));
  const tokens = [
    { start: 0, end: 2 },
    { start: 2, end: 5 },
    { start: 6, end: 10 },
  ];
  const stretches = stretchesOf(text, words, tokens);
  assert.equal(stretches.flatMap(({ pieces }) => pieces).join(''), text);
  assert.deepEqual(stretches[0].pieces, ['Do', 'n’t']);
  assert.deepEqual(
    stretches.map(({ word }) => word).filter((word) => word !== undefined),
    [0, 1, 2],
  );
});

test('words without a link are listed among the linked ones', () => {
  const link = { source: { start: 6, end: 9 }, target: { start: 0, end: 3 }, weight: 0.5 };
  const found = alignmentOf('see a dog', { sentences: [{ start: 0, end: 9, alignment: [link] }] });
  assert.deepEqual(
    found.source.map(({ start }) => start),
    [0, 4, 6],
  );
  assert.deepEqual([...partners(found, 'target', 0)], [[2, 0.5]]);
  assert.deepEqual([...partners(found, 'source', 2)], [[0, 0.5]]);
  assert.deepEqual([...partners(found, 'source', 0)], []);
});

test('evidence is the logit of the last label minus the mean of the others', () => {
  const labels = ['bad', 'so-so', 'good'];
  const result = {
    scores: [{ logit: 1 }, { logit: 3 }, { logit: 5 }],
    tokens: [{}, {}],
    contributions: [
      [1, 0],
      [1, 2],
      [4, 1],
    ],
  };
  assert.equal(evidence(result), 3);
  assert.deepEqual([...tokenEvidence(result)], [3, 0]);
  assert.equal(evidenceName(['no', 'yes']), 'the log-odds of “yes”');
  assert.match(evidenceName(labels), /logit of “good” above/);
});
