// The columns of the transplant view, the texts of its cells, and its link.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { source } from '../../../../../tests/page/source.mjs';

const { answerOf, carriedName, columnsOf, deltaAt, meaning, rowName } = await source(
  'panels/transplant/transplant',
);
const { examples } = await source('views/transplant/examples');
const { fromTransplantLink, pairText, toTransplantLink } = await source('views/transplant/link');

const labels = ['negative', 'positive'];

/** Returns tokens that are the words of a text. */
const words = (text) =>
  [...text.matchAll(/\S+/g)].map(({ 0: word, index }, id) => ({
    id,
    text: ` ${word}`,
    start: index,
    end: index + word.length,
  }));

const base = 'it was not dull';
const donor = 'it really was bright';
const table = {
  tokens: words(base),
  donorTokens: words(donor),
  donorOf: [0, 2, null, 3],
  baseColumns: [0, 2, 3, 4],
  donorColumns: [0, 1, 2, 4],
  cells: [0, 1, 2, 3].map((token) => ({ tokens: [token], unpaired: token === 2 })),
  base: -1,
  donor: 2,
  plainBase: -1,
  plainDonor: 2,
  delta: { shape: [2, 4], data: Float32Array.of(0, 0.5, 2, 3, -0.75, 1.5, NaN, 0.25) },
  share: { shape: [2, 4], data: Float32Array.of(0, 1 / 6, 2 / 3, 1, -0.25, 0.5, NaN, 1 / 12) },
};
const columns = columnsOf(table, base, donor);

test('counterparts share a column; other tokens have their own', () => {
  assert.deepEqual(
    columns.map(({ donor, base, cell }) => [donor, base, cell]),
    [
      ['it', 'it', 0],
      ['really', '', undefined],
      ['was', 'was', 1],
      ['', 'not', 2],
      ['bright', 'dull', 3],
    ],
  );
});

test('a cell of several tokens is named after all of them', () => {
  const coarse = {
    ...table,
    cells: [
      { tokens: [0, 1], unpaired: false },
      { tokens: [2, 3], unpaired: false },
    ],
  };
  assert.deepEqual(
    columnsOf(coarse, base, donor).map(({ donor, base }) => [donor, base]),
    [
      ['it really was', 'it was'],
      ['bright', 'not dull'],
    ],
  );
});

test('log-odds are converted to a verdict', () => {
  assert.deepEqual(
    answerOf(0, labels).scores.map(({ id, label, score }) => [id, label, score]),
    labels.map((label, id) => [id, label, 0.5]),
  );
  const { label, score, scores } = answerOf(-2, labels);
  assert.equal(label, 'negative');
  assert.equal(score, scores[0].score);
  assert.ok(Math.abs(Math.log(scores[1].score / scores[0].score) + 2) < 1e-12);
  const far = answerOf(60, labels);
  assert.ok(Math.abs(Math.log(far.scores[0].score) + 60) < 1e-6);
});

test('a cell’s text says what was patched, where, and with which effect', () => {
  assert.equal(rowName('residual', 0, 4), 'before layer 1');
  assert.equal(rowName('residual', 4, 4), 'after layer 4');
  assert.equal(rowName('attention', 3, 4), 'in layer 4');
  const said = (row, cell) => {
    const column = columns.find((each) => each.cell === cell);
    return [
      carriedName({ site: 'residual' }, column, rowName('residual', row, 4)),
      meaning(table, { row, cell }, column, labels),
    ];
  };
  assert.deepEqual(said(0, 3), [
    '“bright” patched into “dull” before layer 1',
    'The log-odds of “positive” change from −1.00 to +2.00, 100% of the way to the other text’s. The verdict becomes positive.',
  ]);
  assert.equal(said(1, 1)[0], '“was” patched before layer 2');
  assert.equal(
    carriedName({ site: 'head', head: 5 }, columns[4], rowName('head', 1, 4)),
    'head 6’s output for “bright” patched into “dull” in layer 2',
  );
  const [what, why] = said(0, 2);
  assert.equal(what, '“not” removed before layer 1');
  assert.match(why, /becomes positive\. This token has no counterpart/);
  assert.match(said(1, 0)[1], /25% of the way, but away from .* stays negative/);
  assert.match(said(0, 0)[1], /exactly the same vector/);
  assert.ok(Number.isNaN(deltaAt(table, { row: 1, cell: 2 })));
  assert.ok(Number.isNaN(deltaAt(table, { row: 2, cell: 0 })));
  const { share: _, ...close } = table;
  assert.doesNotMatch(meaning(close, { row: 0, cell: 3 }, columns[4], labels), /%/);
});

test('a link restores the transplant view', () => {
  const carried = { row: 1, cell: 3 };
  for (const part of [
    { site: 'attention', head: 0 },
    { site: 'head', head: 5 },
  ]) {
    const state = { base, donor, ...part, carried };
    assert.deepEqual(fromTransplantLink(toTransplantLink(state)), state);
  }
  assert.equal(pairText('a\r\nb', 'c'), 'a b\nc');
});

test('valid parts of a damaged link are used', () => {
  assert.deepEqual(fromTransplantLink({ text: 'one alone', cell: '1.1' }), {});
  assert.deepEqual(fromTransplantLink({ site: 'attention' }), { site: 'attention', head: 0 });
  assert.deepEqual(fromTransplantLink({ site: 'head', head: '1.2' }), { site: 'head', head: 0 });
  assert.deepEqual(fromTransplantLink({ text: 'a\nb', site: 'elsewhere', cell: '-1.1' }), {
    base: 'a',
    donor: 'b',
  });
  assert.deepEqual(fromTransplantLink({ text: 'a\nb\nc' }), {});
});

test('examples differ, and so do the two texts of each', () => {
  const texts = examples.map(({ text }) => text);
  assert.equal(new Set(texts).size, texts.length);
  for (const { text, notice } of examples) {
    const { base, donor } = fromTransplantLink({ text });
    assert.notEqual(base, donor);
    assert.notEqual(notice, '');
  }
});
