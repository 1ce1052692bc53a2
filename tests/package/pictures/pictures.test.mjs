// ImageClassifier with pixels, compared with the library transformers; see tests/fixtures/pictures.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { assertError, binaries, ImageClassifier, load, openAny } from '../support/helpers.mjs';
import { decodePng } from './decode_png.mjs';
import { assertScores, checkpoints, expectedOf, names, optionsOf } from './expected.mjs';

for (const binary of binaries) {
  test(`pixels give the library’s scores (${binary})`, async () => {
    let checked = 0;
    for (const name of names) {
      const { labels, pictures } = expectedOf(name);
      const classifier = await ImageClassifier.load(join(checkpoints, name), { binary });
      assert.deepEqual(classifier.info.labels, labels);
      for (const picture of pictures.filter(({ file }) => /^(rgb8|rgba8|gray8)\.png$/.test(file))) {
        const result = await classifier.classify(decodePng(picture.file), optionsOf(picture));
        assertScores(result, picture, labels, 1e-4, `${name}, ${picture.file}`);
        checked += 1;
      }
      classifier.dispose();
    }
    assert.ok(checked > names.length, `${checked}`);
  });
}

let classifier;
before(async () => {
  classifier = await ImageClassifier.load(join(checkpoints, 'vit'), { explain: true });
});
after(() => classifier?.dispose());
const picture = decodePng('rgb8.png');

test('load finds the class, and narrows the type', async () => {
  const model = await openAny(join(checkpoints, 'deit'));
  assert.ok(model instanceof ImageClassifier);
  assert.equal(model.task, 'image-classification');
  const { grid } = await model.classify(picture);
  assert.deepEqual(grid.special, ['[CLS]', '[DIST]']);
  model.dispose();
  await assertError(
    load(join(checkpoints, 'deit')),
    'wrong_task',
    /ImageClassifier\.load opens it/,
  );
});

test('attention, trace and options have the rows of the grid', async () => {
  const { grid, region, attention, trace, scores } = await classifier.classify(picture, {
    attention: true,
    trace: ['encoder.embeddings', 'encoder.layers.*.output', 'logits'],
    topK: 2,
  });
  const rows = grid.special.length + grid.rows * grid.columns;
  assert.deepEqual([grid.rows, grid.columns, rows], [4, 4, 17]);
  assert.deepEqual(region, { left: 0, top: 0, width: picture.width, height: picture.height });
  assert.equal(attention.encoder.queries, rows);
  assert.deepEqual(trace['encoder.embeddings'].shape, [rows, classifier.info.dModel]);
  assert.equal(scores.length, 2);

  const whole = await classifier.classify(picture);
  const masked = await classifier.classify(picture, { maskTokens: [5] });
  assert.notEqual(masked.score, whole.score);
  const head = { attention: 'encoder', layer: 0, head: 1 };
  assert.notEqual((await classifier.classify(picture, { ablate: [head] })).score, whole.score);
});

test('a patch and an explanation', async () => {
  const name = 'encoder.layers.1.output';
  const { trace } = await classifier.classify(picture, { trace: [name] });
  const same = await classifier.classify(picture, { patch: [{ name, value: trace[name] }] });
  assert.equal(same.score, (await classifier.classify(picture)).score);
  const lens = await classifier.explain(picture, { method: 'lens' });
  assert.deepEqual(lens.tokenLogits.shape, [3, 17, 5]);
  assert.equal(lens.layers.at(-1).label, (await classifier.classify(picture)).label);
  assert.equal(lens.grid.rows, 4);
  const rollout = await classifier.explain(picture, { method: 'rollout' });
  assert.equal(rollout.scores.length, 17);
});

test('several pictures, and any number of them', async () => {
  const other = { ...picture, data: picture.data.map((byte) => 255 - byte) };
  const [first, second] = await classifier.classifyBatch([picture, other]);
  assert.deepEqual(first.scores, (await classifier.classify(picture)).scores);
  assert.notDeepEqual(first.scores, second.scores);
  const outcomes = [];
  for await (const outcome of classifier.classifyEach([picture, { width: 1 }, other])) {
    outcomes[outcome.index] = outcome;
  }
  assert.deepEqual(outcomes[0].result.scores, first.scores);
  assert.equal(outcomes[1].error.code, 'invalid_option');
  assert.deepEqual(outcomes[2].result.scores, second.scores);
});

test('gradients of what the model reads', async () => {
  const model = await ImageClassifier.load(join(checkpoints, 'vit'), { gradients: true });
  const options = { gradients: ['encoder.embed_patches'], trace: ['encoder.embed_patches'] };
  const { gradients, trace } = await model.classify(picture, options);
  const { data } = gradients['encoder.embed_patches'];
  assert.equal(data.length, trace['encoder.embed_patches'].data.length);
  assert.ok(data.some((value) => value !== 0));
  const product = await model.explain(picture, { method: 'gradient_times_input' });
  assert.equal(product.scores.length, 17);
  const relevance = await model.explain(picture, { method: 'relevance' });
  assert.ok(relevance.scores.every((score) => score >= 0));
  model.dispose();
});

test('what is no picture is refused by name', async () => {
  const one = new Uint8Array(3);
  const cases = [
    [undefined, 'invalid_option', /^picture: expected pixels/],
    ['no such file.png', 'unsupported_runtime', /does not decode pictures/],
    [new Blob(['x']), 'unsupported_runtime', /does not decode pictures/],
    [{ width: 0, height: 1, data: one }, 'invalid_option', /0 x 1 times 1, 3 or 4 bytes/],
    [
      { width: 1.5, height: 1, data: one },
      'invalid_option',
      /1.5 x 1 times 1, 3 or 4 bytes, got 3/,
    ],
    [{ width: 2, height: 1, data: one }, 'invalid_option', /2 x 1 times 1, 3 or 4 bytes, got 3/],
    [{ width: 1, height: 1, data: [1, 2, 3] }, 'invalid_option', /expected pixels/],
  ];
  for (const [given, code, message] of cases) {
    await assertError(classifier.classify(given), code, message);
  }
  const second = classifier.classifyBatch([picture, undefined]);
  await assertError(second, 'invalid_option', /^pictures\[1\]: expected pixels/);
  await assertError(classifier.classifyBatch(picture), 'invalid_option', /^pictures: expected/);
  const sized = classifier.classify(picture, { size: [24, 20] });
  await assertError(sized, 'invalid_option', /interpolate/);
  await assertError(classifier.classify(picture, { stride: 1 }), 'invalid_option', /"stride"/);
});
