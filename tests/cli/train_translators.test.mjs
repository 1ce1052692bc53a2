// What a published translator learned by heart, `translate` writes with the same languages.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { glassformer } from './run.mjs';
import { byHeart, checkpoint, file, fresh, train } from './training.mjs';

const pairs = ['the old house\tthe cat', 'we went home\ta mat', 'a cat sat\twe', 'old\thouse'];

function learn(name, lines, languages = []) {
  const folder = fresh();
  const { status, stderr } = train(checkpoint(name), file(lines), folder, ...byHeart, ...languages);
  assert.equal(status, 0, stderr);
  const sources = lines.map((line) => `${line.split('\t')[0]}\n`).join('');
  const { lines: written, stderr: said } = glassformer(
    ['translate', folder, '--beams', '1', ...languages],
    sources,
  );
  assert.equal(said, '');
  return { written, stderr };
}

const translations = pairs.map((line) => line.split('\t')[1]);

for (const [name, from, to] of [
  ['nllb', 'eng_Latn', 'deu_Latn'],
  ['nllb_suffix', 'eng_Latn', 'deu_Latn'], // the text's language stands behind it
  ['m2m_100', 'en', 'de'],
  ['mbart', 'en_XX', 'de_DE'], // the decoder starts with the language
  ['mbart_50', 'en_XX', 'de_DE'],
  ['mbart_50_old', 'en_XX', 'de_DE'],
])
  test(`${name} learns from ${from} to ${to}`, () => {
    const { written } = learn(name, pairs, ['--from', from, '--to', to]);
    assert.deepEqual(written, translations);
  });

for (const name of ['marian', 'marian_copies', 'marian_two_tables', 'marian_two_vocabularies'])
  test(`${name} learns its one pair of languages`, () => {
    assert.deepEqual(learn(name, pairs).written, translations);
  });

test('a folder that names its languages learns them without options', () => {
  const { written } = learn('nllb_suffix', pairs);
  assert.deepEqual(written, translations);
});

test('the language in a text of a Marian model, and spaces around the text, are learned', () => {
  const { written } = learn('marian', [
    '>>de<< the old house\ta cat',
    '>>fra<< the old house\twe went',
    '>>de<<  the cat\tthe mat',
  ]);
  assert.deepEqual(written, ['a cat', 'we went', 'the mat']);
});

test('texts of several sentences, and long ones, are learned with a warning', () => {
  const long = Array.from({ length: 40 }, () => 'cat').join(' ');
  const { stderr } = learn('marian', ['the cat. A dog.\ta cat', `${long}\tthe mat`]);
  assert.match(stderr, /warning: texts of several sentences, .*: 1\n/);
  assert.match(
    stderr,
    /warning: examples with more tokens than the model reads, which were cut: 1\n/,
  );
});

test('languages that are missing, unknown or without a meaning are refused', () => {
  const data = file(pairs);
  for (const [name, options, pattern] of [
    ['nllb', [], /--from: expected one of deu_Latn, eng_Latn, .*got none/],
    ['nllb', ['--from', 'eng_Latn'], /--to: expected one of .*got none/],
    ['nllb', ['--from', 'eng_Latn', '--to', 'de'], /--to: expected one of .*got "de"/],
    ['mbart', ['--from', 'en_XX', '--to', 'xx'], /--to: expected one of .*got "xx"/],
    ['marian', ['--from', 'de'], /--from: expected eng, the model's own language, got "de"/],
    ['bert_sequence', ['--to', 'de'], /--to: expected none, as only translations have languages/],
    ['t5', [], /wrong_task: .*got one for text2text-generation/],
    ['t5', ['--lessons', 'translation'], /wrong_task: .*got one for text2text-generation/],
    ['bart', [], /wrong_task: .*got one for text2text-generation/],
  ]) {
    const folder = fresh();
    const { status, stderr } = train(checkpoint(name), data, folder, ...options);
    assert.equal(status, 1, stderr);
    assert.match(stderr, pattern);
    assert.ok(!existsSync(folder));
  }
});

const quoted = pairs.map((line) => line.replace(/[^\t]+/g, '"$&"'));
const words = ['house\tHaus', 'cat\tKatze', 'dog\tHund'];

for (const [what, lines, pattern] of [
  [
    'names of columns',
    ['source\ttarget', ...pairs],
    /line 1: .*columns, "source" and "target"; rem/,
  ],
  ['other names of columns', ['src\ttgt', ...words], /line 1: .*names of columns/],
  ['a name and a translation', ['Text\tTranslation', ...pairs], /line 1: .*names of columns/],
  ['swapped names', ['translation\tsentence', ...pairs], /line 1: .*names of columns/],
  ['names in quotes', ['"source"\t"target"', ...quoted], /line 1: .*names of columns/],
  ['names of languages', ['English\tGerman', ...words], /line 1: .*names of columns/],
  ['codes of languages', ['en\tde', ...pairs], /line 1: .*names of columns, "en" and "de"/],
  ['a byte order mark', ['\uFEFFen\tde', ...pairs], /line 1: .*names of columns, "en" and "de"/],
  ['long codes', ['eng\tdeu', ...pairs], /line 1: .*names of columns/],
  ['codes of NLLB', ['eng_Latn\tdeu_Latn', ...pairs], /line 1: .*names of columns/],
  ['codes above texts without spaces', ['zh\tja', '我'.repeat(9) + '\t私'], /line 1: .*names/],
  ['quotes', quoted, /line 1: .*without quotes.*write the file with tabs and without quotes/],
  ['an index', ['0\tthe cat\tthe mat'], /line 1: .*got 3 columns; remove the first, .* numbers/],
  ['a license', ['the cat\tthe mat\tCC-BY'], /line 1: .*got 3 columns; remove the other columns/],
])
  test(`refused: ${what} in a file of translations`, () => {
    const folder = fresh();
    const { status, stderr } = train(checkpoint('marian'), file(lines), folder, '--epochs', '1');
    assert.equal(status, 1, stderr);
    assert.match(stderr, pattern);
    assert.ok(!existsSync(folder));
  });

test('translations that only look like names of columns are learned', () => {
  for (const lines of [
    ['it\tes', ...words], // a list of words: "it" in German
    ['Text\tText', ...pairs],
    ['English\tEnglisch', ...pairs],
    ['"the cat"\t"a mat"', ...pairs],
    quoted.map((line) => line.replace('"', '')), // quotes at the end are of the text
  ]) {
    const options = ['--epochs', '1', '--held-out', '0'];
    const { status, stderr } = train(checkpoint('marian'), file(lines), fresh(), ...options);
    assert.equal(status, 0, stderr);
  }
});
