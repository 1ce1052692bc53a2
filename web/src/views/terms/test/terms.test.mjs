// The terms: each has two sentences at most and a place that exists; the search finds what is asked.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { source } from '../../../../../tests/page/source.mjs';

const { entries, search } = await source('views/terms/terms');
const { glossary } = await source('ui/text/glossary');
const { views } = await source('views/index');
const { lessons } = await source('views/course/lessons');

test('each term has a definition and a place that exists', () => {
  const parts = views.flatMap((view) => (view.parts ?? []).map(({ name }) => name));
  for (const { term, says, live } of entries) {
    assert.match(says, /^\S.*[.?]$/, term);
    assert.match(live.text, /^\S.*\.$/, term);
    const link = new URLSearchParams(live.hash);
    for (const [name, value] of link) {
      if (name === 'view')
        assert.ok(
          views.some((view) => view.name === value),
          live.hash,
        );
      else if (name === 'part') assert.ok(parts.includes(value), live.hash);
      else assert.equal(name, 'lesson', live.hash);
    }
    // A lesson is called by its number.
    const number = /^(?:The code of l|L)esson (\d+)/.exec(live.text)?.[1];
    if (number) assert.equal(lessons[number - 1].name, link.get('lesson'), `${term}: ${live.text}`);
  }
});

test('no term is there twice, and those of the lessons are all there', () => {
  const terms = entries.map(({ term }) => term);
  assert.equal(new Set(terms.map((term) => term.toLowerCase())).size, terms.length);
  for (const term of Object.keys(glossary)) assert.ok(terms.includes(term), term);
  for (const term of ['dropout', 'learning rate', 'epoch', 'batch', 'padding', 'overfitting'])
    assert.ok(terms.includes(term), term);
  for (const term of ['teacher forcing', 'Adam', 'BLEU', 'perplexity', 'WordPiece', 'IMDB'])
    assert.ok(terms.includes(term), term);
  const sorted = [...terms].sort((a, b) => a.localeCompare(b, 'en', { sensitivity: 'base' }));
  assert.deepEqual(terms, sorted);
});

test('a search finds names before definitions, with all words', () => {
  const found = (query) =>
    search(
      query,
      entries.map(({ term, says, live }) => ({ kind: 'term', title: term, says, place: live })),
    ).map(({ title }) => title);
  assert.equal(found('Beam')[0], 'beam search');
  assert.equal(found('forcing')[0], 'teacher forcing');
  assert.deepEqual(found('weight attention')[0], 'attention weight');
  assert.ok(found('Vaswani').includes('Transformer'));
  assert.deepEqual(found('no such words'), []);
});
