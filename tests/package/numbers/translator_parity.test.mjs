// The native command and the WebAssembly package give the same translations.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import {
  assertNear,
  binaries,
  builds,
  goldenFolder,
  loadTranslator,
  readGolden,
  root,
  translationGoldenNames,
} from '../support/helpers.mjs';
import { command } from '../../native_build.mjs';

function translateNatively(folder, texts, ...options) {
  const output = execFileSync(command, ['translate', folder, '--json', ...options], {
    input: texts.map((text) => `${text}\n`).join(''),
    maxBuffer: 1 << 28,
  });
  return output.toString().trimEnd().split('\n').map(JSON.parse);
}

const floats = (base64) => new Float32Array(Uint8Array.from(Buffer.from(base64, 'base64')).buffer);

const near = (actual, expected, tolerance, what) =>
  assertNear([actual].flat(), [expected].flat(), tolerance, what);

// Builds differ in fused multiplications and in the order of sums, like PyTorch.
function assertSame(actual, expected, tolerance) {
  const largest = (kind) =>
    Math.max(
      ...Object.entries(tolerance).flatMap(([name, [value]]) =>
        name.startsWith(kind) ? value : [],
      ),
    );
  assert.equal(actual.text, expected.text);
  near(actual.score, expected.score, largest('log_probabilities'), 'score');
  assert.equal(actual.sentences.length, expected.sentences.length);
  for (const [index, sentence] of actual.sentences.entries()) {
    const { attention, alignment, score, tokens, ...rest } = sentence;
    const other = expected.sentences[index];
    for (const [name, value] of Object.entries(rest)) assert.deepEqual(value, other[name], name);
    assert.deepEqual(
      tokens.map(({ logprob: _, ...token }) => token),
      other.tokens.map(({ logprob: _, ...token }) => token),
    );
    near(score, other.score, largest('log_probabilities'), 'score');
    const logprobs = (list) => list.map(({ logprob }) => logprob);
    near(logprobs(tokens), logprobs(other.tokens), largest('log_probabilities'), 'logprob');
    assert.deepEqual(Object.keys(attention).sort(), Object.keys(other.attention).sort());
    for (const [kind, { data, at: _, ...shape }] of Object.entries(attention)) {
      const { data: native, ...nativeShape } = other.attention[kind];
      assert.deepEqual(shape, nativeShape);
      assertNear(data, floats(native), largest(`${kind}_attention`), kind);
    }
    assert.ok(alignment.length > 0 || rest.text === '');
  }
}

// The same model with matrices of 8-bit integers.
function quantized(folder) {
  const parent = mkdtempSync(join(tmpdir(), 'glassformer-model-'));
  after(() => rmSync(parent, { recursive: true }));
  execFileSync(command, ['quantize', folder, join(parent, 'model')], { stdio: 'ignore' });
  return join(parent, 'model');
}

const models = translationGoldenNames.map((name) => [name, goldenFolder(name), name]);
const [someName] = translationGoldenNames;
models.push([`${someName}, quantized`, quantized(goldenFolder(someName)), someName]);

for (const [name, folder, golden] of models) {
  const { texts: goldenTexts, tolerance } = readGolden(golden);
  const texts = [
    ...goldenTexts,
    '  Not good at all.  A gripping film!',
    'naïve 🎬 日本語',
    'a '.repeat(300).trim(),
    '☃',
  ];
  for (const beams of [1, 4]) {
    const native = translateNatively(folder, texts, '--attention', '--beams', beams);
    assert.equal(native.length, texts.length);
    for (const binary of binaries) {
      test(`${name}, ${beams} beams: native and ${binary}`, async () => {
        const translator = await loadTranslator(folder, { binary });
        const results = await translator.translateBatch(texts, { beams, attention: true });
        for (const [index, result] of results.entries()) {
          assertSame(result, native[index], tolerance);
        }
      });
    }
  }
}

const everyday = [
  'How are you today?',
  'The train arrives at seven, so please call me when you are at the station.',
  "i don't know what to do",
  'She said that she had never seen the sea before. Neither had I!',
  'Two men in orange vests are standing on a ladder next to a yellow house.',
  'Where can I buy a ticket for the concert on Saturday evening?',
];

// Float32 rounding through eight layers; the largest measured difference is 4e-6. With 8-bit
// products, a last bit may decide to which integer an activation is rounded, a step of 1/127 of its
// row's range.
const tolerances = { f32: 1e-4, int8: 0.1, int4: 0.1 };

const shipped = ['en-de', 'en-fr'].flatMap((name) => builds.map((build) => [name, ...build]));

for (const [name, binary, compute] of shipped) {
  const tolerance = tolerances[compute];
  test(`the shipped ${name}, greedy, ${compute}: native and ${binary}`, async () => {
    const folder = join(root, 'weights', name);
    const native = translateNatively(folder, everyday, '--beams', 1, '--compute', compute);
    const translator = await loadTranslator(folder, { binary, compute });
    assert.equal(translator.info.compute, compute);
    const results = await translator.translateBatch(everyday, { beams: 1 });
    for (const [index, { sentences }] of results.entries()) {
      for (const [s, { tokens }] of sentences.entries()) {
        const other = native[index].sentences[s].tokens;
        const flip = tokens.findIndex(({ id }, i) => id !== other[i]?.id);
        // Where the builds first differ, the two tokens were almost equally probable.
        const same = flip < 0 ? tokens.length : flip + 1;
        const logprobs = (list) => list.slice(0, same).map(({ logprob }) => logprob);
        assertNear(logprobs(tokens), logprobs(other), tolerance, 'logprob');
        if (flip < 0) assert.deepEqual(tokens.length, other.length);
      }
    }
  });
}
