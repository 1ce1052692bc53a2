// Parsing a list of texts; counting, sorting, filtering and saving the verdicts.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { source } from '../../../../../tests/page/source.mjs';

const { entriesOf } = await source('panels/verdict/entries');
const { arranged, summaryOf, toTsv } = await source('views/sentiment/many/text-set');

const labels = ['negative', 'positive'];

test('a line is a text, with a label if the model has that label', () => {
  const list = 'Good.\r\npositive\tFine.\n\n Negative \t Bad. \nscore\t3 of 5\n\t\nnegative\t\n';
  assert.deepEqual(entriesOf(list, labels), [
    { text: 'Good.' },
    { text: 'Fine.', label: 'positive' },
    { text: 'Bad.', label: 'negative' },
    { text: 'score\t3 of 5' },
  ]);
});

const rows = [
  { text: 'aa', label: 'positive', verdict: 'positive', probability: 0.9 },
  { text: 'b', label: 'positive', verdict: 'negative', probability: 0.45 },
  { text: 'cccc', verdict: 'negative', probability: 0.1 },
  { text: '…', problem: 'no tokens' },
];

test('correct verdicts are counted among classified texts with a label', () => {
  assert.deepEqual(summaryOf(rows), {
    judged: 3,
    failed: 1,
    labeled: 2,
    right: 1,
    verdicts: { positive: 1, negative: 2 },
  });
});

test('rows are filtered and sorted, and texts without a verdict come last', () => {
  const texts = (order, filter) => arranged(rows, order, filter).map(({ text }) => text);
  assert.deepEqual(texts('list', 'all'), ['aa', 'b', 'cccc', '…']);
  assert.deepEqual(texts('probability', 'all'), ['aa', 'b', 'cccc', '…']);
  assert.deepEqual(texts('doubt', 'all'), ['b', 'aa', 'cccc', '…']);
  assert.deepEqual(texts('length', 'all'), ['cccc', 'aa', 'b', '…']);
  assert.deepEqual(texts('list', 'wrong'), ['b']);
  assert.deepEqual(texts('length', 'verdict:negative'), ['cccc', 'b']);
});

test('the saved table has a header line and one line per text', () => {
  assert.equal(
    toTsv(rows.slice(2), 'positive'),
    'verdict\tpositive\tlabel\ttext\nnegative\t0.100000\t\tcccc\nerror: no tokens\t\t\t…\n',
  );
});
