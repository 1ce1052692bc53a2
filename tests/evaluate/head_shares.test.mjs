import assert from 'node:assert/strict';
import { test } from 'node:test';
import { crossSets, meanShares, shares, squareSets, wordsOf } from './head_shares.mjs';

// "The film, the end": one special token, a word of two pieces, punctuation, a repeated word.
const tokens = [
  ['<s>', 0, 0],
  ['The', 0, 3],
  [' fi', 3, 6],
  ['lm', 6, 8],
  [' ,', 8, 9],
  [' the', 9, 13],
].map(([text, start, end]) => ({ text, start, end }));

const mapOf = (rows) => ({
  layers: 1,
  heads: 1,
  queries: rows.length,
  keys: rows[0].length,
  at: () => Float32Array.from(rows.flat()),
});

const near = (got, expected) => assert.ok(Math.abs(got - expected) < 1e-4, `${got}, ${expected}`);

function headOf(map, sets) {
  const totals = meanShares();
  totals.add('encoder', shares(map, sets));
  return totals.of({ attention: 'encoder', layer: 0, head: 0 });
}

test('pieces form words, and special tokens are words of their own', () => {
  const words = wordsOf(tokens).map(({ text, special }) => (special ? '' : text.trim()));
  assert.deepEqual(words, ['', 'The', 'film', ',', 'the']);
});

// Makes tokens of pieces; the piece "|" is a special token.
const wordsFrom = (pieces) => {
  let at = 0;
  const own = pieces.map((text) => {
    const start = at;
    at += text === '|' ? 0 : text.length;
    return { text, start, end: at };
  });
  return wordsOf(own);
};

test('a word begins at whitespace, and between letters or digits and other characters', () => {
  const cases = [
    [[' seven', '.'], 'seven .'],
    [['seven', '.', '|'], 'seven . |'],
    [['don', "'", 't'], "don't"],
    [['d', 'on', "'t"], "don't"],
    [['ne', ' l', '’', 'a', 'i'], 'ne l’ai'],
    [['well', '-', 'known'], 'well-known'],
    [[' (', 'see'], '( see'],
    [['(', 'see', ')', '.'], '( see ).'],
    [[' Mr', '.', ' Smith', "'", 's'], "Mr . Smith's"],
    [[' Mr', '.', ' Smith', "'s", ' (', 'late', ')'], "Mr . Smith's ( late )"],
    [[' film', " '", 's', ' best'], "film 's best"],
    [["'", 'em'], "'em"],
    [['the', ' boys', "'", ' club'], "the boys ' club"],
    [['film', '-', '-', 'and'], 'film -- and'],
    [[' -', 'old'], '- old'],
    [['well', '-', ' known'], 'well - known'],
    [['he', ':', ' "', 'no', '!', '"'], 'he : " no !"'],
    [[' 1', ',', '000'], '1 , 000'],
    [[' ', 'dazzle', 's', ' ', ',', ' and'], 'dazzles , and'],
  ];
  for (const [pieces, expected] of cases) {
    const words = wordsFrom(pieces);
    assert.equal(words.map(({ text }) => text.trim()).join(' '), expected);
    const all = words.flatMap((word) => word.pieces);
    assert.deepEqual(all, [...pieces.keys()], 'every piece is in one word');
  }
});

test('bytes of a character are part of its word; they and a space before a text are not special', () => {
  const bytes = [
    [' ', 0, 0],
    ['na', 0, 2],
    ['<0xC3>', 2, 3],
    ['<0xAF>', 3, 3],
    ['ve', 3, 5],
    [' <0xE2><0x80>', 5, 7],
    ['<0x94>', 7, 7],
    ['no', 7, 9],
    ['</s>', 9, 9],
  ].map(([text, start, end]) => ({ text, start, end }));
  assert.deepEqual(wordsOf(bytes), [
    { pieces: [0, 1, 2, 3, 4], text: ' naïve', special: false },
    { pieces: [5, 6], text: ' —', special: false },
    { pieces: [7], text: 'no', special: false },
    { pieces: [8], text: '</s>', special: true },
  ]);
});

test('the same word is found before a full stop, and punctuation marks are not words', () => {
  const words = wordsFrom(['Go', ',', ' go', ',', ' go', '.']);
  const found = squareSets(words, false).queries.map(({ sets }) => [
    sets.sameWord,
    sets.punctuation,
  ]);
  assert.deepEqual(found, [
    [
      [2, 4],
      [1, 3, 5],
    ],
    [[], [1, 3, 5]],
    [
      [0, 4],
      [1, 3, 5],
    ],
    [[], [1, 3, 5]],
    [
      [0, 2],
      [1, 3, 5],
    ],
    [[], [1, 3, 5]],
  ]);
  const [, cross] = crossSets(
    wordsFrom(['Va', ' Anna', '.']),
    wordsFrom(['Go', ' anna', '.']),
  ).queries;
  assert.deepEqual([cross.sets.sameWord, cross.sets.punctuation], [[1], [2]]);
});

test('even attention has the even shares and the highest entropy', () => {
  const map = mapOf(tokens.map(() => tokens.map(() => 1 / 6)));
  const { share, even, entropy, withoutSpecials } = headOf(map, squareSets(wordsOf(tokens), false));
  for (const name of Object.keys(share)) near(share[name], even[name]);
  near(share.first, 1 / 6);
  near(share.same, (1 + 2 + 1 + 1) / 4 / 6);
  near(share.punctuation, 1 / 6);
  near(share.sameWord, 2 / 4 / 6); // two of four words, The and the, come twice
  near(withoutSpecials.sameWord, 2 / 4 / 5);
  near(entropy, 1);
});

test('a head that attends to the token before', () => {
  const map = mapOf(tokens.map((_, i) => tokens.map((_, j) => Number(j === Math.max(i - 1, 0)))));
  const { share, entropy } = headOf(map, squareSets(wordsOf(tokens), true));
  // The second piece of "film" attends to the first.
  near(share.previous, (1 + 0.5 + 1 + 1) / 4);
  near(share.punctuation, 1 / 4); // only the last word has a mark before it
  near(share.same, 0.5 / 4);
  near(entropy, 0);
  assert.equal(share.next, undefined);
  assert.equal(share.last, undefined);
});

test('a share is the mean over all words, and a word without such a set counts as 0', () => {
  // Both heads attend to the source's first word. One of three output words is spelled like it.
  const source = wordsFrom(['Anna', ' sings', '.']);
  const written = wordsFrom(['Anna', ' singt', '.']);
  const map = mapOf([
    [1, 0, 0],
    [1, 0, 0],
    [1, 0, 0],
  ]);
  const { share, even } = headOf(map, crossSets(written, source));
  near(share.sameWord, 1 / 3);
  near(even.sameWord, 1 / 3 / 3);
  near(share.first, 1);
  // A text without punctuation counts, too.
  const totals = meanShares();
  totals.add('cross', shares(map, crossSets(written, source)));
  totals.add('cross', shares(map, crossSets(written, wordsFrom(['Eva', ' hums', ' on']))));
  const both = totals.of({ attention: 'cross', layer: 0, head: 0 });
  near(both.share.sameWord, 1 / 6);
  near(both.even.punctuation, 1 / 6);
  // A set that no text has is left out.
  assert.equal(both.share.specials, undefined);
});

test('a name is found in the source', () => {
  const written = [{ text: 'The', start: 0, end: 3 }];
  const map = mapOf([[0, 0.7, 0, 0, 0.1, 0.2]]);
  const { share } = headOf(map, crossSets(wordsOf(written), wordsOf(tokens)));
  near(share.sameWord, 0.9);
  near(share.punctuation, 0.1);
  near(share.last, 0.2);
});
