// The places of cut edges after an edit.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { source } from '../../../../../tests/page/source.mjs';

test('an edge stays while both of its ends do', async () => {
  const { carriedArrows } = await source('views/sentiment/arrows.svelte');
  const tokens = (...ids) => ids.map((id) => ({ id }));
  const arrows = [
    { layer: 0, head: 1, query: 0, key: 3 },
    { layer: 2, head: 0, query: 2, key: 1 },
    { layer: 2, head: 0, query: 3, key: 3 },
  ];
  assert.deepEqual(carriedArrows(arrows, tokens(5, 6, 7, 8), tokens(5, 6, 9, 9, 8)), [
    { layer: 0, head: 1, query: 0, key: 4 },
    { layer: 2, head: 0, query: 4, key: 4 },
  ]);
  assert.deepEqual(carriedArrows(arrows, tokens(5, 6, 7, 8), tokens()), []);
});
