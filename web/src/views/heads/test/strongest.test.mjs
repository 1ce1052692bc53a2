// The texts in which a head does most what it does: shares of attention as in heads.json, and ranks.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  crossSets,
  shares,
  squareSets,
  wordsOf as measuredWords,
} from '../../../../../tests/evaluate/head_shares.mjs';
import { source } from '../../../../../tests/page/source.mjs';

const { partsOf, shareOf, strongestTexts, wordsOf } = await source(
  'views/heads/strongest/marks',
  'views/heads/strongest/ranking',
  'views/heads/strongest/words',
);
const { random } = await source('ui/random');

/** Makes tokens of pieces. A piece "|" is a special token. */
function tokensOf(pieces) {
  let at = 0;
  return pieces.map((text) => {
    const start = at;
    at += text === '|' ? 0 : text.length;
    return { text, start, end: at };
  });
}

const draw = random(7);
/** Returns a map of random weights whose rows add up to 1, of one head. */
function mapOf(queries, keys, causal) {
  const weights = new Float32Array(queries * keys);
  for (let query = 0; query < queries; query++) {
    const row = Array.from({ length: keys }, (_, key) => (causal && key > query ? 0 : draw()));
    const sum = row.reduce((a, b) => a + b);
    weights.set(
      row.map((value) => value / sum),
      query * keys,
    );
  }
  return { layers: 1, heads: 1, queries, keys, at: () => weights };
}

const texts = [
  ['|', 'The', ' fi', 'lm', ',', ' the', ' end', '.', '|'],
  ['I', ' don', "'", 't', ' like', ' it', ',', ' I', ' don', "'", 't', '!'],
  [' Caf', '<0xC3>', '<0xA9>', ' <0xE2>', '<0x82>', '<0xAC>', ' well', '-', 'known', '...', '|'],
].map(tokensOf);

test('words are those of heads.json', () => {
  for (const tokens of texts) assert.deepEqual(plain(wordsOf(tokens)), measuredWords(tokens));
});
const plain = (words) => words.map(({ pieces, text, special }) => ({ pieces, text, special }));

test('the share of every set is that of heads.json', () => {
  const near = (actual, expected, what) =>
    assert.ok(Math.abs(actual - expected) < 1e-6, `${what}: ${actual}, not ${expected}`);
  for (const tokens of texts) {
    for (const causal of [false, true]) {
      const map = mapOf(tokens.length, tokens.length, causal);
      const words = wordsOf(tokens);
      const sides = { queries: words, keys: words, square: true, causal };
      const [[{ sets }]] = shares(map, squareSets(measuredWords(tokens), causal));
      const matrix = { weights: map.at(), queries: map.queries, keys: map.keys };
      for (const [set, { share }] of Object.entries(sets))
        near(shareOf(matrix, set, sides), share, set);
    }
    for (const other of texts) {
      const map = mapOf(other.length, tokens.length, false);
      const sides = { queries: wordsOf(other), keys: wordsOf(tokens), square: false };
      const [[{ sets }]] = shares(map, crossSets(measuredWords(other), measuredWords(tokens)));
      const matrix = { weights: map.at(), queries: map.queries, keys: map.keys };
      for (const [set, { share }] of Object.entries(sets))
        near(shareOf(matrix, set, sides), share, `cross ${set}`);
    }
  }
});

/** A head that attends to a set of words, or to none. */
const headOf = (set) => ({
  ...{ attention: 'encoder', layer: 0, head: 0, entropy: 0.5 },
  share: set ? { [set]: 0.9 } : {},
  even: set ? { [set]: 0.1 } : {},
});
/** A text of three tokens with these weights. */
const textOf = (name, pieces, rows) => {
  const tokens = tokensOf(pieces);
  const at = () => Float32Array.from(rows.flat());
  const encoder = { layers: 1, heads: 1, queries: rows.length, keys: rows.length, at };
  return { name, maps: { encoder }, tokens: { encoder: { queries: tokens, keys: tokens } } };
};
const some = [
  textOf(
    'weak',
    ['a', ' b', ' c'],
    [
      [0.8, 0.1, 0.1],
      [0.3, 0.5, 0.2],
      [0.1, 0.4, 0.5],
    ],
  ),
  textOf(
    'strong',
    ['d', ' e', ' f'],
    [
      [1, 0, 0],
      [0.9, 0.1, 0],
      [0, 0.8, 0.2],
    ],
  ),
  textOf(
    'special',
    ['g', ' h', '|'],
    [
      [0, 0, 1],
      [0.5, 0, 0.5],
      [1, 0, 0],
    ],
  ),
];
const ranked = (set) =>
  strongestTexts(headOf(set), some).map(({ text, cell, weight, value }) => [
    text.name,
    [cell.query, cell.key],
    ...[weight, value].map((number) => Number(number.toFixed(4))),
  ]);

test('a head with a role ranks texts by the share of its words', () => {
  assert.deepEqual(ranked('previous'), [
    ['strong', [1, 0], 0.9, 0.5667],
    ['special', [1, 0], 0.5, 0.25],
    ['weak', [2, 1], 0.4, 0.2333],
  ]);
  assert.deepEqual(ranked('specials'), [['special', [0, 2], 1, 0.75]]);
});

test('a head without a role ranks them by the largest weight between two different words', () => {
  assert.deepEqual(ranked(), [
    ['strong', [1, 0], 0.9, 0.9],
    ['special', [1, 0], 0.5, 0.5],
    ['weak', [2, 1], 0.4, 0.4],
  ]);
});

test('a text is split at the marked tokens, whose spaces stay outside', () => {
  const text = 'We have lost our key.';
  const at = (start, end) => ({ start, end });
  assert.deepEqual(partsOf(text, { query: at(7, 12), key: at(0, 2) }), [
    { text: 'We', mark: 'key' },
    { text: ' have ' },
    { text: 'lost', mark: 'query' },
    { text: ' our key.' },
  ]);
  assert.deepEqual(partsOf(text, { query: at(21, 21), key: undefined }), [{ text }]);
});
