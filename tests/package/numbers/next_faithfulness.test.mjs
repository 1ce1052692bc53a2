// The test of faithfulness for a next token: its numbers are those of runs in which the same tokens are
// hidden in another way.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { Generator, Translator, assertError, assertNear, load, root } from '../support/helpers.mjs';

const floats = { gradients: true, compute: 'f32' };
const method = 'faithfulness';

const loadWriter = () => load(join(root, 'weights/writer'), floats, Generator);

/** Returns the hidden tokens of each point of the curves, for deletion and for insertion. */
function hidden({ scores, words, counts }) {
  const places = words.map(([place]) => place);
  const order = [...places].sort((a, b) => scores[b] - scores[a] || a - b);
  return {
    deletion: counts.map((count) => order.slice(0, count)),
    insertion: counts.map((count) => order.slice(count)),
  };
}

const mean = (list) => list.reduce((sum, value) => sum + value, 0) / list.length;

test('of a writer', async () => {
  const writer = await loadWriter();
  const text = 'The acting is dreadful, so this film is';
  const found = await writer.explain(text, { method, of: 'attn_lrp', orders: 3 });
  const { token, against, tokens } = found;
  const lead = async (places) => {
    const patch = Array.from({ length: writer.info.layers }, (_, layer) => layer)
      .filter(() => places.length > 0)
      .map((layer) => ({
        name: `decoder.layers.${layer}.self_attn.scores`,
        keys: [...places].sort((a, b) => a - b),
        value: -Infinity,
      }));
    const { next } = await writer.next(text, { count: 0, temperature: 1, topK: 0, topP: 1, patch });
    const of = ({ id }) => next.find((each) => each.id === id).logprob;
    return of(token) - of(against);
  };
  // All but the last token, from whose row the next one follows.
  assert.deepEqual(
    found.words,
    tokens.slice(0, -1).map((_, i) => [i]),
  );
  const { scores } = await writer.explain(text, { method: 'attn_lrp' });
  assertNear(found.scores, scores, 1e-6, 'scores');
  const whole = await lead([]);
  assertNear([found.value], [whole], 1e-3, 'value');
  for (const [i, loss] of found.losses.entries())
    assertNear([loss], [whole - (await lead([i]))], 1e-3, `loss ${i}`);
  const curves = hidden(found);
  // The first token cannot see any other: without it, its row has nothing to attend to.
  for (const name of ['deletion', 'insertion'])
    for (const [i, places] of curves[name].entries())
      assertNear([found.order[name][i]], [await lead(places)], 1e-3, `${name} ${i}`);
  assertNear(
    [found.order.score],
    [mean(found.order.insertion) - mean(found.order.deletion)],
    1e-4,
    'score',
  );
  assert.equal(found.random.scores.length, 3);
});

test('of a translator, in its source and in what it has written', async () => {
  const translator = await load(join(root, 'weights/en-de'), floats, Translator);
  const text = 'My sister is a doctor.';
  const position = 2;
  const place = { position, of: 'relevance', orders: 0 };
  const found = await translator.explain(text, { method, ...place });
  const { token, against, sourceTokens, tokens } = found;
  const prefix = tokens.slice(0, position).map(({ id }) => id);
  // The start token has no text, the last one stays, and so does the end of the source.
  const first = position + 1;
  const source = sourceTokens.slice(0, -1).map((_, i) => [first + i]);
  assert.deepEqual(found.words, [[1], ...source]);
  const logprob = async (id, maskTokens) => {
    const forced = { beams: 1, prefixes: [[...prefix, id]], maxLength: position + 1 };
    const { sentences } = await translator.translate(text, { ...forced, maskTokens: [maskTokens] });
    return sentences[0].tokens[position].logprob;
  };
  const lead = async (gone) => (await logprob(token.id, gone)) - (await logprob(against.id, gone));
  const whole = await lead([]);
  assertNear([found.value], [whole], 1e-3, 'value');
  for (const [i] of source.entries())
    assertNear([found.losses[i + 1]], [whole - (await lead([i]))], 2e-3, `loss ${i}`);
  const mine = Float32Array.from(found.scores, () => 0).fill(1, 0, 2);
  const own = await translator.explain(text, { method, position, scores: mine, orders: 0 });
  assert.deepEqual(own.scores, [...mine]);
});

test('what cannot be tested is refused', async () => {
  const writer = await loadWriter();
  const text = 'The acting is dreadful';
  for (const [options, message] of [
    [{ of: 'lens' }, /of.*expected one of.*lens/],
    [{ of: 'value_norms' }, /of.*before a next token.*value_norms/],
    [{ scores: new Float32Array(3) }, /scores: expected \d+ numbers, one per token, got 3/],
  ])
    await assertError(writer.explain(text, { method, ...options }), 'invalid_option', message);
  const short = writer.explain('A', { method, of: 'relevance' });
  await assertError(short, 'invalid_option', /at least two words/);
});
