// The native command and the WebAssembly package give the same answers.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import {
  assertNear,
  binaries,
  builds,
  goldenFolder,
  goldenNames,
  load,
  randomModel,
  readGolden,
  root,
} from '../support/helpers.mjs';
import { command } from '../../native_build.mjs';

function classifyNatively(folder, texts, ...options) {
  const output = execFileSync(command, ['classify', folder, '--json', '--attention', ...options], {
    input: texts.map((text) => `${text}\n`).join(''),
    maxBuffer: 1 << 28,
  });
  return output.toString().trimEnd().split('\n').map(JSON.parse);
}

function floats(base64) {
  const bytes = Uint8Array.from(Buffer.from(base64, 'base64'));
  return new Float32Array(bytes.buffer);
}

for (const name of goldenNames) {
  const { texts: goldenTexts, tolerance } = readGolden(name);
  const texts = [...goldenTexts, 'naïve 🎬 日本語', 'a '.repeat(2000).trim(), '☃'];
  const native = classifyNatively(goldenFolder(name), texts);
  assert.equal(native.length, texts.length);

  for (const binary of binaries) {
    test(`${name}: native and ${binary}`, async () => {
      const classifier = await load(goldenFolder(name), { binary });
      const results = await classifier.classifyBatch(texts, { attention: true });
      for (const [index, { attention, score, scores, ...rest }] of results.entries()) {
        const { attention: nativeAttention, ...other } = native[index];
        assert.deepEqual(rest, {
          label: other.label,
          tokens: other.tokens,
          clipped: other.clipped,
          windows: other.windows,
        });
        const each = (name, of) => of.scores.map(({ [name]: value }) => value);
        for (const name of ['id', 'label'])
          assert.deepEqual(each(name, { scores }), each(name, other));
        // Builds differ in fused multiplications and in the order of sums, like PyTorch.
        const near = (actual, expected, what) =>
          assertNear(actual, expected, tolerance[what][0], what);
        near([score], [other.score], 'scores');
        near(each('score', { scores }), each('score', other), 'scores');
        near(each('logit', { scores }), each('logit', other), 'logits');
        const { data, ...shape } = nativeAttention.encoder;
        assert.deepEqual(shape, {
          layers: attention.encoder.layers,
          heads: attention.encoder.heads,
          queries: attention.encoder.queries,
          keys: attention.encoder.keys,
        });
        near(attention.encoder.data, floats(data), 'attention.0');
      }
    });
  }
}

const reviews = [
  'A gripping, beautifully shot film.',
  'meh',
  'great cast, dreadful script',
  'Two hours of my life that I will not get back. '.repeat(12),
  'naïve 🎬 日本語',
];

// With integer products, a last bit may decide to which integer an activation is rounded.
const tolerances = { f32: 1e-5, int8: 0.02, int4: 0.02 };

for (const [binary, compute] of builds) {
  test(`the shipped classifier, ${compute}: native and ${binary}`, async () => {
    const folder = join(root, 'weights/sentiment');
    const native = classifyNatively(folder, reviews, '--compute', compute);
    const classifier = await load(folder, { binary, compute });
    assert.equal(classifier.info.compute, compute);
    for (const [index, { label, score }] of (await classifier.classifyBatch(reviews)).entries()) {
      assert.equal(label, native[index].label);
      assertNear([score], [native[index].score], tolerances[compute], 'score');
    }
  });
}

// Products that are long enough to be split in every arithmetic, and large enough for tiles to
// prefetch (part_steps and large_bytes in matmul.hpp).
const sentiment = join(root, 'weights/sentiment');
const config = JSON.parse(readFileSync(join(sentiment, 'config.json'), 'utf8'));
Object.assign(config, { d_model: 64, d_ff: 2401, n_heads: 4, encoder_layers: 2 });
const wide = randomModel(config, join(sentiment, 'tokenizer.model'));

for (const [binary, compute] of builds) {
  test(`a wide feed-forward layer, ${compute}: native and ${binary}`, async () => {
    const native = classifyNatively(wide, reviews, '--compute', compute);
    const classifier = await load(wide, { binary, compute });
    for (const [index, { scores }] of (await classifier.classifyBatch(reviews)).entries()) {
      const expected = native[index].scores.map(({ logit }) => logit);
      assertNear(
        scores.map(({ logit }) => logit),
        expected,
        tolerances[compute],
        'logits',
      );
    }
  });
}

// The binary for models that read is linked without parts that only decoders have. Encoders may
// have all of these parts.
const kinds = [
  { positions: 'sinusoidal_halves', attention: 'causal', layer_norm: 'rms' },
  {
    positions: 'learned',
    attention: 'local',
    attention_window: 3,
    gated: true,
    activation: 'silu',
  },
  { positions: 'sinusoidal', attention: 'linear', norm: 'post', activation: 'gelu_tanh' },
];
for (const kind of kinds) {
  test(`an encoder with ${JSON.stringify(kind)}: native and both binaries`, async () => {
    const small = { ...config, d_model: 32, d_ff: 64, n_heads: 2, ...kind };
    const folder = randomModel(small, join(sentiment, 'tokenizer.model'));
    const native = classifyNatively(folder, reviews, '--compute', 'f32');
    for (const binary of binaries) {
      const classifier = await load(folder, { binary, compute: 'f32' });
      for (const [index, { scores }] of (await classifier.classifyBatch(reviews)).entries()) {
        const expected = native[index].scores.map(({ logit }) => logit);
        assertNear(
          scores.map(({ logit }) => logit),
          expected,
          tolerances.f32,
          'logits',
        );
      }
    }
  });
}
