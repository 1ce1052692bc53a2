import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bleu, chrf, tokenize13a } from './scores.mjs';

// sacreBLEU's own example, with the figures that its README prints.
const hypotheses = [
  'The dog bit the man.',
  "It wasn't surprising.",
  'The man had just bitten him.',
];
const references = [
  ['The dog bit the man.', 'The dog had bit the man.'],
  ['It was not unexpected.', 'No one was surprised.'],
  ['The man bit him first.', 'The man had bitten the dog.'],
];

test('BLEU and chrF are those that sacreBLEU prints', () => {
  assert.ok(Math.abs(bleu(hypotheses, references) - 48.530827009929865) < 1e-9);
  assert.equal(chrf(hypotheses, references).toFixed(2), '59.73');
});

test('a perfect answer scores 100, one without a common word 0', () => {
  assert.ok(Math.abs(bleu(['a b c d e'], [['a b c d e']]) - 100) < 1e-9);
  assert.equal(chrf(['über'], [['über']]), 100);
  assert.equal(bleu(['a b c d e'], [['v w x y z']]), 0);
  assert.equal(chrf(['abc'], [['xyz']]), 0);
});

test('13a sets punctuation apart and keeps numbers whole', () => {
  assert.deepEqual(tokenize13a('Hello, world! 3.5% (a-b) 2-3.'), [
    ...['Hello', ',', 'world', '!', '3.5', '%', '(', 'a-b', ')', '2', '-', '3', '.'],
  ]);
});
