// Steering: directions from texts, added to vectors and removed from them.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { steeringVector } from '../../../dist/index.js';
import {
  Classifier,
  Generator,
  Translator,
  assertError,
  assertNear,
  binaries,
  load,
  readSafetensors,
  root,
} from '../support/helpers.mjs';
import { command } from '../../native_build.mjs';

const good = ['A wonderful film, I loved it.', 'An excellent and moving story.'];
const bad = ['A terrible film, I hated it.', 'An awful and boring story.'];
const writer = join(root, 'weights/writer');
const name = 'decoder.layers.2.output';
const asked = { name, toward: good, away: bad };

for (const binary of binaries) {
  test(`a direction is the difference of means, and steers what is written, ${binary}`, async () => {
    const model = await load(writer, { binary, compute: 'f32' }, Generator);
    const { vector, norm, streamNorm } = await steeringVector(model, asked);
    const rows = [];
    for (const text of [...good, ...bad]) {
      const { trace } = await model.next(text, { count: 1, trace: [name] });
      rows.push(trace[name].data.slice(-vector.length));
    }
    const lengthOf = (row) => Math.sqrt(row.reduce((sum, x) => sum + x * x, 0));
    const expected = vector.map((_, i) => (rows[0][i] + rows[1][i] - rows[2][i] - rows[3][i]) / 2);
    assertNear(vector, expected, 1e-4, 'vector');
    assert.ok(Math.abs(norm - lengthOf(expected)) < 1e-3);
    const mean = rows.reduce((sum, row) => sum + lengthOf(row), 0) / rows.length;
    assert.ok(Math.abs(streamNorm - mean) < 1e-3);

    const text = 'This film is';
    const written = async (patch) =>
      (await model.generate(text, { patch, sample: false, maxNewTokens: 12 })).text;
    const plain = await written([]);
    assert.equal(await written([{ name, add: vector, scale: 0 }]), plain);
    assert.notEqual(await written([{ name, add: vector, scale: -4 }]), plain);

    // From the text's length on: the first token stays; the others are those of a whole pass.
    const { promptTokens } = await model.next(text, { count: 1 });
    const patch = [{ name, add: vector, scale: -4, from: promptTokens.length }];
    const { tokens, text: steered } = await model.generate(text, {
      patch,
      sample: false,
      maxNewTokens: 6,
    });
    const whole = await model.next(text + steered, { patch, count: 1, trace: [name, 'logits'] });
    const generated = await model.generate(text, {
      patch,
      sample: false,
      maxNewTokens: 6,
      trace: [name],
    });
    const cached = generated.trace[name];
    assertNear(cached.data, whole.trace[name].data.subarray(0, cached.data.length), 2e-3, 'cached');
    const unsteered = await model.generate(text, { sample: false, maxNewTokens: 6 });
    assert.equal(tokens[0].id, unsteered.tokens[0].id);

    // Nothing is left in a direction that is removed.
    const { trace } = await model.next(text, {
      count: 1,
      trace: [name],
      patch: [{ name, remove: vector }],
    });
    for (let row = 0; row < trace[name].shape[0]; row++) {
      const numbers = trace[name].data.subarray(row * vector.length, (row + 1) * vector.length);
      const left = numbers.reduce((sum, x, i) => sum + x * vector[i], 0) / norm;
      assert.ok(Math.abs(left) < 1e-3 * lengthOf(numbers), `${left}`);
    }
    model.dispose();
  });
}

test('the command writes the same direction, and steers with it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'glassformer-steer-'));
  try {
    const file = (of, lines) => {
      writeFileSync(join(folder, of), `${lines.join('\n')}\n`);
      return join(folder, of);
    };
    const out = join(folder, 'vector.safetensors');
    const lists = ['--toward', file('good', good), '--away', file('bad', bad)];
    execFileSync(command, [
      'steer',
      writer,
      '--compute',
      'f32',
      '--name',
      name,
      ...lists,
      '--out',
      out,
    ]);
    const model = await load(writer, { compute: 'f32' }, Generator);
    const { vector } = await steeringVector(model, asked);
    assertNear(readSafetensors(out)[name].data, vector, 1e-3, 'vector');
    const options = ['--compute', 'f32', '--no-sample', '--max-new-tokens', '12', '--steer', out];
    const line = execFileSync(
      command,
      ['generate', writer, ...options, '--scale', '-4', '--json'],
      {
        input: 'This film is\n',
        encoding: 'utf8',
      },
    );
    const patch = [{ name, add: vector, scale: -4 }];
    const { text } = await model.generate('This film is', {
      patch,
      sample: false,
      maxNewTokens: 12,
    });
    assert.equal(JSON.parse(line).text, text);
    model.dispose();
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('classifiers and translators are steered, too', async () => {
  const classifier = await load(join(root, 'weights/sentiment'), { compute: 'f32' }, Classifier);
  const stream = 'encoder.layers.2.output';
  const { vector, norm } = await steeringVector(classifier, {
    ...asked,
    name: stream,
    rows: 'mean',
  });
  const positive = async (scale) => {
    const { scores } = await classifier.classify('A film.', {
      patch: [{ name: stream, add: vector, scale }],
    });
    return scores[1].score;
  };
  const [less, more] = [await positive(-2), await positive(2)];
  assert.ok(norm > 0 && more > less + 0.2, `${less}, ${more}`);
  classifier.dispose();

  const translator = await load(join(root, 'weights/en-de'), { compute: 'f32' }, Translator);
  const of = {
    name: 'encoder.layers.5.output',
    toward: ['The cat sleeps.'],
    away: ['The dog sleeps.'],
  };
  const direction = await steeringVector(translator, of);
  assert.equal(direction.vector.length, 256);
  translator.dispose();
});

test('gradients are those of the steered run', async () => {
  const folder = join(root, 'weights/sentiment');
  const model = await load(folder, { compute: 'f32', gradients: true }, Classifier);
  const [earliest, first, second] = [
    'encoder.embeddings',
    'encoder.layers.0.output',
    'encoder.layers.2.output',
  ];
  const text = 'The plot is not good at all.';
  const { vector } = await steeringVector(model, { ...asked, name: second });
  const wave = Float32Array.from(vector, (_, i) => Math.sin(i));
  const dot = ({ data }, direction) =>
    data.reduce((sum, x, i) => sum + x * direction[i % direction.length], 0);
  const oddsOf = ({ scores, label }) =>
    (label === scores[1].label ? 1 : -1) * Math.log(scores[1].score / scores[0].score);
  for (const steered of [
    { name: second, add: vector, scale: 0.5 },
    { name: second, remove: vector },
    { name: second, remove: vector, scale: 0.5, tokens: [1, 4] },
    { name: first, remove: wave },
  ]) {
    const { gradients } = await model.classify(text, { gradients: [earliest], patch: [steered] });
    const odds = async (scale) => {
      const patch = [{ name: earliest, add: wave, scale }, steered];
      return oddsOf(await model.classify(text, { patch }));
    };
    const step = 1e-3; // small: ReLU has kinks
    const expected = ((await odds(step)) - (await odds(-step))) / (2 * step);
    const got = dot(gradients[earliest], wave);
    const within = 2e-2 * Math.max(0.1, Math.abs(expected));
    assert.ok(
      Math.abs(got - expected) < within,
      `${JSON.stringify(Object.keys(steered))}: ${got}, ${expected}`,
    );
  }
  // The derivative by the strength of a push is the product with its direction.
  const scaled = async (scale) =>
    oddsOf(await model.classify(text, { patch: [{ name: second, add: vector, scale }] }));
  const patch = [{ name: second, add: vector, scale: 0.5 }];
  const { gradients } = await model.classify(text, { gradients: [second], patch });
  const expected = ((await scaled(0.51)) - (await scaled(0.49))) / 0.02;
  const got = dot(gradients[second], vector);
  assert.ok(
    Math.abs(got - expected) < 2e-2 * Math.max(0.1, Math.abs(expected)),
    `${got}, ${expected}`,
  );
  model.dispose();
});

test('a direction that cannot be is refused by name', async () => {
  const model = await load(writer, { compute: 'f32' }, Generator);
  const refused = (options, message) =>
    assertError(() => steeringVector(model, { ...asked, ...options }), 'invalid_option', message);
  await refused({ toward: [] }, /toward/);
  await refused({ rows: 'first' }, /rows/);
  await refused({ name: 'logits.x' }, /logits\.x/);
  await refused({ name: 'decoder.layers.0.self_attn.scores' }, /a vector for each token/);
  const patched = (patch, message) =>
    assertError(() => model.next('A film', { patch: [patch] }), 'invalid_option', message);
  await patched({ name, add: new Float32Array(3) }, /patch\[0\]\.add: expected the \d+ numbers/);
  await patched({ name, remove: new Float32Array(256) }, /patch\[0\]\.remove/);
  await patched({ name, add: new Float32Array(256), value: 0 }, /one of value, add and remove/);
  model.dispose();
});
