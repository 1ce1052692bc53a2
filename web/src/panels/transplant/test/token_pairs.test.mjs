// Which tokens of two sentences stand for each other, and the positions that both are given.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { source } from '../../../../../tests/page/source.mjs';

const { pairBeginnings, pairTokens } = await source('panels/transplant/token-pairs');
const tokens = (text) => [...text].map((letter) => ({ id: letter.codePointAt(0) }));
const pairs = (base, donor) => pairTokens(tokens(base), tokens(donor));

test('one token in the place of another', () => {
  assert.deepEqual(pairs('abc', 'axc'), {
    donorOf: [0, 1, 2],
    baseColumns: [0, 1, 2],
    donorColumns: [0, 1, 2],
  });
});

test('what only one of them has leaves the others side by side', () => {
  assert.deepEqual(pairs('abcd', 'acd'), {
    donorOf: [0, null, 1, 2],
    baseColumns: [0, 1, 2, 3],
    donorColumns: [0, 2, 3],
  });
  assert.deepEqual(pairs('acd', 'abcd'), {
    donorOf: [0, 2, 3],
    baseColumns: [0, 2, 3],
    donorColumns: [0, 1, 2, 3],
  });
});

test('one against two is no substitution, two against two is', () => {
  assert.deepEqual(pairs('axd', 'abcd').donorOf, [0, null, 3]);
  assert.deepEqual(pairs('axyd', 'abcd').donorOf, [0, 1, 2, 3]);
  const { baseColumns, donorColumns } = pairs('axd', 'abcd');
  assert.deepEqual(
    [baseColumns, donorColumns],
    [
      [0, 1, 4],
      [0, 2, 3, 4],
    ],
  );
});

test('nothing in common, and nothing at all', () => {
  assert.deepEqual(pairs('ab', 'xy').donorOf, [0, 1]);
  assert.deepEqual(pairs('ab', 'xyz').donorOf, [null, null]);
  assert.deepEqual(pairs('', ''), { donorOf: [], baseColumns: [], donorColumns: [] });
});

test('of two beginnings the last tokens are partners', () => {
  const beginnings = (base, donor) => pairBeginnings(tokens(base), tokens(donor));
  assert.deepEqual(beginnings('abc', 'axc'), pairs('abc', 'axc'));
  assert.deepEqual(beginnings('abc', 'abcd'), {
    donorOf: [0, 1, 3],
    baseColumns: [0, 1, 3],
    donorColumns: [0, 1, 2, 3],
  });
  // The first "b" of the two would be the leftmost partner.
  assert.deepEqual(pairs('ab', 'abb').donorOf, [0, 1]);
  assert.deepEqual(beginnings('ab', 'abb').donorOf, [0, 2]);
  assert.deepEqual(beginnings('a', 'xyz'), {
    donorOf: [2],
    baseColumns: [2],
    donorColumns: [0, 1, 2],
  });
  assert.deepEqual(beginnings('', 'xyz'), pairs('', 'xyz'));
});
