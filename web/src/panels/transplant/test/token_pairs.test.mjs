// The alignment of two sentences' tokens, and the positions of both.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { source } from '../../../../../tests/page/source.mjs';

const { pairBeginnings, pairTokens } = await source('panels/transplant/token-pairs');
const tokens = (text) => [...text].map((letter) => ({ id: letter.codePointAt(0) }));
const pairs = (base, donor) => pairTokens(tokens(base), tokens(donor));

test('one token replaces another', () => {
  assert.deepEqual(pairs('abc', 'axc'), {
    donorOf: [0, 1, 2],
    baseColumns: [0, 1, 2],
    donorColumns: [0, 1, 2],
  });
});

test('a token in only one of them leaves the others aligned', () => {
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

test('one token does not replace two, but two replace two', () => {
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

test('no common tokens, and no tokens', () => {
  assert.deepEqual(pairs('ab', 'xy').donorOf, [0, 1]);
  assert.deepEqual(pairs('ab', 'xyz').donorOf, [null, null]);
  assert.deepEqual(pairs('', ''), { donorOf: [], baseColumns: [], donorColumns: [] });
});

test('the last tokens of two beginnings are counterparts', () => {
  const beginnings = (base, donor) => pairBeginnings(tokens(base), tokens(donor));
  assert.deepEqual(beginnings('abc', 'axc'), pairs('abc', 'axc'));
  assert.deepEqual(beginnings('abc', 'abcd'), {
    donorOf: [0, 1, 3],
    baseColumns: [0, 1, 3],
    donorColumns: [0, 1, 2, 3],
  });
  // Without this rule, the first "b" would be the counterpart.
  assert.deepEqual(pairs('ab', 'abb').donorOf, [0, 1]);
  assert.deepEqual(beginnings('ab', 'abb').donorOf, [0, 2]);
  assert.deepEqual(beginnings('a', 'xyz'), {
    donorOf: [2],
    baseColumns: [2],
    donorColumns: [0, 1, 2],
  });
  assert.deepEqual(beginnings('', 'xyz'), pairs('', 'xyz'));
});
