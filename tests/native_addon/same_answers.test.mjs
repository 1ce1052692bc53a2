// The add-on and WebAssembly give the same answers and the same errors.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { dist, goldenFolder, openAny, root, Trainer } from '../package/support/helpers.mjs';

const { inspect } = await import(join(dist, 'index.js'));

const weights = (name) => join(root, 'weights', name);
const checkpoint = (name) => join(root, 'tests/fixtures/checkpoints', name);

/** Loads a model in both ways. */
async function both(folder, options) {
  const models = [];
  for (const backend of ['native', 'wasm']) {
    const model = await openAny(folder, { ...options, backend });
    after(() => model.dispose());
    assert.equal(model.info.backend, backend);
    models.push(model);
  }
  return models;
}

/** Asserts that two results are equal, and their numbers within a tolerance of their size. */
function assertSame(actual, expected, tolerance, place = 'result') {
  if (typeof expected === 'number' && !Number.isInteger(expected)) {
    const most = tolerance * Math.max(1, Math.abs(expected));
    assert.ok(Math.abs(actual - expected) <= most, `${place}: ${actual}, expected ${expected}`);
  } else if (expected instanceof Float32Array) {
    assert.equal(actual.length, expected.length, place);
    const largest = expected.reduce((most, value) => Math.max(most, Math.abs(value)), 1);
    for (const [i, value] of expected.entries()) {
      const near = Math.abs(actual[i] - value) <= tolerance * largest;
      if (!near) assert.fail(`${place}[${i}]: ${actual[i]}, expected ${value}`);
    }
  } else if (typeof expected === 'object' && expected !== null) {
    assert.deepEqual(Object.keys(actual), Object.keys(expected), place);
    for (const [name, value] of Object.entries(expected)) {
      assertSame(actual[name], value, tolerance, `${place}.${name}`);
    }
  } else if (typeof expected === 'number') {
    // A whole number is one by chance, or counts something.
    assert.ok(Math.abs(actual - expected) <= tolerance, `${place}: ${actual}, not ${expected}`);
  } else if (typeof expected !== 'function') {
    assert.deepEqual(actual, expected, place);
  }
}

const pixels = {
  data: Uint8ClampedArray.from({ length: 28 * 28 * 4 }, (_, i) => (i * 37) % 256),
  width: 28,
  height: 28,
};
const review = 'A gripping, beautifully shot film.';
const sentence = 'How are you today? The station is closed.';

// Builds differ in fused multiplications and in the order of sums. The tolerance is that of
// tests/package for native and WebAssembly builds.
const near = 1e-4;
// With 8-bit products, a last bit may decide to which integer an activation is rounded.
const nearInt8 = 5e-2;

const calls = {
  'classify, int8': [
    weights('sentiment'),
    { compute: 'int8' },
    (model) => model.classify(review, { attention: true }),
    nearInt8,
  ],
  'classify with attention, trace and patch': [
    weights('sentiment'),
    { compute: 'f32' },
    (model) =>
      model.classify(review, {
        attention: true,
        contributions: true,
        trace: ['encoder.layers.*.output'],
        patch: [{ name: 'encoder.layers.0.output', tokens: [1], value: 0.25 }],
        ablate: [{ attention: 'encoder', layer: 0, head: 1 }],
        maskTokens: [3],
      }),
  ],
  'classify with gradients': [
    weights('sentiment'),
    { compute: 'f32', gradients: true },
    (model) => model.classify(review, { gradients: ['encoder.layers.*.output'] }),
  ],
  'classify.explain': [
    weights('sentiment'),
    { compute: 'f32', gradients: true },
    (model) => model.explain(review, { method: 'integrated_gradients' }),
  ],
  tag: [checkpoint('bert_tokens'), {}, (model) => model.classify('Ada was born in London.')],
  answer: [
    checkpoint('bert_answer'),
    {},
    (model) => model.answer('Who was born?', 'Ada was born in London.'),
  ],
  embed: [checkpoint('bert_embed'), {}, (model) => model.embedBatch([review, 'another'])],
  'translate, 4 beams': [
    weights('en-de'),
    { compute: 'f32' },
    (model) => model.translate(sentence, { beams: 4, attention: true }),
  ],
  'translate with a shortlist': [
    weights('en-fr'),
    { compute: 'f32', shortlist: true },
    (model) => model.translate(sentence),
  ],
  'translate.explain': [
    weights('en-de'),
    { compute: 'f32', explain: true },
    (model) => model.explain('Good morning.', { method: 'lens' }),
  ],
  generate: [
    weights('writer'),
    { compute: 'f32' },
    (model) => model.generate('Once upon a time', { maxNewTokens: 24 }),
  ],
  'generate with a seed': [
    weights('writer'),
    { compute: 'f32' },
    (model) => model.generate('One day', { maxNewTokens: 24, temperature: 1, seed: 7 }),
  ],
  'continue with text2text': [
    checkpoint('t5'),
    {},
    (model) => model.generate('a b c', { maxNewTokens: 8 }),
  ],
  'read a picture': [
    weights('digits'),
    { compute: 'f32' },
    (model) => model.classify(pixels, { attention: true, trace: ['encoder.layers.0.output'] }),
  ],
  'the vocabulary': [weights('writer'), {}, (model) => model.vocabulary()],
  'a row of a weight': [
    weights('sentiment'),
    {},
    (model) => model.weights.row('encoder.embed_tokens.weight', 17),
  ],
  'the architecture': [
    weights('en-de'),
    {},
    ({ architecture, info }) => ({
      architecture,
      ...{ ...info, backend: '', binary: '', threads: 0 },
    }),
  ],
};

for (const [name, [folder, options, call, tolerance = near]] of Object.entries(calls)) {
  test(name, async () => {
    const [native, wasm] = await both(folder, options);
    assertSame(await call(native), await call(wasm), tolerance);
  });
}

test('random weights are the same numbers', async () => {
  const [native, wasm] = await both(weights('sentiment'), { untrained: 5 });
  const row = (model) => model.weights.row('classifier.weight', 0);
  assert.deepEqual(await row(native), await row(wasm));
});

test('a stream of a translation', async () => {
  const [native, wasm] = await both(weights('en-de'), { compute: 'f32' });
  const steps = async (model) => {
    const texts = [];
    for await (const { token, text } of model.stream(sentence)) texts.push([token?.id, text]);
    return texts;
  };
  const expected = await steps(wasm);
  assert.ok(expected.length > 8);
  assert.deepEqual(await steps(native), expected);
});

test('an inspection', async () => {
  const inspected = (backend) => inspect(checkpoint('roberta_sequence'), { backend });
  assert.deepEqual(await inspected('native'), await inspected('wasm'));
});

const failure = async (action) => {
  try {
    await action();
  } catch ({ name, code, message }) {
    return { name, code, message };
  }
  return assert.fail('no error');
};

test('calls that fail have the same errors', async () => {
  const [native, wasm] = await both(weights('sentiment'), {
    compute: 'int8',
    task: 'text-classification',
  });
  const wrong = [
    (model) => model.classify(''),
    (model) => model.classifyBatch(['fine', ' ']),
    (model) => model.classify(review, { ablate: [{ attention: 'encoder', layer: 99, head: 0 }] }),
    (model) => model.classify(review, { trace: ['no.such.tensor'] }),
    (model) => model.classify(review, { patch: [{ name: 'logits', value: NaN }] }),
    (model) => model.classify(review, { maskTokens: [400] }),
    (model) => model.classify(review, { gradients: ['logits'] }),
    (model) =>
      model.explain(review, { method: 'direct_logit_attribution', label: 'no such label' }),
    (model) => model.explain(review, { method: 'integrated_gradients' }),
    (model) => model.weights.row('encoder.embed_tokens.weight', 2 ** 32 - 1),
    (model) => model.weights.row('nothing', 0),
  ];
  for (const call of wrong) {
    const expected = await failure(() => call(wasm));
    assert.deepEqual(await failure(() => call(native)), expected, String(call));
  }
});

test('folders that do not load have the same errors', async () => {
  const { readModel } = await import('../package/support/helpers.mjs');
  const damaged = (change) => {
    const files = readModel('pre_norm_mean');
    change(files);
    return files;
  };
  const folders = [
    damaged((files) => (files['model.safetensors'] = files['model.safetensors'].slice(0, -8))),
    damaged((files) => (files['model.safetensors'] = new Uint8Array(16))),
    damaged((files) => (files['tokenizer.model'] = new Uint8Array(40).fill(255))),
    damaged((files) => (files['config.json'] = new TextEncoder().encode('{"d_model": 7}'))),
    damaged((files) => delete files['tokenizer.model']),
  ];
  for (const [index, folder] of folders.entries()) {
    const load = (backend) => failure(() => openAny(folder, { backend }));
    assert.deepEqual(await load('native'), await load('wasm'), `folder ${index}`);
  }
  const translator = (backend) =>
    failure(() => openAny(weights('en-de'), { backend, task: 'text-classification' }));
  assert.deepEqual(await translator('native'), await translator('wasm'));
});

const examples = [
  ...['a fine film', 'great acting', 'I loved it', 'moving'].map((text) => ({
    text,
    label: 'good',
  })),
  ...['a dull film', 'bad acting', 'I hated it', 'boring'].map((text) => ({ text, label: 'bad' })),
];
const pictures = Array.from({ length: 8 }, (_, i) => ({
  picture: { ...pixels, data: Uint8ClampedArray.from(pixels.data, (v) => (v * (i + 1)) % 256) },
  label: String(i % 2),
}));
const quick = { heldOut: 0, dropout: 0, rate: 0.01, vocabulary: 60, seed: 3 };

for (const [name, start, data, input] of [
  [
    'a new classifier of texts',
    { encoder_layers: 1, d_model: 16, d_ff: 32, n_heads: 2 },
    examples,
    review,
  ],
  ['a trained classifier of texts', goldenFolder('pre_norm_mean'), examples, review],
  ['a published classifier of texts', checkpoint('distilbert_sequence'), examples, review],
  ['a classifier of pictures', weights('digits'), pictures, pixels],
]) {
  test(`${name} learns the same`, async () => {
    const learned = [];
    for (const backend of ['native', 'wasm']) {
      const trainer = await Trainer.from(start, data, { ...quick, backend });
      assert.equal(trainer.info.backend, backend);
      const steps = [];
      for await (const { milliseconds: _, ...step } of trainer.train({ epochs: 3 }))
        steps.push(step);
      const files = await trainer.save();
      learned.push({
        steps,
        score: await trainer.evaluate(data),
        answer: await trainer.classify(input),
        names: Object.keys(files),
        config: new TextDecoder().decode(files['config.json']),
      });
      const saved = await openAny(files, { backend });
      assert.deepEqual((await saved.classify(input)).label, learned.at(-1).answer.label);
      saved.dispose();
      trainer.dispose();
    }
    assertSame(learned[0], learned[1], 1e-2);
  });
}

test('trainings that fail have the same errors', async () => {
  const wrong = [
    [weights('sentiment'), pictures],
    [weights('digits'), examples],
    [weights('en-de'), examples],
    [{}, examples.slice(0, 4)],
    [{ d_model: 15 }, examples],
  ];
  for (const [start, data] of wrong) {
    const from = (backend) => failure(() => Trainer.from(start, data, { ...quick, backend }));
    const [native, wasm] = [await from('native'), await from('wasm')];
    assert.equal(native.code, wasm.code, `${native.message}; ${wasm.message}`);
  }
});
