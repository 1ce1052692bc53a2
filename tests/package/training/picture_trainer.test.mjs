// Training with pictures in both binaries: what is learned, saved and refused.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { command } from '../../native_build.mjs';
import {
  ImageClassifier,
  Trainer,
  assertError,
  assertNear,
  binaries,
  goldenFolder,
  load,
  openAny,
  readPicture,
  readSafetensors,
  root,
} from '../support/helpers.mjs';
import { trained } from './examples.mjs';

const side = 14;

/** A bar across a dark picture: 0 is upright, 1 is level. */
function bar(kind, at, channels = 1) {
  const data = new Uint8Array(side * side * channels);
  for (let i = 0; i < side * side; i++) {
    const place = kind === 0 ? i % side : Math.floor(i / side);
    if (place === at || place === at + 1) data.fill(255, i * channels, (i + 1) * channels);
  }
  return { width: side, height: side, data };
}

const kinds = ['upright', 'level'];
const examplesOf = (channels) =>
  Array.from({ length: 20 }, (_, i) => ({
    picture: bar(i % 2, 2 + Math.floor(i / 2), channels),
    label: kinds[i % 2],
  }));
const examples = examplesOf(1);
const tiny = { encoder_layers: 1, d_model: 16, d_ff: 32, n_heads: 2 };
const quick = { heldOut: 0, dropout: 0, smoothing: 0, rate: 0.01, averaging: 0, distortion: 0.3 };

async function make(start = tiny, data = examples, options = quick) {
  const trainer = await Trainer.from(start, data, options);
  after(() => trainer.dispose());
  return trainer;
}

for (const binary of binaries) {
  test(`a new model learns pictures (${binary})`, async () => {
    const trainer = await make(tiny, examples, { ...quick, binary });
    const { task, labels } = trainer.info;
    assert.deepEqual(
      [task, labels, trainer.info.binary],
      ['image-classification', kinds.toSorted(), binary],
    );
    assert.deepEqual([trainer.examples, trainer.heldOut], [20, 0]);
    const { encoder } = trainer.architecture;
    assert.deepEqual([encoder.pictureHeight, encoder.patchWidth, encoder.channels], [side, 2, 1]);
    const before = await trainer.evaluate(examples);
    await trained(trainer, { epochs: 150 });
    const { loss, accuracy } = await trainer.evaluate(examples);
    assert.equal(accuracy, 1);
    assert.ok(loss < before.loss / 5, `${before.loss}, then ${loss}`);
    const one = await trainer.evaluate(examples.slice(0, 1));
    assert.equal(one.accuracy, 1);
  });

  test(`the saved folder gives the trainer's answers (${binary})`, async () => {
    const trainer = await make(tiny, examples, { ...quick, binary });
    await trained(trainer, { epochs: 3 });
    const options = { attention: true, contributions: true, trace: ['encoder.layers.0.output'] };
    const [{ picture }] = examples;
    const answer = await trainer.classify(picture, options);
    assert.deepEqual(answer.grid, { rows: 7, columns: 7, special: ['[CLS]'] });
    const files = await trainer.save();
    assert.deepEqual(Object.keys(files).sort(), [
      'config.json',
      'manifest.json',
      'model.safetensors',
      'preprocessor_config.json',
    ]);
    assert.equal(JSON.parse(new TextDecoder().decode(files['config.json'])).model_type, 'vit');
    const model = await load(files, { binary }, ImageClassifier);
    assert.deepEqual(await model.classify(picture, options), answer);
    const other = await openAny(files);
    after(() => other.dispose());
    assert.equal(other.task, 'image-classification');
  });
}

test('pictures with colors and with alpha are learned alike', async () => {
  const losses = [];
  for (const channels of [3, 4]) {
    const trainer = await make(tiny, examplesOf(channels));
    assert.equal(trainer.architecture.encoder.channels, 3);
    losses.push((await trained(trainer, { epochs: 2 })).at(-1).loss);
  }
  assert.equal(losses[0], losses[1]);
});

test('files of the format IDX are learned as objects are, and as on the command line', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'glassformer-train-'));
  after(() => rmSync(folder, { recursive: true }));
  const path = (name) => join(folder, name);
  const header = Buffer.from([0, 0, 8, 3, 0, 0, 0, 20, 0, 0, 0, side, 0, 0, 0, side]);
  const images = Buffer.concat([header, ...examples.map(({ picture }) => picture.data)]);
  const labels = examples.map(({ label }) => `${label}\n`).join('');
  writeFileSync(path('images'), images);
  writeFileSync(path('labels'), labels);
  writeFileSync(path('config.json'), JSON.stringify(tiny));
  const given = `${path('images')},${path('labels')}`;
  const options = ['--rate', '0.01', '--held-out', '0', '--epochs', '5', '--seed', '3'];
  execFileSync(command, ['train', path('config.json'), given, path('out'), ...options], {
    stdio: 'pipe',
  });
  const saved = [];
  for (const data of [examples, new Blob([images, labels])]) {
    const trainer = await make(tiny, data, { rate: 0.01, heldOut: 0, seed: 3 });
    await trained(trainer, { epochs: 5 });
    saved.push(await trainer.save());
  }
  assert.deepEqual(saved[0], saved[1]);
  for (const name of ['config.json', 'preprocessor_config.json']) {
    assert.equal(
      new TextDecoder().decode(saved[0][name]),
      readFileSync(path(`out/${name}`), 'utf8'),
    );
  }
  writeFileSync(path('ours.safetensors'), saved[0]['model.safetensors']);
  const ours = readSafetensors(path('ours.safetensors'));
  const theirs = readSafetensors(path('out/model.safetensors'));
  assert.deepEqual(Object.keys(ours).sort(), Object.keys(theirs).sort());
  // Adam divides by tiny gradients in the first steps, which magnifies rounding.
  for (const [name, { data }] of Object.entries(theirs)) {
    assertNear(ours[name].data, data, 4e-3, name);
  }
});

test('a published model keeps its head for labels that it knows, and gets a new one for others', async () => {
  const digits = join(root, 'weights/digits');
  const data = new Uint8Array(28 * 28);
  for (let y = 4; y < 24; y++) data.fill(255, y * 28 + 12, y * 28 + 16);
  const stroke = { width: 28, height: 28, data };
  const empty = { width: 28, height: 28, data: new Uint8Array(28 * 28) };
  const wrong = [
    { picture: stroke, label: '8' },
    { picture: empty, label: '2' },
  ];
  const model = await load(digits, {}, ImageClassifier);
  const trainer = await make(digits, wrong, { ...quick, rate: 1e-4, averaging: 0 });
  assert.deepEqual(trainer.info.labels, model.info.labels);
  assert.deepEqual((await trainer.classify(stroke)).scores, (await model.classify(stroke)).scores);
  const before = await trainer.evaluate(wrong);
  await trained(trainer, { epochs: 5 });
  assert.ok((await trainer.evaluate(wrong)).loss < before.loss);

  const others = await make(digits, [
    { picture: stroke, label: 'stroke' },
    { picture: empty, label: 'nothing' },
  ]);
  assert.deepEqual(others.info.labels, ['nothing', 'stroke']);
  // Pictures of another size are resized as the folder says.
  assert.equal((await make(digits, examples)).info.labels.length, 2);
});

test('examples that cannot be learned from are refused', async () => {
  const from = (data, start = tiny) => Trainer.from(start, data, quick);
  const [first, second] = examples;
  await assertError(() => from([first]), 'invalid_data', /at least two labels/);
  await assertError(
    () => from([first, { picture: second.picture }]),
    'invalid_option',
    /\[1\].label/,
  );
  await assertError(
    () => from([first, { text: 'a', label: 'b' }]),
    'invalid_option',
    /examples\[1\]/,
  );
  const broken = { picture: second.picture, label: 'a\nb' };
  await assertError(() => from([first, broken]), 'invalid_data', /examples\[1\]: .*line breaks/);
  const small = { width: 1, height: 1, data: new Uint8Array(1) };
  const sizes = [first, { picture: small, label: 'level' }];
  await assertError(() => from(sizes), 'invalid_option', /14 x 14 pixels as the first, got 1 x 1/);
  const unread = [{ picture: 5, label: 'a' }, second];
  await assertError(() => from(unread), 'invalid_option', /examples\[0\].picture: expected pixels/);
  const cut = new Uint8Array([0, 0, 8, 3, 0]);
  await assertError(() => from(cut), 'invalid_data', /IDX file/);
  await assertError(
    () => from(examples, join(root, 'weights/sentiment')),
    'wrong_task',
    /pictures/,
  );
  const texts = [
    { text: 'a', label: 'b' },
    { text: 'c', label: 'd' },
  ];
  await assertError(() => from(texts, join(root, 'weights/digits')), 'wrong_task', /reads texts/);
  const trainer = await make();
  await assertError(() => trainer.evaluate(texts), 'invalid_option', /expected pictures/);
  const other = { picture: first.picture, label: 'slanted' };
  await assertError(() => trainer.evaluate([other]), 'invalid_data', /picture 1: .*"slanted"/);
  await assertError(() => trainer.classify('a text'), 'unsupported_runtime');
  await assertError(() => from(examples, { d_model: 15 }), 'invalid_config');
  const strong = { ...quick, distortion: 5 };
  await assertError(() => Trainer.from(tiny, examples, strong), 'invalid_option', /distortion/);
});

test('a picture is decoded as models read it', async () => {
  const { data, ...sizes } = await readPicture({
    width: 1,
    height: 2,
    data: new Uint8ClampedArray([7, 9]),
  });
  assert.deepEqual(sizes, { width: 1, height: 2 });
  assert.ok(data instanceof Uint8Array);
  assert.deepEqual([...data], [7, 9]);
  await assertError(() => readPicture({ width: 2, height: 2, data }), 'invalid_option', /data/);
});
