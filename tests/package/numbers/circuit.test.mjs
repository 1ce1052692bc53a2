// Circuits of models that write: the package finds what the command finds.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { command } from '../../native_build.mjs';
import {
  Classifier,
  Generator,
  Translator,
  assertError,
  assertNear,
  binaries,
  load,
  root,
} from '../support/helpers.mjs';

const floats = { gradients: true, compute: 'f32' };
const method = 'circuit';
const subjects = {
  writer: { Class: Generator, pair: ['The actors in this film', 'The actor in this film'] },
  'en-de': { Class: Translator, pair: ['The dog sleeps.', 'The cat sleeps.'] },
  sentiment: { Class: Classifier, pair: ['This film is good.', 'This film is bad.'] },
};

function natively(model, pair) {
  const args = ['explain', join(root, 'weights', model), '--method', method, '--json'];
  const input = `${pair.join('\t')}\n`;
  const flags = [...args, '--pairs', '--compute', 'f32'];
  const line = execFileSync(command, flags, { input, encoding: 'utf8' });
  return JSON.parse(line);
}

for (const [name, { Class, pair }] of Object.entries(subjects)) {
  const expected = natively(name, pair);
  for (const binary of binaries)
    test(`${name}, ${binary}: edges, scores and curve are the native ones`, async () => {
      const model = await load(join(root, 'weights', name), { ...floats, binary }, Class);
      const found = await model.explain({ text: pair[0], pair: pair[1] }, { method });
      const { buffer, byteOffset, length } = Buffer.from(expected.scores.data, 'base64');
      const scores = new Float32Array(buffer.slice(byteOffset, byteOffset + length));
      assert.deepEqual(Object.keys(found).sort(), Object.keys(expected).sort());
      assert.deepEqual(found.scores.shape, expected.scores.shape);
      assertNear(found.scores.data, scores, 1e-3, 'scores');
      for (const key of ['nodes', 'inputs']) assert.deepEqual(found[key], expected[key]);
      for (const key of ['value', 'corrupt', 'nothing'])
        assertNear([found[key]], [expected[key]], 1e-3, key);
      for (const key of ['token', 'against'])
        assert.equal(found[key]?.text, expected[key]?.text, key);
      assert.equal(found.label, expected.label);
      for (const [i, point] of found.curve.entries()) {
        assert.equal(point.edges, expected.curve[i].edges);
        assertNear([point.random], [expected.curve[i].random], 2e-2, 'random');
        assertNear([point.faithfulness], [expected.curve[i].faithfulness], 2e-2, 'faithfulness');
      }
    });
}

test('metrics and ablations change what is scored', async () => {
  const { Class, pair } = subjects.writer;
  const model = await load(join(root, 'weights/writer'), floats, Class);
  const input = { text: pair[0], pair: pair[1] };
  const plain = { method, randomCircuits: 0 };
  const found = async (options) => model.explain(input, { ...plain, ...options });
  const [lead, probability, zero, steps] = [
    await found({}),
    await found({ metric: 'log_probability' }),
    await found({ ablation: 'zero' }),
    await found({ steps: 0 }),
  ];
  assert.ok(probability.value < 0 && lead.value > 0);
  assert.notEqual(zero.nothing, lead.nothing);
  assert.ok(Math.abs(zero.curve.at(-1).faithfulness - 1) < 1e-3);
  assert.notDeepEqual(steps.scores.data, lead.scores.data);
  const few = await found({ edgeCount: 40 });
  assert.ok(few.edges.length > 0 && few.edges.length <= 40);
  // The divergence of the clean text from itself is 0.
  assertNear([(await found({ metric: 'divergence' })).value], [0], 1e-6, 'divergence');
});

test('several pairs have one circuit: scores and numbers are means', async () => {
  for (const [name, others] of Object.entries({
    sentiment: ['The plot was great.', 'The plot was awful.'],
    writer: ['The girls in that car', 'The girl in that car'],
  })) {
    const { Class, pair } = subjects[name];
    const model = await load(join(root, 'weights', name), floats, Class);
    const [first, second] = [pair, others].map(([text, other]) => ({ text, pair: other }));
    const plain = { method, randomCircuits: 0 };
    const one = await model.explain(first, plain);
    const other = await model.explain(second, plain);
    const ids = other.token && { token: other.token.id, against: other.against.id };
    const both = await model.explain(first, { ...plain, morePairs: [{ ...second, ...ids }] });
    const mean = one.scores.data.map((score, i) => (score + other.scores.data[i]) / 2);
    assertNear(both.scores.data, mean, 1e-4, 'scores');
    assert.equal(both.pairs.length, 2);
    for (const key of ['value', 'corrupt', 'nothing', 'kept']) {
      const [a, b] = both.pairs.map((numbers) => numbers[key]);
      assertNear([both[key]], [(a + b) / 2], 1e-4, key);
      if (key !== 'kept') assertNear([a, b], [one[key], other[key]], 1e-4, key);
    }
    const wrong = { ...plain, morePairs: [{ text: 'One', pair: 'One two three four' }] };
    await assertError(model.explain(first, wrong), 'invalid_option', /more.?pairs\[0\].*tokens/i);
  }
});

test('options of two texts are refused for one, and numbers that a classifier lacks', async () => {
  const model = await load(join(root, 'weights/sentiment'), floats, Classifier);
  const [text, pair] = subjects.sentiment.pair;
  for (const [name, value] of Object.entries({
    label: 'positive',
    metric: 'divergence',
    ablation: 'zero',
    steps: 0,
    edgeCount: 3,
    cutEdges: ['a>b'],
    randomCircuits: 1,
    morePairs: [{ text, pair }],
  })) {
    const asked = model.explain(text, { method, [name]: value });
    await assertError(
      asked,
      'invalid_option',
      new RegExp(`${name}: expected it only with two texts`),
    );
  }
  const morePairs = [{ text, pair, token: 3 }];
  const asked = model.explain({ text, pair }, { method, morePairs });
  await assertError(asked, 'invalid_option', /token: expected it only of a model that writes/);
  const { value } = await model.explain({ text, pair }, { method, metric: 'log_probability' });
  assert.ok(value < 0 && value > -0.1);
});

test('what has no such graph is refused', async () => {
  const { Class, pair } = subjects.writer;
  const model = await load(join(root, 'weights/writer'), floats, Class);
  await assertError(model.explain(pair[0], { method }), 'invalid_option', /two texts, got one/);
  const folder = join(root, 'tests/fixtures/checkpoints/gemma2');
  const gemma = await load(folder, floats, Class);
  const asked = gemma.explain({ text: 'a b', pair: 'a c' }, { method });
  await assertError(asked, 'unsupported', /circuit: .*norms of their outputs/);
});
