// The parts of the course that need no browser: the link, prose, the lines of C++, the arithmetic.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { root } from '../../../../../tools/build.mjs';
import { source } from '../../../../../tests/page/source.mjs';

const { lessons, lessonNamed } = await source('views/course/lessons');
const { fromCourseLink, toCourseLink, shortened, longest } = await source('views/course/link');
const { codeOf, countCodes } = await source('views/course/codes');
const { partsOfProse, plainProse } = await source('views/course/shell/prose');
const { lines } = await source('views/course/shell/code-lines');
const { cosine, dot, evenness, indexOfLargest, row, softmax } = await source(
  'views/course/pictures/vectors',
);
const { withTypo } = await source('views/course/lessons/tokens/typo');
const { rankCorrelation, ranksOf } = await source('views/course/lessons/explanation/ranks');
const { costsOf, evenAt, fullAttention, linearAttention, randomRows } = await source(
  'views/course/lessons/families/costs',
);
const { heldOut, training } = await source('views/course/lessons/training/sentences');
const { definitionOf: meaningOf, glossary } = await source('ui/text/glossary');
const { definitionOf } = await source('../build/cpp-definition');

const near = (got, expected, bound = 1e-6) =>
  assert.ok(Math.abs(got - expected) < bound, `${got}, not ${expected}`);

test('each lesson has its folder, and its names are unique', () => {
  assert.equal(new Set(lessons.map(({ name }) => name)).size, lessons.length);
  assert.equal(new Set(lessons.map(({ question }) => question)).size, lessons.length);
  for (const { name, question } of lessons) {
    assert.match(name, /^[a-z]+(-[a-z]+)*$/);
    assert.match(question, /\?$/);
    const folder = join(root, 'web/src/views/course/lessons', name);
    for (const file of ['lesson.ts', 'Picture.svelte', 'pytorch.py', 'javascript.js'])
      assert.ok(readFileSync(join(folder, file), 'utf8').length > 0, `${name}/${file}`);
  }
});

test('the terms of the lessons are in the glossary', () => {
  for (const { name } of lessons) {
    const file = readFileSync(
      join(root, 'web/src/views/course/lessons', name, 'lesson.ts'),
      'utf8',
    );
    // A bracket after a quote or a space, with words in it, is a term.
    const marks = [
      ...file
        .replace(/cpp: .*/g, '')
        .matchAll(/(?<=['` “(])\[([A-Za-z_ -]+)(?:\|([\w -]+))?\](?=['` ,.;:”)?])/g),
    ];
    assert.ok(marks.length > 0, name);
    for (const [whole, text, term = text] of marks) assert.ok(meaningOf(term), `${name}: ${whole}`);
  }
  for (const [word, meaning] of Object.entries(glossary))
    assert.match(meaning, /^[A-Z].*\.$|\?$/, word);
});

test('a link keeps the lesson, the sentence and the control', () => {
  const state = { lesson: 'softmax', text: 'Good.', setting: 2.5 };
  assert.deepEqual(fromCourseLink(toCourseLink(state)), state);
  assert.deepEqual(toCourseLink({ ...state, setting: undefined }), {
    lesson: 'softmax',
    text: 'Good.',
  });
  assert.deepEqual(fromCourseLink({}), {});
  assert.deepEqual(fromCourseLink({ lesson: 'none', set: 'x' }), {
    lesson: lessons[0].name,
    setting: undefined,
  });
  assert.equal(fromCourseLink({ lesson: 'teachers' }).lesson, 'teachers');
  assert.equal(lessonNamed('toString'), lessons[0]);
});

test('codes of a class are counted; mistakes and other sentences are not', () => {
  const text = 'The plot is not good.';
  const codes = [0, 2, 2, 1].map((choice) => codeOf('attention', choice, text));
  assert.match(codes[0], /^D1[A-Z]$/);
  const swapped = `${codes[0][0]}2${codes[0][2]}`;
  const { counted, others } = countCodes(
    `${codes.join(' ').toLowerCase()}, ${codeOf('tokens', 0, text)}; ${codeOf('attention', 0, 'Good.')} ${swapped} hello`,
    text,
  );
  assert.deepEqual(counted, [
    { lesson: 'tokens', choices: [1] },
    { lesson: 'attention', choices: [1, 1, 2] },
  ]);
  assert.deepEqual(others, [codeOf('attention', 0, 'Good.'), swapped, 'HELLO']);
  assert.equal(new Set(lessons.map(({ name }) => codeOf(name, 0, text)[0])).size, lessons.length);
});

test('a long text is cut after a word', () => {
  assert.equal(shortened('short'), 'short');
  const long = shortened('word '.repeat(100));
  assert.ok(long.length <= longest && long.endsWith('word'), long);
  assert.equal(shortened('x'.repeat(500)).length, longest);
});

test('prose has terms, and other brackets stay', () => {
  assert.deepEqual(partsOfProse('A [token] and [keys|key], [not] more.'), [
    { text: 'A ' },
    { text: 'token', name: 'token', after: '' },
    { text: ' and ' },
    { text: 'keys', name: 'key', after: ',' },
    { text: ' [not] more.' },
  ]);
  assert.deepEqual(partsOfProse(''), []);
  assert.equal(plainProse('[Keys|key] of [x]'), 'Keys of [x]');
});

test('comments are told from code', () => {
  assert.deepEqual(lines('x = 1  # one\n\n# two\n', 'python'), [
    { own: 'x = 1 ', comment: ' # one' },
    { own: '', comment: '' },
    { own: '', comment: '# two' },
  ]);
  assert.deepEqual(lines("f('https://x'); // y", 'c')[0].comment, ' // y');
});

const cpp = `#include "a.hpp"
// A comment with a brace: {
namespace n {

/* f(x) { */
// Adds.
template <typename T>
int Adder::sum(T a, const char* b) const noexcept {
  if (sum(a, "}")) return '{';
  return [&] { return 1'000; }();
}
int calls() { return sum(1, ""); }
void twice(int);
void twice(int) {}
void twice(long) {}
Adder::operator()(int) { return; }
}`;

test('a C++ function is found by its name, with its comment and its lines', () => {
  const found = definitionOf(cpp, 'a.cpp', 'Adder::sum');
  assert.equal(found.first, 6);
  assert.equal(found.last, 11);
  assert.match(found.text, /^\/\/ Adds\.\ntemplate <typename T>\nint Adder::sum[^]*\n\}$/);
  assert.equal(definitionOf(cpp, 'a.cpp', 'calls').text, 'int calls() { return sum(1, ""); }');
  assert.equal(definitionOf(cpp, 'a.cpp', 'Adder::operator()').first, 16);
});

test('a C++ function that is missing or not unique is refused by name', () => {
  assert.throws(() => definitionOf(cpp, 'a.cpp', 'none'), /a\.cpp: .*definition of none, found 0/);
  assert.throws(() => definitionOf(cpp, 'a.cpp', 'twice'), /a\.cpp: .* twice, found 2/);
});

test('vectors are compared, and scores become weights', () => {
  assert.equal(dot([1, 2], [3, 4]), 11);
  near(cosine([1, 0], [2, 2]), Math.SQRT1_2);
  assert.equal(cosine([0, 0], [1, 1]), 0);
  const weights = softmax([0, Math.log(3), -Infinity]);
  near(weights[0], 0.25);
  near(weights[1], 0.75);
  assert.equal(weights[2], 0);
  near(softmax([1000, 1000])[0], 0.5);
  near(softmax([0, 2 * Math.log(3)], 2)[1], 0.75);
  near(evenness([0.5, 0.5]), 1);
  assert.equal(evenness([1, 0]), 0);
  assert.equal(evenness([1]), 0);
  assert.equal(indexOfLargest([1, 3, 2]), 1);
  const data = Float32Array.from({ length: 12 }, (_, i) => i);
  assert.deepEqual([...row({ shape: [2, 3, 2], data }, 1)], [6, 7, 8, 9, 10, 11]);
});

test('a typing error changes the longest word, if it has two different letters', () => {
  assert.equal(withTypo('I loved every minute.'), 'I loved every miunte.');
  assert.equal(withTypo('aaa bb'), 'aaa bb');
  assert.equal(withTypo('!?'), '!?');
  for (const text of ['good', 'Meh.', 'naïve été'])
    assert.equal([...withTypo(text)].sort().join(''), [...text].sort().join(''));
});

test('ranks share the places of equal values, and orders are compared', () => {
  assert.deepEqual(ranksOf([0.1, 3, 2]), [3, 1, 2]);
  assert.deepEqual(ranksOf([1, 1, 0]), [1.5, 1.5, 3]);
  near(rankCorrelation([1, 2, 3, 4, 5], [1, 2, 3, 4, 5]), 1);
  near(rankCorrelation([1, 2, 3], [30, 20, 10]), -1);
  // The exercise of the lesson.
  near(rankCorrelation([1, 2, 3, 4, 5], [2, 1, 3, 5, 4]), 0.8);
  assert.equal(rankCorrelation([1, 1], [1, 2]), 0);
});

test('full attention costs as much as the rest of the layer where the lesson says', () => {
  const sizes = { d: 128, dHead: 16, dFf: 512 };
  assert.equal(evenAt(sizes), 768);
  const { full, rest, local, linear } = costsOf(768, sizes);
  assert.equal(full, rest);
  assert.ok(linear < local && local < full);
  assert.equal(costsOf(16, sizes).local, costsOf(16, sizes).full);
});

test('full and linear attention give weighted means of the values', () => {
  const [n, width] = [5, 3];
  const [q, k] = [randomRows(n, width, 1), randomRows(n, width, 2)];
  assert.ok(q.every((each) => each >= -1 && each < 1));
  const ones = new Float32Array(n * width).fill(1);
  for (const attend of [fullAttention, linearAttention])
    for (const each of attend(q, k, ones, width)) near(each, 1, 1e-5);
  // One query and two keys, by hand.
  const two = fullAttention(Float32Array.of(0, 0), Float32Array.of(1, 5), Float32Array.of(2, 4), 1);
  near(two[0], 3);
  const phi = (x) => (x > 0 ? x + 1 : Math.exp(x));
  const [a, b] = [phi(1), phi(-2)];
  const mixed = linearAttention(
    Float32Array.of(0.5, 1),
    Float32Array.of(1, -2),
    Float32Array.of(2, 4),
    1,
  );
  near(mixed[0], (2 * a + 4 * b) / (a + b), 1e-5);
});

test('the sentences that a model learns from are not those that test it', () => {
  const seen = new Set(training.map(({ text }) => text));
  assert.equal(seen.size, training.length);
  assert.ok(heldOut.every(({ text }) => !seen.has(text)));
  for (const set of [training, heldOut])
    assert.equal(2 * set.filter(({ label }) => label === 'positive').length, set.length);
});
