// Circuits of models that write: the package finds what the command finds.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { command } from '../../native_build.mjs';
import {
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
};

function natively(model, pair) {
  const args = ['explain', join(root, 'weights', model), '--method', method, '--json'];
  const input = `${pair.join('\t')}\n`;
  const line = execFileSync(command, [...args, '--compute', 'f32'], { input, encoding: 'utf8' });
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
      assert.deepEqual(
        [found.token.text, found.against.text],
        [expected.token.text, expected.against.text],
      );
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

test('what has no such graph is refused', async () => {
  const { Class, pair } = subjects.writer;
  const model = await load(join(root, 'weights/writer'), floats, Class);
  await assertError(model.explain(pair[0], { method }), 'invalid_option', /two texts, got one/);
  const folder = join(root, 'tests/fixtures/checkpoints/gemma2');
  const gemma = await load(folder, floats, Class);
  const asked = gemma.explain({ text: 'a b', pair: 'a c' }, { method });
  await assertError(asked, 'unsupported', /circuit: .*norms of their outputs/);
});
