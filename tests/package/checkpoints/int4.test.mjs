// Folders with 4-bit weights, as `glassformer quantize --weights 4` writes them.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { command } from '../../native_build.mjs';
import {
  Generator,
  assertError,
  assertNear,
  binaries,
  dist,
  load,
  root,
} from '../support/helpers.mjs';

const { inspect } = await import(`${dist}/index.js`);

const scratch = mkdtempSync(join(tmpdir(), 'glassformer-int4-'));
after(() => rmSync(scratch, { recursive: true }));

function quantized(model, ...options) {
  const folder = join(scratch, [model, ...options].join(''));
  const from = join(root, 'weights', model);
  execFileSync(command, ['quantize', from, folder, '--weights', '4', ...options], {
    stdio: 'ignore',
  });
  return folder;
}

const writer = join(root, 'weights/writer'); // its tables have 4 bits, too
const blocks = quantized('sentiment');
const prompts = ['Once upon a time', 'The little dog'];

for (const binary of binaries) {
  test(`a text of a 4-bit folder: native and ${binary}`, async () => {
    const args = ['generate', writer, '--json', '--max-new-tokens', '24'];
    const native = execFileSync(command, args, { input: `${prompts.join('\n')}\n` })
      .toString()
      .trimEnd()
      .split('\n')
      .map(JSON.parse);
    const generator = await load(writer, { binary }, Generator);
    assert.equal(generator.info.compute, 'int4');
    for (const [index, prompt] of prompts.entries()) {
      const { text, tokens, score } = await generator.generate(prompt, { maxNewTokens: 24 });
      assert.equal(text, native[index].text);
      const ids = (of) => of.map(({ id }) => id);
      assert.deepEqual(ids(tokens), ids(native[index].tokens));
      assertNear([score], [native[index].score], 0.02, 'score');
    }
  });
}

test('tables of 4 bits make a smaller file with nearly the same answers', async () => {
  const all = quantized('sentiment', '--tables');
  const file = (folder) => join(folder, 'model.safetensors');
  const table = 8000 * 128;
  const saved = statSync(file(blocks)).size - statSync(file(all)).size;
  // An integer and a scale of four bytes per row become half of that and four scales of two bytes.
  assert.ok(Math.abs(saved - (table + 8000 * 4 - (table / 2 + 8000 * 4 * 2))) < 1000, `${saved}`);
  const { tensors } = await inspect(all);
  const embeddings = tensors.find(({ name }) => name === 'encoder.embed_tokens.weight');
  assert.deepEqual([embeddings.dtype, embeddings.shape], ['U8', [8000, 64]]);
  const texts = ['A gripping, beautifully shot film.', 'Not one joke of it works.'];
  for (const compute of ['int4', 'f32']) {
    const [small, large] = [await load(all, { compute }), await load(blocks, { compute })];
    for (const text of texts) {
      const [{ scores }, { scores: expected }] = [
        await small.classify(text),
        await large.classify(text),
      ];
      assert.notDeepEqual(scores, expected);
      const numbers = (of) => of.map(({ score }) => score);
      assertNear(numbers(scores), numbers(expected), 0.1, text);
    }
  }
});

test('traces, patches and ablations see the activations; gradients need floats', async () => {
  const classifier = await load(blocks);
  const text = 'A gripping, beautifully shot film.';
  const name = 'encoder.layers.1.output';
  const { trace, scores } = await classifier.classify(text, { trace: [name] });
  const tokens = trace[name].shape[0];
  assert.ok(trace[name].data.every(Number.isFinite) && tokens > 2);
  const patched = await classifier.classify(text, { patch: [{ name, value: trace[name].data }] });
  assert.deepEqual(patched.scores, scores);
  const ablate = [{ attention: 'encoder', layer: 3, head: 0 }];
  const without = await classifier.classify(text, { ablate });
  assert.notDeepEqual(without.scores, scores);
  const q = [{ name: 'encoder.layers.0.self_attn.q', value: 0 }];
  await assertError(() => classifier.classify(text, { patch: q }), 'unsupported', /f32/);
  const learner = await load(blocks, { gradients: true });
  const gradients = [name];
  await assertError(() => learner.classify(text, { gradients }), 'unsupported', /f32.*int4/);
  const floats = await load(blocks, { gradients: true, compute: 'f32' });
  const result = await floats.classify(text, { gradients });
  assert.ok(result.gradients[name].data.some((number) => number !== 0));
});
