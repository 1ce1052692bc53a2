// Tokens, numbers and code as the page shows them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { source } from '../source.mjs';

const { carried, charactersIn, endOf, isForeign, shorten, shownTokens, unknownIn, widestGap } =
  await source('panels/words/tokens');
const format = await source('ui/text/format');
const { classifyCode, translateCode, transplantCode } = await source(
  ...['views/sentiment/code', 'views/translation/code', 'views/transplant/code'],
);
const { jsonText, resultJson, translationJson } = await source(
  'panels/attention/files/result-json',
);
const { searchTree, pathOf } = await source('panels/search/search-tree');

const token = (text, start, end, id = 0) => ({ id, text, start, end });

test('tokens are labeled by their own part of the text', () => {
  const shown = shownTokens('A film.', [
    token(' a', 0, 1),
    token(' film', 2, 6),
    token('.', 6, 7),
    token('</s>', 7, 7),
  ]);
  assert.deepEqual(
    shown.map(({ label, spaced, unknown }) => [label, spaced, unknown]),
    [
      ['A', false, false],
      ['film', true, false],
      ['.', false, false],
      ['</s>', false, false],
    ],
  );
});

test('text outside the vocabulary is marked and reported', () => {
  const text = 'ok 电影 🙂';
  const tokens = [
    token(' ok', 0, 2),
    token('<unk>', 3, 5),
    token('<0xF0>', 6, 8),
    token('<0x9F>', 6, 6),
  ];
  const shown = shownTokens(text, tokens);
  assert.deepEqual(
    shown.map(({ label }) => label),
    ['ok', '‹电影›', '‹🙂›', '‹0x9F›'],
  );
  const { parts, share } = unknownIn(text, tokens);
  assert.deepEqual(parts, ['电影', '🙂']);
  assert.equal(share, 3 / 5);
  assert.equal(unknownIn('ok', tokens.slice(0, 1)), undefined);
  // A visitor may write exactly that.
  assert.equal(unknownIn('<unk>', [token('<unk>', 0, 5)]), undefined);
});

test('characters are counted as people count them', () => {
  const family = '👨‍👩‍👧‍👦';
  assert.equal(family.length, 11);
  const counts = {
    '': 0,
    ' \n': 0,
    film: 4,
    [family]: 1,
    é: 1,
    'e\u0301': 1,
    '👍🏽': 1,
    '🇩🇪': 1,
    电影: 2,
  };
  for (const [text, count] of Object.entries(counts)) assert.equal(charactersIn(text), count, text);
  // It has many bytes and tokens, but is one of the text's ten characters.
  const text = `Nice film ${family}!`;
  const starts = [...family].map((_, i, all) => 10 + all.slice(0, i).join('').length);
  const { parts, share } = unknownIn(text, [
    token(' Nice', 0, 4),
    token(' film', 5, 9),
    ...starts.flatMap((start, i) => [
      token('<0xF0>', start, start + [...family][i].length),
      token('<0x9F>', start, start),
    ]),
    token('!', 21, 22),
  ]);
  assert.deepEqual(parts, [family]);
  assert.equal(share, 1 / 10);
  // Without Intl.Segmenter the count is an approximation.
  const { Segmenter } = Intl;
  Intl.Segmenter = undefined;
  try {
    for (const one of [family, 'e\u0301', '👍🏽']) assert.equal(charactersIn(one), 1, one);
    assert.equal(charactersIn('ein Film'), 7);
  } finally {
    Intl.Segmenter = Segmenter;
  }
});

test('a text is foreign if most of its letters are not Latin', () => {
  for (const text of ['', '12!', 'Gut, schön, ça va.', 'A good film, фильм', '(•‿•) ok'])
    assert.equal(isForeign(text), false, text);
  for (const text of ['Хороший фильм', 'ein 映画がとても', 'καλή ταινία'])
    assert.ok(isForeign(text), text);
});

test('tokens at both ends of an edited text are recognized', () => {
  const ids = (...list) => list.map((id) => token('', 0, 0, id));
  assert.deepEqual(
    [...carried(ids(1, 2, 3, 4), ids(1, 2, 9, 9, 4))],
    [
      [0, 0],
      [1, 1],
      [3, 4],
    ],
  );
  assert.deepEqual(
    [...carried(ids(1, 1), ids(1, 1, 1))],
    [
      [0, 0],
      [1, 1],
    ],
  );
  assert.deepEqual([...carried(ids(1, 2), [])], []);
  const same = carried(ids(5, 6, 7), ids(5, 6, 7));
  assert.deepEqual([...same.values()], [0, 1, 2]);
});

test('the widest gap of a clipped text is found', () => {
  assert.deepEqual(widestGap('abcdefgh', [token('', 0, 2), token('', 6, 8)]), {
    start: 2,
    end: 6,
  });
  assert.equal(shorten('unbelievable', 7), 'unb…ble');
  assert.equal(shorten('🙂🙂🙂🙂', 3), '🙂…🙂');
  assert.equal(shorten('short', 7), 'short');
  assert.equal(endOf('A good film'), 'A good film');
  assert.equal(endOf(`${'long '.repeat(9)}and wide`), '…long long long long long and wide');
});

test('numbers are never rounded to certainty, and counts have the right noun', () => {
  assert.equal(format.percent(0.99999), '>99.9%');
  assert.equal(format.percent(1), '100.0%');
  assert.equal(format.percent(0.00001), '<0.1%');
  assert.equal(format.weight(0.0001), '<0.001');
  assert.equal(format.weight(0), '0');
  assert.equal(format.counted(1, 'token'), '1 token');
  assert.equal(format.counted(0, 'token'), '0 tokens');
  assert.equal(format.counted(1200, 'head'), '1,200 heads');
  assert.equal(format.bytes(1_900_000), '1.9 MB');
  assert.equal(format.bytes(999), '999 B');
});

test('the code has the whole text, however long and quoted', () => {
  const text = `"${'long '.repeat(500)}"\n\\ \u2028 end`;
  for (const code of [
    classifyCode(text, [], [3]),
    translateCode('en-de', text, 4, { ablate: [], maskTokens: [], prefixes: [] }),
    transplantCode(text, 'x', { site: 'residual', head: 0 }),
    transplantCode('x', text, { site: 'head', head: 2 }),
  ])
    assert.ok(code.includes(JSON.stringify(text)), code.slice(0, 200));
  const off = [{ attention: 'cross', layer: 1, head: 2 }];
  assert.match(
    translateCode('en-fr', 'x', 2, {
      ...{ ablate: off, maskTokens: [[], [3]] },
      prefixes: [[], [7, 8]],
    }),
    /beams: 2.*ablate: \[\{ attention: 'cross', layer: 1, head: 2 \}\], maskTokens: \[\[\],\[3\]\]/,
  );
  assert.match(classifyCode('x', [], [1, 2]), /maskTokens: \[1, 2\]/);
});

test('the JSON has every weight, as bytes', () => {
  const data = Float32Array.from({ length: 20_000 }, (_, i) => i / 7);
  const map = { layers: 1, heads: 1, queries: 100, keys: 200, data };
  const floats = (base64) => {
    const bytes = Buffer.from(base64, 'base64');
    return new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
  };
  // The worker that writes the text gets a clone.
  const toldBy = (told) => JSON.parse(jsonText(structuredClone(told)));
  const result = { label: 'good', contributions: [new Float32Array([0.5])], tokens: [] };
  const one = toldBy(resultJson('a', { ...result, attention: { encoder: map } }, [], [0]));
  assert.deepEqual(floats(one.attention.encoder.data), data);
  assert.deepEqual(one.contributions, [[0.5]]);
  const attention = { encoder: map, decoder: map, cross: map };
  const two = toldBy(translationJson('a', { text: 'b', sentences: [{ attention }] }, { beams: 4 }));
  assert.deepEqual(floats(two.sentences[0].attention.cross.data), data);
  assert.equal(two.beams, 4);
});

test('the search tree has no crossings, and the best hypothesis is on top', () => {
  const node = (parent, id, text, total, kept = true) => ({
    parent,
    id,
    text,
    total,
    kept,
    logprob: 0,
  });
  const tree = [
    node(-1, 0, '<s>', 0),
    node(0, 1, ' so', -2),
    node(0, 2, ' Das', -1),
    node(1, 3, 's', -3),
    node(2, 4, '<0xC3>', -2, false),
    node(2, 5, ' ', -1.5),
  ];
  const hypotheses = [{ tokens: [{ id: 2 }, { id: 5 }] }, { tokens: [{ id: 1 }, { id: 3 }] }];
  const { columns, nodes, rows } = searchTree({ tree, hypotheses });
  assert.deepEqual(
    columns.map((column) => column.map(({ label }) => label)),
    [['<s>'], ['Das', 'so'], ['␣', '‹0xC3›', '-s']],
  );
  assert.equal(rows, 3);
  assert.deepEqual(
    pathOf(nodes, hypotheses[0]).map(({ index }) => index),
    [0, 2, 5],
  );
  assert.deepEqual(
    nodes.map(({ rank }) => rank),
    [0, 1, 0, 1, undefined, 0],
  );
});
