// Patches of the numbers between text and answer.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { expectedOf, folderOf, names as checkpointNames, taskOf } from '../support/checkpoints.mjs';
import {
  Classifier,
  Embedder,
  MaskFiller,
  QuestionAnswerer,
  TokenClassifier,
  assertError,
  assertNear,
  binaries,
  goldenFolder,
  goldenNames,
  load,
  loadTranslator,
  plain,
  translationGoldenNames,
} from '../support/helpers.mjs';

const text = 'the plot makes no sense';
const folder = goldenFolder('pre_norm_mean'); // 2 layers of 4 heads, 16 wide
const translatorFolder = goldenFolder('translate_pre_norm_shared');
const ofStack = (stack) => [`${stack}.*`, `${stack}.layers.*.*`, `${stack}.layers.*.*.*`];
const everything = ['*', ...ofStack('encoder')];
const everythingTranslated = ['logits', ...ofStack('encoder'), ...ofStack('decoder')];
const output = 'encoder.layers.0.output';
const scores = 'encoder.layers.0.self_attn.scores';
const q = 'encoder.layers.0.self_attn.q';

/**
 * Patching a tensor with its own values changes no bit: deepEqual compares typed arrays by bytes.
 */
async function assertOwnValues(ask, trace) {
  const known = plain(await ask({ trace }));
  const tensors = known.sentences ? known.sentences[0].trace : known.trace;
  assert.ok(Object.keys(tensors).length > 10);
  for (const [name, value] of Object.entries(tensors)) {
    assert.deepEqual(plain(await ask({ trace, patch: [{ name, value }] })), known, name);
  }
}

for (const binary of binaries) {
  for (const name of goldenNames) {
    test(`own values: ${name}, ${binary}`, async () => {
      const classifier = await load(goldenFolder(name), { binary, compute: 'f32' });
      await assertOwnValues((options) => classifier.classify(text, options), everything);
    });
  }

  for (const name of translationGoldenNames) {
    test(`own values: ${name}, ${binary}`, async () => {
      const translator = await loadTranslator(goldenFolder(name), { binary, compute: 'f32' });
      const ask = (options) =>
        translator.translate('the old film', { ...options, beams: 1, maxLength: 6 });
      await assertOwnValues(ask, everythingTranslated);
    });
  }

  test(`${binary}: own values, for each class of models`, async () => {
    for (const Class of [Classifier, TokenClassifier, QuestionAnswerer, MaskFiller, Embedder]) {
      const name = checkpointNames.find((each) => taskOf(each).Class === Class);
      const model = await load(folderOf(name), { binary, compute: 'f32' }, Class);
      const given = expectedOf(name).texts[1];
      const ask = (options) => {
        if (Class === MaskFiller) return model.fill(given.text, options);
        if (Class === QuestionAnswerer) return model.answer('who', 'the plot', options);
        return Class === Embedder
          ? model.embed(given.text, options)
          : model.classify(given.text, options);
      };
      await assertOwnValues(ask, Class === Embedder ? ofStack('encoder') : everything);
    }
  });

  test(`${binary}: with another text's stream, the answer is that text's`, async () => {
    const classifier = await load(folder, { binary });
    const [base, donor] = ['not good at all', 'good not at all'];
    const given = await classifier.classify(donor, { trace: everything });
    const plainly = await classifier.classify(base);
    assert.equal(given.tokens.length, plainly.tokens.length);
    assert.notDeepEqual(given.scores, plainly.scores);
    for (const name of [
      'encoder.embeddings',
      output,
      'encoder.layers.1.input',
      'pooled',
      'logits',
    ]) {
      const patch = [{ name, value: given.trace[name] }];
      assert.deepEqual((await classifier.classify(base, { patch })).scores, given.scores, name);
      const flat = [{ name, value: given.trace[name].data }];
      assert.deepEqual(
        (await classifier.classify(base, { patch: flat })).scores,
        given.scores,
        name,
      );
    }
    // Row by row, in another order.
    const { shape, data } = given.trace[output];
    const [rows, width] = shape;
    const patch = Array.from({ length: rows }, (_, row) => ({
      name: output,
      tokens: [rows - 1 - row],
      value: {
        shape: [1, width],
        data: data.subarray((rows - 1 - row) * width, (rows - row) * width),
      },
    }));
    const patched = await classifier.classify(base, { patch });
    assert.deepEqual(patched.scores, given.scores);
  });

  test(`${binary}: ablating a head equals a context of zeros`, async () => {
    const classifier = await load(folder, { binary });
    const trace = everything;
    const ablate = [{ attention: 'encoder', layer: 1, head: 2 }];
    const patch = [{ name: 'encoder.layers.1.self_attn.context', heads: [2], value: 0 }];
    const ablated = await classifier.classify(text, { trace, ablate });
    assert.deepEqual(await classifier.classify(text, { trace, patch }), ablated);
    assert.notDeepEqual((await classifier.classify(text)).scores, ablated.scores);
    const rows = ablated.tokens.length;
    const zeros = { shape: [rows, 1, 4], data: new Float32Array(rows * 4) };
    const asTensor = [{ ...patch[0], value: zeros }];
    assert.deepEqual(await classifier.classify(text, { trace, patch: asTensor }), ablated);

    const translator = await loadTranslator(translatorFolder, { binary });
    const plainly = await translator.translate(text, { maxLength: 6 });
    for (const [attention, place] of [
      ['encoder', 'encoder.layers.0.self_attn'],
      ['decoder', 'decoder.layers.0.self_attn'],
      ['cross', 'decoder.layers.0.encoder_attn'],
    ]) {
      const options = { maxLength: 6, attention: true };
      const silent = { ...options, ablate: [{ attention, layer: 0, head: 1 }] };
      const zero = { ...options, patch: [{ name: `${place}.context`, heads: [1], value: 0 }] };
      const result = await translator.translate(text, silent);
      assert.deepEqual(await translator.translate(text, zero), result);
      assert.notEqual(result.score, plainly.score);
    }
  });

  test(`${binary}: rows, heads and keys can be selected, and the later of two patches wins`, async () => {
    const classifier = await load(folder, { binary });
    const known = (await classifier.classify(text, { trace: everything })).trace;
    const patched = async (name, ...patch) =>
      (await classifier.classify(text, { trace: [name], patch })).trace[name].data;
    const [rows] = known[output].shape;

    const expected = known[output].data.slice().fill(0.5, 16, 32);
    expected.set(expected.subarray(16, 32), 4 * 16);
    const row = { name: output, tokens: [4, 1] };
    assert.deepEqual(await patched(output, { ...row, value: 0.5 }), expected);
    const two = new Float32Array(32).fill(0.5);
    assert.deepEqual(await patched(output, { ...row, value: two }), expected);
    const shaped = { shape: [2, 16], data: two };
    assert.deepEqual(await patched(output, { ...row, value: shaped }), expected);
    // Rows keep the order of the selection.
    two.fill(0.25, 0, 16);
    expected.fill(0.25, 4 * 16, 5 * 16);
    assert.deepEqual(await patched(output, { ...row, value: two }), expected);

    const ofHeads = known[q].data.slice();
    for (let i = 0; i < rows; i++) ofHeads.fill(2, i * 16 + 8, i * 16 + 12);
    assert.deepEqual(await patched(q, { name: q, heads: [2], value: 2 }), ofHeads);
    const flat = new Float32Array(rows * 4).fill(2);
    assert.deepEqual(await patched(q, { name: q, heads: [2], value: flat }), ofHeads);

    const edge = known[scores].data.slice();
    edge[(3 * rows + 2) * rows + 5] = -Infinity;
    const cut = { name: scores, tokens: [2], heads: [3], keys: [5], value: -Infinity };
    assert.deepEqual(await patched(scores, cut), edge);
    const line = known[scores].data.slice().fill(-1, (3 * rows + 2) * rows, (3 * rows + 3) * rows);
    const ofRow = new Float32Array(rows).fill(-1);
    const query = { name: scores, tokens: [2], heads: [3], value: ofRow };
    assert.deepEqual(await patched(scores, query), line);
    const weights = 'encoder.layers.0.self_attn.weights';
    const third = (await classifier.classify(text, { trace: [weights], patch: [query] })).trace[
      weights
    ];
    const uniform = new Float32Array(rows).fill(1 / rows);
    assertNear(
      third.data.subarray((3 * rows + 2) * rows, (3 * rows + 3) * rows),
      uniform,
      1e-6,
      weights,
    );

    const twice = await patched(
      output,
      { name: output, value: 1 },
      { name: output, tokens: [0], value: 2 },
    );
    assert.deepEqual(twice, new Float32Array(rows * 16).fill(1).fill(2, 0, 16));
    const none = await patched(output, { name: output, tokens: [], value: 1 });
    assert.deepEqual(none, known[output].data);
  });

  test(`${binary}: a decoder's patch applies to every hypothesis, and may be shorter`, async () => {
    const translator = await loadTranslator(translatorFolder, { binary });
    const options = { maxLength: 6, beams: 1, trace: ['logits'] };
    const [known] = (await translator.translate(text, options)).sentences;
    const { sourceTokens } = known;
    const width = known.trace.logits.shape[1];
    const other = known.tokens[0].id === 20 ? 21 : 20;
    const row = new Float32Array(width);
    row[other] = 100;
    row[sourceTokens.at(-1).id] = -1000; // the end token, which would be in the beam
    for (const beams of [1, 3]) {
      for (const value of [row, { shape: [1, width], data: row }]) {
        const patch = [{ name: 'logits', value }];
        const { sentences } = await translator.translate(text, { ...options, beams, patch });
        assert.equal(sentences[0].tokens[0].id, other);
        assert.deepEqual(sentences[0].trace.logits.data.subarray(0, width), row);
      }
    }
    const patch = [{ name: 'logits', tokens: [1], value: row }];
    const { sentences } = await translator.translate(text, { ...options, patch });
    assert.equal(sentences[0].tokens[0].id, known.tokens[0].id);
    assert.equal(sentences[0].tokens[1].id, other);
    for await (const step of translator.stream(text, { maxLength: 6, patch })) {
      if (step.done) assert.deepEqual(step.result.sentences[0].tokens, sentences[0].tokens);
    }
  });

  test(`${binary}: in integers, patches of tensors that attention reads as integers are refused`, async () => {
    const classifier = await load(folder, { binary, compute: 'int8' });
    const trace = everything;
    const known = await classifier.classify(text, { trace });
    for (const [name, value] of Object.entries(known.trace)) {
      const patch = [{ name, value }];
      if (/self_attn\.(q|k|v|scores|weights)$/.test(name)) {
        const cure = /expected compute f32/;
        await assertError(() => classifier.classify(text, { patch }), 'unsupported', cure);
      } else if (/\.(input|output|residual|context|embeddings)$/.test(name)) {
        assert.deepEqual(
          (await classifier.classify(text, { trace, patch })).scores,
          known.scores,
          name,
        );
      }
    }
  });

  test(`${binary}: wrong patches are refused by name`, async () => {
    const classifier = await load(folder, { binary });
    const expected = await classifier.classify(text);
    const rows = expected.tokens.length;
    const floats = (count) => new Float32Array(count);
    const refused = async (patch, message) => {
      await assertError(() => classifier.classify(text, { patch }), 'invalid_option', message);
      assert.deepEqual(await classifier.classify(text), expected);
    };
    const one = (patch, message) => refused([{ name: output, ...patch }], message);
    await refused({ name: output, value: 0 }, /patch: expected an array/);
    await refused('patch', /patch: expected an array/);
    await refused(null, /patch/);
    for (const wrong of [7, null, undefined, 'x']) await refused([wrong], /patch\[0\]/);
    await refused([{ value: 0 }], /patch\[0\]: name: missing/);
    await one({ name: 7, value: 0 }, /patch\[0\]: name/);
    await one({ rows: [1], value: 0 }, /patch\[0\]: "rows": unknown field/);
    const values = /^patch\[0\]\.value: expected a number, a Float32Array or \{ shape, data \}/;
    for (const value of [
      undefined,
      null,
      '1',
      true,
      1n,
      [1, 2],
      {},
      new Float64Array(16),
      new ArrayBuffer(64),
      { shape: [rows, 16] },
      { data: floats(16) },
      { shape: 16, data: floats(16) },
      { shape: ['16'], data: floats(16) },
      { shape: [16n], data: floats(16) },
      { shape: [0.5, 32], data: floats(16) },
      { shape: [NaN], data: floats(16) },
      { shape: [16], data: Array(16).fill(0) },
    ]) {
      await one({ value }, values);
    }
    await refused(
      [{ name: output, value: 0 }, { name: output }],
      /^patch\[1\]\.value: expected a number/,
    );
    await one(
      { value: { shape: [rows, 16], data: floats(16) } },
      new RegExp(
        `^patch\\[0\\]\\.value: expected ${rows * 16} numbers for the shape \\[${rows}, 16\\], got 16`,
      ),
    );
    await one(
      { value: { shape: [], data: floats(2) } },
      /expected 1 numbers for the shape \[\], got 2/,
    );
    await one({ value: { shape: [-2, -8], data: floats(16) } }, /sizes/);
    const shape = new RegExp(`expected the shape \\[${rows}, 16\\] for ${output}, got \\[`);
    await one({ value: { shape: [rows, 15], data: floats(rows * 15) } }, shape);
    await one({ value: { shape: [1, rows, 16], data: floats(rows * 16) } }, shape);
    for (const count of [0, 1, 16, rows * 16 - 1, rows * 16 + 16])
      await one({ value: floats(count) }, shape);
    await one({ tokens: [0, 1], value: floats(16) }, /expected the shape \[2, 16\]/);
    // Two dimensions may have any size.
    await refused(
      [{ name: scores, value: floats(4 * rows * rows) }],
      /expected the shape \[4, \d+, \d+\]/,
    );
    for (const tokens of [[rows], [99], [0, rows]]) {
      await one({ tokens, value: 0 }, new RegExp(`tokens: expected numbers below ${rows}, got`));
    }
    for (const tokens of [
      [-1],
      [0.5],
      [NaN],
      ['0'],
      0,
      'all',
      null,
      new Uint8Array(1),
      [2 ** 40],
    ]) {
      await one({ tokens, value: 0 }, /patch\[0\]: tokens/);
    }
    await refused(
      [{ name: q, heads: [4], value: 0 }],
      /^patch\[0\]\.heads: expected numbers below 4, got 4/,
    );
    await refused(
      [{ name: scores, keys: [99], value: 0 }],
      /^patch\[0\]\.keys: expected numbers below/,
    );
    await one({ heads: [0], value: 0 }, /expected no heads/);
    await refused([{ name: q, keys: [0], value: 0 }], /expected no keys/);
    await refused([{ name: 'pooled', tokens: [0], value: 0 }], /expected no tokens/);
    for (const value of [NaN, Infinity, -Infinity, 1e300])
      await one({ value }, /expected finite numbers, got/);
    const oneBad = floats(rows * 16);
    oneBad[7] = NaN;
    await one({ value: oneBad }, /expected finite numbers, got/);
    await refused([{ name: scores, value: NaN }], /expected finite numbers or -infinity/);
    await one(
      { name: 'encoder.layers.2.output', value: 0 },
      /"encoder\.layers\.2\.output"; it has encoder\.embed/,
    );
    await one(
      { name: 'encoder.layers.*.output', value: 0 },
      /patch\[0\]\.name: expected tensors of this model/,
    );
    const alias = { name: 'encoder.layers.1.input', value: 0 };
    await refused([{ name: output, value: 0 }, alias], /second name of the same tensor/);
  });
}

test('in a worker and in this thread: the same answer, and the caller keeps the numbers', async () => {
  const answers = [];
  for (const worker of [false, true]) {
    const classifier = await load(folder, { worker });
    const given = await classifier.classify(text, { trace: [output] });
    const { shape, data } = given.trace[output];
    const { buffer } = data;
    const before = data.slice();
    const rest = new Float32Array(64).fill(9);
    rest.set([0.25], 3);
    const patch = [
      { name: output, value: { shape, data } },
      { name: output, tokens: [1], value: rest.subarray(3, 19) },
      { name: q, heads: [0], value: -0.5 },
    ];
    const result = await classifier.classify(text, { trace: [output], patch });
    answers.push(result);
    const { trace } = result;
    assert.deepEqual([...trace[output].data.subarray(16, 18)], [0.25, 9]);
    assert.equal(buffer.byteLength, before.byteLength);
    assert.deepEqual(data, before);
    assert.equal(rest.length, 64);
    // Later changes of the numbers have no effect.
    const later = classifier.classify(text, { trace: [output], patch });
    data.fill(0);
    rest.fill(0);
    assert.deepEqual(await later, result);
  }
  assert.deepEqual(answers[0], answers[1]);
});

test('each text of a call is patched by itself', async () => {
  const classifier = await load(folder);
  const texts = [text, 'a', 'not good at all'];
  const single = async (options) => {
    const results = [];
    for (const each of texts) results.push(await classifier.classify(each, options));
    return results;
  };
  const collect = async (options) => {
    const outcomes = [];
    for await (const outcome of classifier.classifyEach(texts, options)) {
      outcomes[outcome.index] = outcome;
    }
    return outcomes;
  };
  const forAll = { trace: ['encoder.output'], patch: [{ name: output, tokens: [0], value: 1 }] };
  const expected = await single(forAll);
  assert.deepEqual(await classifier.classifyBatch(texts, forAll), expected);
  assert.deepEqual(
    (await collect(forAll)).map(({ result }) => result),
    expected,
  );

  // A patch that fits only one text is an error for the others.
  const { trace } = await classifier.classify(texts[2], { trace: [output] });
  const forOne = { patch: [{ name: output, value: trace[output] }] };
  const message = /^texts\[0\]: patch\[0\]\.value: expected the shape/;
  await assertError(() => classifier.classifyBatch(texts, forOne), 'invalid_option', message);
  const outcomes = await collect(forOne);
  for (const { error } of outcomes.slice(0, 2)) assert.equal(error.code, 'invalid_option');
  assert.deepEqual(outcomes[2].result, await classifier.classify(texts[2]));
});
