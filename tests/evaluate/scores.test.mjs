import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bleu, bleuCounts, chrf, differenceInterval, tokenize13a } from './scores.mjs';

// The example in sacreBLEU's README, with the figures that it prints.
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

test('BLEU and chrF equal those of sacreBLEU', () => {
  assert.ok(Math.abs(bleu(hypotheses, references) - 48.530827009929865) < 1e-9);
  assert.equal(chrf(hypotheses, references).toFixed(2), '59.73');
});

test('a perfect answer scores 100, and one without a common word scores 0', () => {
  assert.ok(Math.abs(bleu(['a b c d e'], [['a b c d e']]) - 100) < 1e-9);
  assert.equal(chrf(['über'], [['über']]), 100);
  assert.equal(bleu(['a b c d e'], [['v w x y z']]), 0);
  assert.equal(chrf(['abc'], [['xyz']]), 0);
});

test('the interval of a difference contains 0 if two systems are equal, and not if one is better', () => {
  const sentences = Array.from({ length: 300 }, (_, i) => `the cat ${i} sat on the mat ${i * 7}`);
  const counts = (edited) =>
    sentences.map((reference, i) =>
      bleuCounts(edited(i) ? reference.replace('sat', 'lay') : reference, [reference]),
    );
  const even = counts((i) => i % 10 === 0);
  const odd = counts((i) => i % 10 === 5);
  const worse = counts((i) => i % 2 === 0);
  assert.deepEqual(differenceInterval(even, even), [0, 0]);
  const [low, high] = differenceInterval(even, odd);
  assert.ok(low < 0 && high > 0, `${low} to ${high}`);
  const [least] = differenceInterval(even, worse);
  assert.ok(least > 5, `${least}`);
});

test('13a separates punctuation and keeps numbers whole', () => {
  assert.deepEqual(tokenize13a('Hello, world! 3.5% (a-b) 2-3.'), [
    ...['Hello', ',', 'world', '!', '3.5', '%', '(', 'a-b', ')', '2', '-', '3', '.'],
  ]);
});
