// ZeroShotImageClassifier, compared with the library transformers; see tests/fixtures/pictures.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { decodePng } from './decode_png.mjs';
import {
  assertError,
  binaries,
  companion,
  openAny,
  root,
  ZeroShotImageClassifier,
} from '../support/helpers.mjs';

const { pipeline } = await import(companion('pipelines'));

const folderOf = (name) => join(root, 'tests/fixtures/pictures/clip', name);
const expectedOf = (name) => JSON.parse(readFileSync(join(folderOf(name), 'expected.json')));
const dot = (a, b) => a.reduce((sum, value, i) => sum + value * b[i], 0);

for (const binary of binaries) {
  for (const name of ['clip', 'clip_wide']) {
    test(`${name} gives the library’s scores and tokens (${binary})`, async () => {
      const { labels, pictures, texts } = expectedOf(name);
      const model = await ZeroShotImageClassifier.load(folderOf(name), { binary });
      const known = pictures.filter(({ file }) => file.endsWith('.png'));
      assert.ok(known.length > 1);
      for (const { file, label, scores } of known) {
        const result = await model.classify(decodePng(file), labels, { attention: true });
        assert.equal(result.label, label);
        labels.forEach((each, i) => assert.ok(Math.abs(result.scores[i].score - scores[i]) < 1e-4));
        const { encoder } = result.attention;
        assert.equal(encoder.keys, 1 + result.grid.rows * result.grid.columns);
        const alone = await model.embedImage(decodePng(file));
        assert.deepEqual(alone.embedding, result.embedding);
        const text = await model.embedText(`This is a photo of ${labels[0]}.`);
        const scale = result.scores[0].logit / dot(alone.embedding, text.embedding);
        assert.ok(Math.abs(scale - Math.exp(2.65625)) < 1e-3, `${scale}`);
      }
      for (const { text, ids } of texts.filter(({ text }) => text)) {
        const { tokens, clipped } = await model.embedText(text);
        assert.deepEqual(
          tokens.map(({ id }) => id),
          ids,
        );
        assert.equal(clipped, ids.length === 32);
      }
      model.dispose();
    });
  }
}

test('load finds the class; bad labels and options are refused', async () => {
  const model = await openAny(folderOf('clip'));
  assert.ok(model instanceof ZeroShotImageClassifier);
  assert.equal(model.architecture.textEncoder.layers.length, 2);
  const picture = decodePng('rgb8.png');
  const refused = (message, labels, options) =>
    assertError(() => model.classify(picture, labels, options), 'invalid_option', message);
  await refused(/labels/, []);
  await refused(/labels: expected different/, ['a', 'a']);
  await refused(/hypothesisTemplate/, ['a'], { hypothesisTemplate: 'a photo' });
  await refused(/topK/, ['a'], { topK: 1 });
  await assertError(() => model.embedText(picture), 'invalid_option', /text/);
  const { label } = await model.classify(picture, ['only'], { hypothesisTemplate: '{}' });
  assert.equal(label, 'only');
  model.dispose();
});

test('gradients explain the label, and an ablated head changes the answer', async () => {
  const model = await openAny(folderOf('clip'), {
    task: 'zero-shot-image-classification',
    gradients: true,
  });
  const picture = decodePng('rgb8.png');
  const labels = ['a red square', 'two blue circles'];
  const names = ['encoder.embeddings', 'encoder.layers.*.self_attn.weights'];
  const whole = await model.classify(picture, labels, { gradients: names });
  assert.equal(Object.keys(whole.gradients).length, 3);
  const without = await model.classify(picture, labels, {
    ablate: [{ attention: 'encoder', layer: 0, head: 1 }],
  });
  assert.notEqual(without.score, whole.score);
  model.dispose();
});

test('explanations say which label fits, and why', async () => {
  const model = await ZeroShotImageClassifier.load(folderOf('clip'), { gradients: true });
  const picture = decodePng('rgb8.png');
  const { labels } = expectedOf('clip');
  const { label, scores } = await model.classify(picture, labels);
  const lens = await model.explain(picture, labels, { method: 'lens' });
  assert.deepEqual(lens.tokenLogits.shape, [3, 17, labels.length]);
  assert.equal(lens.layers.at(-1).label, label);
  for (const [i, last] of lens.layers.at(-1).scores.entries()) {
    assert.equal(last.label, labels[i]);
    assert.ok(Math.abs(last.score - scores[i].score) < 1e-5);
  }
  const attribution = await model.explain(picture, labels, { method: 'direct_logit_attribution' });
  const mean = scores.reduce((sum, { logit }) => sum + logit, 0) / labels.length;
  assert.ok(Math.abs(attribution.value - (scores[labels.indexOf(label)].logit - mean)) < 1e-4);
  const sum = attribution.read.data.reduce((all, part) => all + part);
  assert.ok(Math.abs(sum - attribution.value) < 1e-4);
  const other = labels.find((each) => each !== label);
  const hypothesisTemplate = 'a photo of {}';
  for (const method of ['relevance', 'gradient_times_input']) {
    const options = { method, label: other, hypothesisTemplate };
    const result = await model.explain(picture, labels, options);
    assert.equal(result.label, other);
    assert.equal(result.scores.length, 17);
  }
  const refused = (message, names, options) =>
    assertError(() => model.explain(picture, names, options), 'invalid_option', message);
  await refused(/labels/, [], { method: 'lens' });
  await refused(/label: expected one of/, labels, {
    method: 'direct_logit_attribution',
    label: 'none',
  });
  await refused(/activation_patching/, labels, { method: 'activation_patching' });
  model.dispose();
});

test('the pipeline has the library’s results', async () => {
  const { labels, pictures } = expectedOf('clip');
  const classify = await pipeline('zero-shot-image-classification', folderOf('clip'));
  const found = await classify(decodePng('rgb8.png'), labels);
  assert.equal(found[0].label, pictures[0].label);
  assert.ok(Math.abs(found[0].score - Math.max(...pictures[0].scores)) < 1e-4);
  assert.equal((await classify([decodePng('rgb8.png')], labels)).length, 1);
  await classify.dispose();
});
