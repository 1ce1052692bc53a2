// Dictionaries: the package finds the features and the graph that the command finds.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { command } from '../../native_build.mjs';
import { checkpoint, learnNatively } from '../support/dictionaries.mjs';
import { Generator, assertError, assertNear, binaries, load } from '../support/helpers.mjs';

const folder = learnNatively('--epochs', '5');
const text = 'the film was good';
const floats = { gradients: true, compute: 'f32' };

function natively(method) {
  const args = ['explain', checkpoint('gpt2_generate'), '--method', method, '--json'];
  const more = ['--compute', 'f32', '--dictionaries', folder];
  return JSON.parse(execFileSync(command, [...args, ...more], { input: text, encoding: 'utf8' }));
}

for (const binary of binaries)
  test(`${binary}: features and graphs are the native ones`, async () => {
    const model = await load(checkpoint('gpt2_generate'), { ...floats, binary }, Generator);
    await model.loadDictionaries(folder);
    const [features, graph] = [natively('features'), natively('attribution_graph')];
    const found = await model.explain(text, { method: 'features' });
    assert.deepEqual(Object.keys(found).sort(), Object.keys(features).sort());
    for (const [i, { rows, error, ...others }] of found.dictionaries.entries()) {
      const expected = features.dictionaries[i];
      assert.deepEqual({ ...expected, ...others }, expected);
      const numbers = (of) => of.map((row) => row.map(({ feature }) => feature));
      assert.deepEqual(numbers(rows), numbers(expected.rows));
      assertNear(error, expected.error, 1e-3, 'error');
    }
    const own = await model.explain(text, { method: 'attribution_graph' });
    assert.deepEqual(Object.keys(own).sort(), Object.keys(graph).sort());
    const place = ({ kind, name, row, feature }) => [kind, name, row, feature];
    assert.deepEqual(own.nodes.map(place), graph.nodes.map(place));
    const weight = (of) => of.edges.map((edge) => edge.weight).toSorted((a, b) => a - b);
    assertNear(weight(own), weight(graph), 1e-3, 'weights');
    for (const key of ['replacement', 'completeness', 'correlation'])
      assertNear([own[key]], [graph[key]], 1e-2, key);
  });

test('the parameters of dictionaries are among the weights, until others are loaded', async () => {
  const model = await load(checkpoint('gpt2_generate'), floats, Generator);
  const before = await model.weights.list();
  await model.loadDictionaries(folder);
  await model.loadDictionaries({
    'config.json': readFileSync(join(folder, 'config.json')),
    'model.safetensors': readFileSync(join(folder, 'model.safetensors')),
  });
  const names = (await model.weights.list()).map(({ name }) => name);
  const more = names.filter((name) => !before.some((each) => each.name === name));
  assert.equal(new Set(names).size, names.length);
  assert.ok(more.includes('decoder.layers.0.fc2.decoder.weight'));
  // What a feature writes has the length 1, and can steer.
  const direction = await model.weights.row('decoder.layers.0.fc2.decoder.weight', 4);
  assertNear([Math.hypot(...direction)], [1], 1e-2, 'length');
  const patch = [{ name: 'decoder.layers.0.fc2', add: direction, scale: 3 }];
  const [plain, steered] = [await model.next(text), await model.next(text, { patch })];
  assert.notEqual(plain.next[0].logprob, steered.next[0].logprob);
});

test('what does not belong together is refused', async () => {
  const other = await load(checkpoint('gpt2_scaled'), floats, Generator);
  await assertError(other.loadDictionaries(folder), 'invalid_weights', /made for this model/);
  const none = other.explain(text, { method: 'features' });
  await assertError(none, 'invalid_option', /dictionaries: expected dictionaries of the model/);
  await assertError(other.loadDictionaries({}), 'missing_file', /config.json/);
  await assertError(other.loadDictionaries(folder, { x: 1 }), 'invalid_option', /unknown option/);
});
