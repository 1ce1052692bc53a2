// The changes of a view that are steps, and the handling of history entries of other pages.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { source } from '../source.mjs';

const { entryIn, isStep, sameLink } = await source('app/steps');

test('texts and interventions are steps, looking elsewhere is not', () => {
  const link = { text: 'good', head: '0.0' };
  const viewpoint = ['head', 'sentence'];
  assert.equal(isStep(link, { ...link, text: 'bad' }, viewpoint), true);
  assert.equal(isStep(link, { ...link, off: '1.2' }, viewpoint), true);
  assert.equal(isStep({ ...link, hide: '1' }, link, viewpoint), true);
  assert.equal(isStep(link, { ...link, head: '3.1' }, viewpoint), false);
  assert.equal(isStep(link, { ...link, sentence: '2' }, viewpoint), false);
  assert.equal(isStep(link, { ...link }, viewpoint), false);
  // The first text of a view is not a step.
  assert.equal(isStep({}, link, viewpoint), false);
});

test('the order of a link’s parts does not matter', () => {
  assert.equal(sameLink({ a: '1', b: '2' }, { b: '2', a: '1' }), true);
  assert.equal(sameLink({ a: '1' }, { a: '1', b: '2' }), false);
});

test('history entries of others are left alone', () => {
  const entry = {
    kind: 'glassformer',
    at: 3,
    link: { text: 'a' },
    typed: true,
    step: true,
    whole: false,
  };
  assert.deepEqual(entryIn(structuredClone(entry)), entry);
  for (const other of [
    null,
    undefined,
    5,
    'x',
    {},
    { ...entry, kind: 'other' },
    { ...entry, at: '3' },
  ])
    assert.equal(entryIn(other), undefined);
  assert.equal(entryIn({ ...entry, link: { text: 5 } }), undefined);
});
