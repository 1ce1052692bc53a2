// The words and bars of a score's parts.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { source } from '../../../../../tests/page/source.mjs';

const { inWords, mainOf, nameOf, shareOfOthers, whyOf } = await source('panels/score/why');

const rows = ['the', 'film', 'is'];
const names = { queries: rows, keys: rows, readByQuery: rows, readByKey: rows };
const part = (name, contrast, reads) => ({
  name,
  sum: 2 * contrast,
  contrast,
  ...(reads && { reads, contrastReads: reads }),
});
const answer = {
  score: 4,
  weight: 0.5,
  lead: 1,
  queries: [part('embed_tokens', 0.25), part('layers.0.self_attn.head.2', 0.75, [0, 0.5, 0.25])],
  keys: [
    part('embed_positions', -0.5),
    part('layers.0.fc2', 1.25),
    part('layers.0.self_attn.head.1', 0.25, [0.25, 0, 0]),
  ],
};

test('contrasts are with the mean of the others, and add up to the lead', () => {
  assert.equal(shareOfOthers({ weight: 0.75 }), 0.25);
  assert.equal(shareOfOthers({ weight: 0.75 }, 3), 1);
  assert.ok(shareOfOthers({ weight: 1 }) > 0);
  const why = whyOf(answer, { names });
  assert.equal(why.lead, 2);
  for (const reasons of [why.asks, why.answers]) {
    assert.equal(
      reasons.reduce((sum, { amount }) => sum + amount, 0),
      2,
    );
  }
  assert.deepEqual(
    why.answers.map(({ amount }) => amount),
    [2.5, -1, 0.5],
  );
  assert.equal(whyOf(answer, { names, rival: 1 }).lead, 1);
});

test('a feed-forward network is named together with the head that counts most', () => {
  const why = whyOf(answer, { names });
  assert.equal(inWords(mainOf(why.asks, why.lead)), 'what layer 1, head 3 read from “film”');
  assert.equal(
    inWords(mainOf(why.answers, why.lead)),
    'what layer 1’s feed-forward network wrote and what layer 1, head 2 read from “the”',
  );
  // Below the others, the parts that speak against the key are named.
  assert.equal(inWords(mainOf(why.answers, -1)), 'its position');
  assert.equal(inWords(mainOf(why.asks, -1)), 'little');
});

test('parts have names', () => {
  assert.equal(nameOf('layers.1.encoder_attn.head.0'), 'layer 2, head 1 to the source');
  assert.equal(nameOf('layers.0.self_attn'), 'layer 1, recurrent unit');
  assert.equal(nameOf('distance'), 'their distance');
  assert.equal(nameOf('new_part'), 'new_part');
});

test('measurements stand beside the parts', () => {
  const measured = {
    ...answer,
    queries: answer.queries.map((each, i) => ({ ...each, weight: i / 4, effect: i })),
    keys: answer.keys.map((each) => ({ ...each, weight: 1 })),
  };
  const why = whyOf(answer, { names, measured });
  assert.deepEqual(
    why.asks.map(({ column, weight, effect }) => [column, weight, effect]),
    [
      ['layers.0.self_attn.head.2', 0.25, 1],
      ['embed_tokens', 0, 0],
    ],
  );
  assert.equal(why.answers[0].effect, undefined);
});
