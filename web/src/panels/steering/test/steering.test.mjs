// Steering on the page: the patch of a strength, and the perplexity of a text.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { Generator, steeringVector } from '../../../../../dist/index.js';
import { root } from '../../../../../tests/page/open.mjs';
import { source } from '../../../../../tests/page/source.mjs';

const { heldOut, perplexity, presets, steeredBy, strengths } = await source(
  'panels/steering/steering',
);

test('a strength is in multiples of the stream’s length', () => {
  const direction = { name: 'x', vector: Float32Array.of(3, 4), norm: 5, streamNorm: 20 };
  assert.deepEqual(steeredBy(direction, 0), []);
  assert.deepEqual(steeredBy(direction, 0.5, 7), [
    { name: 'x', add: direction.vector, scale: 2, from: 7 },
  ]);
  assert.deepEqual(steeredBy({ ...direction, norm: 0 }, 0.5), []);
  assert.equal(strengths.at(-1), 0.6);
});

test('a push makes the held-out review less likely, and its perplexity is that of its tokens', async () => {
  const { signal } = new AbortController();
  const model = await Generator.load(join(root, 'weights/writer'), { compute: 'f32' });
  const plain = await perplexity(model, heldOut, [], signal);
  // The same number, token by token.
  const { promptTokens } = await model.next(heldOut, { count: 1 });
  let sum = 0;
  for (let i = 1; i < 4; i++) {
    const before = heldOut.slice(0, promptTokens[i - 1].end);
    const { next } = await model.next(before, { count: 0, temperature: 1, topK: 0, topP: 1 });
    sum -= next.find(({ id }) => id === promptTokens[i].id).logprob;
  }
  const start = await perplexity(model, heldOut.slice(0, promptTokens[3].end), [], signal);
  assert.ok(Math.abs(start - Math.exp(sum / 3)) < 1e-3 * start, `${start}, ${Math.exp(sum / 3)}`);
  for (const { toward, away } of presets) {
    const name = 'decoder.layers.2.output';
    const direction = await steeringVector(model, { name, toward, away });
    const pushed = await perplexity(model, heldOut, steeredBy(direction, 0.6), signal);
    assert.ok(pushed > plain, `${pushed}, ${plain}`);
  }
  model.dispose();
});
