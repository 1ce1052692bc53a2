// A model without its weights, its architecture, the rows of its parameters, and random weights.

import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import {
  assertError,
  binaries,
  dist,
  goldenFolder,
  goldenNames,
  openAny,
  readSafetensors,
  root,
  translationGoldenNames,
} from '../support/helpers.mjs';

const { inspect } = await import(`${dist}/index.js`);
const checkpoint = (name) => join(root, 'tests/fixtures/checkpoints', name);
const bytesIn = (folder, names) =>
  Object.fromEntries(names.map((name) => [name, readFileSync(join(folder, name))]));

const inspected = [
  ...goldenNames.map(goldenFolder),
  ...translationGoldenNames.map(goldenFolder),
  ...readdirSync(join(root, 'tests/fixtures/checkpoints'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !/^(bert_bare|__)/.test(entry.name))
    .map((entry) => checkpoint(entry.name)),
];

test('every model says the same of itself before and after its weights are read', async () => {
  for (const folder of inspected) {
    const { info, architecture, tensors } = await inspect(folder);
    const model = await openAny(folder);
    const { backend: _, binary, threads, ...loaded } = model.info;
    assert.ok(threads >= 1);
    assert.ok(binaries.includes(binary));
    assert.deepEqual(info, loaded, folder);
    assert.deepEqual(architecture, model.architecture, folder);
    const reader = architecture.encoder ?? architecture.decoder;
    assert.equal(reader.layers.length, info.layers);
    assert.equal(reader.layers[0].nHeads, info.heads);
    assert.equal(reader.dModel, info.dModel);
    assert.equal(reader.vocabSize, info.vocabSize);
    const list = await model.weights.list();
    const count = ({ shape }) => shape.reduce((product, size) => product * size, 1);
    assert.equal(
      list.reduce((sum, each) => sum + count(each), 0),
      info.parameters,
      folder,
    );
    const ignored = tensors.filter((tensor) => tensor.ignored).map(({ name }) => name);
    assert.deepEqual(ignored.toSorted(), info.ignoredTensors.toSorted(), folder);
    model.dispose();
  }
});

test('a folder of a published model says its family and class', async () => {
  const bert = await inspect(checkpoint('bert_sequence'));
  assert.equal(bert.family, 'bert');
  assert.equal(bert.publishedClass, 'BertForSequenceClassification');
  assert.equal(bert.info.task, 'text-classification');
  assert.ok(bert.tensors.every(({ dtype }) => dtype === 'F32'));
  const shards = await inspect(checkpoint('bert_shards'));
  assert.equal(shards.tensors.length, bert.tensors.length);
  assert.ok(shards.tensors.every(({ dtype }) => dtype === 'F16'));
  assert.equal((await inspect(goldenFolder('pre_norm_mean'))).publishedClass, undefined);
});

test('layers that differ are told layer by layer', async () => {
  const { architecture } = await inspect(checkpoint('modernbert_sequence'));
  const { layers } = architecture.encoder;
  assert.deepEqual(
    layers.map(({ attention }) => attention),
    ['full', 'local', 'local', 'full'],
  );
  assert.deepEqual(
    layers.map(({ attentionWindow }) => attentionWindow),
    [undefined, 3, 3, undefined],
  );
  assert.deepEqual(
    layers.map(({ rotaryBase }) => rotaryBase),
    [160000, 10000, 10000, 160000],
  );
});

test('caps, parallel layers and shared weights are told', async () => {
  const gemma = (await inspect(checkpoint('gemma2'))).architecture;
  assert.deepEqual(
    gemma.decoder.layers.map(({ scoreCap, attentionWindow, outputNorms }) => [
      scoreCap,
      attentionWindow,
      outputNorms,
    ]),
    [
      [2, 4, true],
      [2, undefined, true],
      [2, 4, true],
    ],
  );
  assert.equal(gemma.head.logitCap, 6);
  const [layer] = (await inspect(checkpoint('gpt_neox'))).architecture.decoder.layers;
  assert.deepEqual([layer.parallel, layer.rotarySize, layer.dHead], [true, 4, 16]);
  const [factors] = (await inspect(checkpoint('phi3_long'))).architecture.decoder.layers;
  assert.deepEqual(factors.rotaryFactors, [1, 1.5]);
  const albert = (await inspect(checkpoint('albert_tokens'))).architecture.encoder;
  assert.deepEqual([albert.layerGroups, albert.dEmbedding, albert.layers.length], [2, 16, 5]);
  const mpnet = (await inspect(checkpoint('mpnet_embed'))).architecture.encoder;
  assert.deepEqual([mpnet.positions, mpnet.relativeBuckets], ['learned', 32]);
  const deberta = (await inspect(checkpoint('deberta_sequence'))).architecture.encoder;
  assert.deepEqual(
    [deberta.positions, deberta.disentangledSpan, deberta.disentangledDistance],
    ['none', 8, 20],
  );
  assert.deepEqual(
    [deberta.contentToPosition, deberta.positionToContent, deberta.disentangledNorm],
    [true, true, true],
  );
});

test('inspecting reads no weights', async () => {
  const folder = goldenFolder('pre_norm_mean');
  const names = ['config.json', 'model.safetensors', 'tokenizer.model'];
  const files = bytesIn(folder, names);
  const whole = await inspect(files);
  // Every number is NaN: loading refuses them.
  const weights = Buffer.from(files['model.safetensors']);
  weights.fill(0xff, 8 + Number(weights.readBigUInt64LE(0)));
  const spoiled = { ...files, 'model.safetensors': weights };
  assert.deepEqual(await inspect(spoiled), whole);
  await assertError(openAny(spoiled), 'invalid_weights');
});

test('a model that cannot be loaded is described as far as it is known', async () => {
  const folder = checkpoint('bert_sequence');
  const names = readdirSync(folder).filter((name) => !name.startsWith('expected'));
  const files = bytesIn(folder, names);
  const config = (change) =>
    Buffer.from(JSON.stringify({ ...JSON.parse(files['config.json']), ...change }));

  // Weights that do not fit the configuration.
  const misfit = await inspect({ ...files, 'config.json': config({ intermediate_size: 12 }) });
  assert.equal(misfit.problem.code, 'shape_mismatch');
  assert.equal(misfit.architecture.encoder.layers[0].dFf, 12);
  assert.equal(misfit.info.task, 'text-classification');
  assert.ok(misfit.tensors.length > 20);

  const unknown = await inspect({ ...files, 'config.json': config({ model_type: 'bigbird' }) });
  assert.equal(unknown.problem.code, 'unsupported');
  assert.equal(unknown.family, 'bigbird');
  assert.equal(unknown.publishedClass, 'BertForSequenceClassification');
  assert.equal(unknown.info, undefined);
  assert.deepEqual(unknown.tensors, []);

  const cut = { ...files, 'model.safetensors': files['model.safetensors'].subarray(0, 1000) };
  const { problem, family, tensors } = await inspect(cut);
  assert.equal(problem.code, 'invalid_safetensors');
  assert.equal(family, 'bert');
  assert.deepEqual(tensors, []);
  // A header whose data is missing still tells the tensors.
  const size = 8 + Number(files['model.safetensors'].readBigUInt64LE(0));
  const short = files['model.safetensors'].subarray(0, size + 10);
  const header = await inspect({ ...files, 'model.safetensors': short });
  assert.equal(header.problem.code, 'invalid_safetensors');
  assert.ok(header.tensors.length > 20 && header.info.task === 'text-classification');
  // The error is the one that loading ends with.
  const error = await openAny(cut).catch((error) => error);
  assert.equal(problem.message, error.message);
});

test('a folder that is no model is refused', async () => {
  const folder = goldenFolder('pre_norm_mean');
  const files = bytesIn(folder, ['config.json', 'model.safetensors', 'tokenizer.model']);
  const { 'config.json': _, ...without } = files;
  await assertError(inspect(without), 'missing_file');
  await assertError(inspect({ ...files, 'config.json': Buffer.from('{') }), 'invalid_config');
  await assertError(inspect({}), 'missing_file');
  await assertError(inspect('weights/nowhere'), 'missing_file');
  await assertError(inspect(folder, { shortlist: 1 }), 'invalid_option');
});

test('rows of parameters are those of the file', async () => {
  const folder = goldenFolder('pre_norm_mean');
  const stored = readSafetensors(join(folder, 'model.safetensors'));
  for (const binary of binaries) {
    const model = await openAny(folder, { binary, compute: 'f32' });
    for (const { name, shape } of await model.weights.list()) {
      const [rows, columns = 1] = shape;
      const { data } = stored[name];
      for (const row of new Set([0, rows - 1])) {
        const expected = data.subarray(row * columns, (row + 1) * columns);
        assert.deepEqual(await model.weights.row(name, row), Float32Array.from(expected), name);
      }
    }
    model.dispose();
  }
});

test('rows of a published model go by our names', async () => {
  const folder = checkpoint('gpt2_generate');
  const stored = readSafetensors(join(folder, 'model.safetensors'));
  const model = await openAny(folder);
  const { dModel } = model.info;
  // GPT-2 stores a matrix [in, out] with queries, keys and values side by side.
  const name = Object.keys(stored).find((each) => each.endsWith('h.0.attn.c_attn.weight'));
  const { data } = stored[name];
  const row = await model.weights.row('decoder.layers.0.self_attn.k_proj.weight', 1);
  const expected = Float32Array.from(
    { length: dModel },
    (_, i) => data[i * 3 * dModel + dModel + 1],
  );
  assert.deepEqual(row, expected);
});

test('rows in integers are integers times a scale', async () => {
  const folder = goldenFolder('pre_norm_mean');
  const stored = readSafetensors(join(folder, 'model.safetensors'));
  const model = await openAny(folder, { compute: 'int8' });
  const name = 'encoder.layers.0.fc1.weight';
  const row = await model.weights.row(name, 2);
  const { data } = stored[name];
  const exact = data.subarray(2 * row.length, 3 * row.length);
  const scale = Math.max(...exact.map(Math.abs)) / 127;
  for (const [i, value] of row.entries()) {
    assert.ok(Math.abs(value - exact[i]) <= 0.501 * scale, `${value} for ${exact[i]}`);
    assert.ok(Math.abs(value / scale - Math.round(value / scale)) < 1e-3);
  }
});

test('a row that does not exist is refused', async () => {
  const model = await openAny(goldenFolder('pre_norm_mean'));
  await assertError(model.weights.row('encoder.layers.9.fc1.weight', 0), 'invalid_option');
  await assertError(model.weights.row('classifier.bias', 2), 'invalid_option');
  for (const index of [-1, 0.5, NaN, 2 ** 32, '0']) {
    await assertError(model.weights.row('classifier.bias', index), 'invalid_option');
  }
  await assertError(model.weights.row(0, 0), 'invalid_option');
  assert.equal((await model.weights.row('classifier.bias', 1)).length, 1);
  model.dispose();
  await assertError(model.weights.row('classifier.bias', 1), 'disposed');
});

test('an untrained model has random weights of the same shapes', async () => {
  for (const folder of [goldenFolder('pre_norm_mean'), checkpoint('gpt2_generate')]) {
    const trained = await openAny(folder);
    const first = await openAny(folder, { untrained: true });
    const second = await openAny(folder, { untrained: 2 });
    assert.deepEqual(first.info, trained.info);
    assert.deepEqual(await first.weights.list(), await trained.weights.list());
    for (const { name, shape } of await first.weights.list()) {
      const row = await first.weights.row(name, 0);
      if (shape.length === 1) {
        assert.equal(row[0], name.endsWith('.weight') ? 1 : 0, name);
        continue;
      }
      const bound = Math.sqrt(6 / (shape[0] + shape[1]));
      assert.ok(row.every((value) => Math.abs(value) <= bound) && new Set(row).size > 1, name);
      assert.notDeepEqual(row, await second.weights.row(name, 0), name);
    }
    const again = await openAny(folder, { untrained: 1 });
    const { name } = (await again.weights.list())[0];
    assert.deepEqual(await again.weights.row(name, 0), await first.weights.row(name, 0));
  }
  await assertError(openAny(goldenFolder('pre_norm_mean'), { untrained: -1 }), 'invalid_option');
});

test('progress ends where reading ends', async () => {
  const folder = join(root, 'weights/sentiment'); // with a manifest
  for (const open of [
    (onProgress) => inspect(folder, { onProgress }),
    (onProgress) => openAny(folder, { untrained: true, onProgress }),
  ]) {
    const events = [];
    await open(({ overall }) => events.push(overall));
    assert.ok(events.length > 0);
    const { loaded, total } = events.at(-1);
    assert.equal(loaded, total);
    assert.ok(events.every((each, i) => i === 0 || each.loaded >= events[i - 1].loaded));
  }
});

test('an untrained model in integers answers', async () => {
  const model = await openAny(goldenFolder('pre_norm_mean'), { untrained: true, compute: 'int8' });
  const { scores } = await model.classify('some words');
  assert.ok(scores.every(({ score }) => score > 0 && score < 1));
});

test('a binary with some kinds of models does not inspect', async () => {
  const module = readFileSync(join(dist, 'glassformer.read.wasm'));
  const { problem, tensors } = await inspect(goldenFolder('pre_norm_mean'), { module });
  assert.deepEqual(tensors, []);
  assert.equal(problem.code, 'invalid_option');
  assert.match(problem.message, /module: expected glassformer.wasm, which has every kind/);
});
