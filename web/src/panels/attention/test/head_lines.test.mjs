// The lines drawn for a head, and the tokens shown of a long text.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { source } from '../../../../../tests/page/source.mjs';

const { firstOf, isWhole, linesOf, mostPart, mostWhole } = await source(
  'panels/attention/head-lines',
);

const matrix = (queries, keys, weightOf, causal) => ({
  weights: Float32Array.from({ length: queries * keys }, (_, i) =>
    weightOf(Math.floor(i / keys), i % keys),
  ),
  ...{ queries, keys },
  ...(causal && { causal }),
});
const pairs = ({ lines }) => lines.map(({ query, key }) => [query, key]);

test('a short text has all lines, the heaviest last, or those of one token', () => {
  const rows = [
    [0.7, 0.3, 0],
    [0.01, 0.59, 0.4],
  ];
  const map = matrix(2, 3, (query, key) => rows[query][key]);
  const at = { query: 1, key: 2 };
  const all = linesOf(map, at, undefined, 0);
  assert.deepEqual([all.queries, all.keys, all.rest], [[0, 1], [0, 1, 2], 0]);
  assert.deepEqual(pairs(all), [
    [0, 1],
    [1, 2],
    [1, 1],
    [0, 0],
  ]);
  // A negligible weight is drawn only for the token that is pointed at.
  assert.deepEqual(pairs(linesOf(map, at, 'query', 0)), [
    [1, 0],
    [1, 2],
    [1, 1],
  ]);
  assert.deepEqual(pairs(linesOf(map, at, 'key', 0)), [[1, 2]]);
});

test('masked weights have no line', () => {
  const map = matrix(3, 3, (query, key) => (key <= query ? 1 / (query + 1) : 0), true);
  assert.equal(linesOf(map, { query: 0, key: 0 }, undefined, 0).lines.length, 6);
});

test('a long text has the lines of one query, to the keys it attends to most', () => {
  const count = 512;
  const heavy = [500, 3, 77];
  const map = matrix(count, count, (_, key) => (heavy.includes(key) ? 0.3 : 0.1 / (count - 3)));
  assert.equal(isWhole(map), false);
  const { queries, keys, lines, rest } = linesOf(map, { query: 510, key: 3 }, undefined, 488);
  assert.equal(queries.length, mostPart);
  assert.deepEqual([queries[0], queries.at(-1)], [488, 511]);
  assert.equal(keys.length, mostPart);
  assert.ok(heavy.every((key) => keys.includes(key)));
  assert.deepEqual(
    [...keys].sort((a, b) => a - b),
    keys,
    'in the order of the text',
  );
  assert.deepEqual(new Set(lines.map(({ query }) => query)), new Set([510]));
  const own = (0.1 / (count - 3)) * (mostPart - 3) + 0.9;
  assert.ok(Math.abs(rest - (1 - own)) < 1e-5);
});

test('a long causal text shows only keys that are not masked', () => {
  const map = matrix(100, 100, (query, key) => (key <= query ? 1 / (query + 1) : 0), true);
  const { keys, rest } = linesOf(map, { query: 2, key: 0 }, 'query', 0);
  assert.deepEqual(keys, [0, 1, 2]);
  assert.ok(rest < 1e-6);
});

test('the part that is shown moves as little as possible', () => {
  const map = matrix(100, 100, () => 0.01);
  assert.equal(firstOf(map, 0, 5), 0);
  assert.equal(firstOf(map, 0, mostPart), 1);
  assert.equal(firstOf(map, 50, 40), 40);
  assert.equal(firstOf(map, 50, 99), 100 - mostPart);
  const short = matrix(mostWhole, mostWhole, () => 1 / mostWhole);
  assert.equal(isWhole(short), true);
  assert.equal(
    firstOf(
      matrix(3, 100, () => 0.01),
      0,
      2,
    ),
    0,
  );
});
