// `glassformer train`: pairs of texts, and files of examples whose columns are something else.
import assert from 'node:assert/strict';
import { cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { glassformer } from './run.mjs';
import { byHeart, checkpoint, config, file, fresh, train } from './training.mjs';

const range = (count, line) => Array.from({ length: count }, (_, i) => line(i));

const pairs = [
  'same\ta cat sat\ta cat sat',
  'other\ta cat sat\tthe old house',
  'same\tthe old house\tthe old house',
  'other\tthe old house\ta cat sat',
  'same\twe went\twe went',
  'other\twe went\ta cat sat',
];

for (const name of [
  'bert_sequence', // token types
  'roberta_sequence', // two separators
  'albert_sequence', // the pairs are cut
  'deberta_sequence',
  'distilbert_sequence',
  'electra_sequence',
  'modernbert_sequence',
  'mpnet_sequence',
  'camembert_sequence',
  'xlm_roberta_sequence',
  'bert_embed', // a new head
])
  test(`pairs of texts are learned as classify --pairs reads them: ${name}`, () => {
    const folder = fresh();
    const { status, stderr } = train(checkpoint(name), file(pairs), folder, ...byHeart);
    assert.equal(status, 0, stderr);
    const texts = pairs.map((line) => `${line.slice(line.indexOf('\t') + 1)}\n`).join('');
    const { lines } = glassformer(['classify', folder, '--pairs'], texts);
    assert.deepEqual(
      lines.map((line) => line.split('\t')[0]),
      pairs.map((line) => line.split('\t')[0]),
    );
  });

test('the name of two labels is refused', () => {
  const folder = fresh();
  cpSync(checkpoint('bert_sequence'), folder, { recursive: true });
  const path = join(folder, 'config.json');
  const known = JSON.parse(readFileSync(path, 'utf8'));
  const id2label = { 0: 'good', 1: 'bad', 2: 'good' };
  writeFileSync(path, JSON.stringify({ ...known, id2label, label2id: undefined }));
  const { status, stderr } = train(folder, file(reviews), fresh());
  assert.equal(status, 1);
  assert.match(stderr, /label "good": the model has two labels of this name/);
});

test('tokens of pairs are left out at random, but no separators', () => {
  const options = ['--epochs', '2', '--held-out', '0', '--drop-tokens', '0.5'];
  const { status, stderr } = train(checkpoint('bert_sequence'), file(pairs), fresh(), ...options);
  assert.equal(status, 0, stderr);
});

const reviews = ['good\ta fine film', 'bad\ta dull film', 'good\ta warm story', 'bad\tso cold'];
const swapped = reviews.map((line) => line.split('\t').reverse().join('\t'));
const quoted = reviews.map((line) => line.replace(/[^\t]+/g, '"$&"'));

for (const [what, lines, pattern] of [
  ['a pair where others have none', [...reviews, pairs[0]], /line 5: expected one text after/],
  ['no pair where others have one', [...pairs, reviews[0]], /line 7: expected two texts after/],
  ['an empty second text', ['a\tb\tc', 'b\tc\t '], /line 2: expected a second text, got nothing/],
  ['four columns', ['a\tb\tc', 'b\tc\td\te'], /line 2: .*got 4 columns; remove the other columns/],
  ['pairs for a model of one text', pairs, /line 1: pair: expected a model that reads two texts/],
  ['a header', ['label\ttext', ...reviews], /line 1: .*names of columns, "label" and "text"; rem/],
  ['another header', ['Sentiment\tReview', ...reviews], /line 1: .*names of columns/],
  ['a header in quotes', ['"label"\t"text"', ...quoted], /line 1: .*names of columns/],
  ['a header of swapped columns', ['sentence\tlabel', ...swapped], /line 1: .*names of columns/],
  ['an index', range(6, (i) => `${i}\t${reviews[i % 4]}`), /line 1: .*numbers the lines; remove/],
  ['an index from 1', range(6, (i) => `${i + 1}\tfilm ${i}`), /line 1: .*numbers the lines/],
  ['labels in quotes', quoted, /line 1: .*without quotes/],
  ['texts in quotes', reviews.map((line) => line.replace(/\t(.*)/, '\t"$1"')), /without quotes/],
  ['a space behind a label', [...reviews, 'good \ta joy'], /line 5: .*without spaces.*"good "/],
  ['a space before a label', [...reviews, '\u00a0good\ta joy'], /line 5: .*without spaces/],
  ['swapped columns', swapped, /line \d: expected a label that other lines have.*put the label/],
  [
    'pairs with the label at their end',
    range(6, (i) => `film ${i}\tstory ${i}\t${i % 2 ? 'good' : 'bad'}`),
    /put the label before the text/,
  ],
  [
    'more labels than half of the examples',
    range(24, (i) => `${i < 12 ? i : 'good'}\tfilm ${i}`),
    /line 1: expected a label that other lines have, too, got "0": there are 13 .* in 24 lines/,
  ],
  ['a control character', ['a\u007f\tx', 'b\ty'], /labels: expected no control characters/],
])
  test(`refused: ${what}`, () => {
    const folder = fresh();
    const { status, stderr } = train(config, file(lines), folder, '--vocabulary', '60');
    assert.equal(status, 1, stderr);
    assert.match(stderr, pattern);
    for (const end of ['', '.log.jsonl', '.checkpoint']) assert.ok(!existsSync(folder + end));
  });

for (const [name, lines] of [
  ['bert_sequence', ['a\u007f\tx', 'b\ty']],
  ['xlm_roberta_tokens', ['x\ta\u0085', 'y\tb']],
  ['bert_sequence', range(2 * 65_537, (i) => `l${i >> 1}\tthe cat`)],
])
  test(`refused: ${lines.length} lines with labels that ${name} could not be saved with`, () => {
    const folder = fresh();
    const { status, stderr } = train(checkpoint(name), file(lines), folder, '--epochs', '1');
    assert.equal(status, 1);
    assert.match(stderr, /invalid_config: config.json: labels: expected/);
    for (const end of ['', '.log.jsonl', '.checkpoint']) assert.ok(!existsSync(folder + end));
  });

for (const [what, lines, pattern] of [
  ['a header', ['word\tlabel', 'Anna\tPER', 'left\tO'], /line 1: .*names of columns/],
  ['a space at a label', ['Anna\tPER ', 'left\tO'], /line 1: .*without spaces/],
  ['three columns', ['Anna\tPER\t1', 'left\tO\t2'], /line 1: .*got 3 columns/],
])
  test(`refused: labels of words, ${what}`, () => {
    const folder = fresh();
    const { status, stderr } = train(config, file(lines), folder, '--lessons', 'token-classes');
    assert.equal(status, 1, stderr);
    assert.match(stderr, pattern);
    assert.ok(!existsSync(folder));
  });

test('files that only look like such ones are learned', () => {
  for (const lines of [
    ['label\ta jar', 'label\ta box', 'other\ta cat'], // a label of several examples
    ['0\tzero', '1\tone', '2\ttwo'],
    ['good\t"a fine film"', 'bad\ta "dull" film', 'bad\t"no"', 'good\tyes'],
    range(6, (i) => `${i % 3}\ttoo ${i}\t${i % 2 ? 'food' : 'staff'}`), // aspects of reviews
  ]) {
    const start = lines[0].split('\t').length === 3 ? checkpoint('bert_sequence') : config;
    const options = ['--epochs', '1', '--held-out', '0'];
    if (start === config) options.push('--vocabulary', '60');
    const { status, stderr } = train(start, file(lines), fresh(), ...options);
    assert.equal(status, 0, stderr);
  }
});

test('the labels are shown before the training, and a warning where there are many', () => {
  const some = ['--epochs', '1', '--vocabulary', '60'];
  const few = train(config, file(reviews), fresh(), ...some).stderr;
  assert.match(few, /"bad": 2, such as "a dull film"\n {2}"good": 2, such as "a fine film"\n/);
  assert.doesNotMatch(few, /warning/);
  const lines = range(75, (i) => `l${i % 25}\tfilm ${i}`);
  const { stderr } = train(config, file(lines), fresh(), ...some);
  assert.match(stderr, /\n {2}and 5 more\n/);
  assert.match(stderr, /warning: 25 labels for 75 examples: fewer than ten of each on average/);
  const long = reviews.map((line) => line + ' and so on'.repeat(200));
  const cut = train(config, file([...reviews, ...long]), fresh(), ...some).stderr;
  assert.match(cut, /warning: examples with more tokens than the model reads, which were cut: 4\n/);
});
