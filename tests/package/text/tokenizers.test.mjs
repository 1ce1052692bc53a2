// Tokenizers of a tokenizer.json: ids and ranges in WebAssembly equal those of the original library
// and of the command line, on difficult texts; see tests/fixtures/data/tokenizers.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { Embedder, binaries, load, root } from '../support/helpers.mjs';
import { command } from '../../native_build.mjs';

const data = join(root, 'tests/fixtures/data');
const linesOf = (file) => readFileSync(join(data, file), 'utf8').split('\n').slice(0, -1);
const adversarial = linesOf('tokenizers/adversarial.txt');
assert.equal(adversarial.length, 300);
const texts = [...adversarial, ...linesOf('tokenizer/text.txt').slice(0, 10)];

const names = readdirSync(join(data, 'tokenizers'))
  .filter((file) => file.endsWith('.expected'))
  .map((file) => file.replace('.expected', ''));
assert.ok(names.length >= 8);

/** Makes the smallest model that can read the output of a tokenizer. */
function modelOf(name) {
  const folder = mkdtempSync(join(tmpdir(), 'glassformer-tokenizer-'));
  after(() => rmSync(folder, { recursive: true }));
  const config = {
    format: 1,
    model_type: 'encoder',
    task: 'feature-extraction',
    vocab_size: 600,
    d_model: 4,
    d_ff: 4,
    n_heads: 1,
    encoder_layers: 1,
    max_source_length: 1024,
    positions: 'sinusoidal',
    scale_embedding: false,
    norm: 'post',
    layer_norm: 'standard',
    layer_norm_eps: 1e-5,
    final_norm: false,
    attention: 'full',
    attention_bias: true,
    activation: 'relu',
    poolings: ['mean'],
    normalize: false,
    clip: 'end',
    tokenizer_template: true,
  };
  writeFileSync(join(folder, 'config.json'), JSON.stringify(config));
  copyFileSync(join(data, 'tokenizers', `${name}.json`), join(folder, 'tokenizer.json'));
  const model = join(folder, 'model');
  execFileSync(command, ['init', join(folder, 'config.json'), model, '--seed', '1']);
  return model;
}

/** Returns ids, ids with special tokens, and ranges of every third line and of the last ten. */
const expectedOf = (name) =>
  linesOf(`tokenizers/${name}.expected`).map((line) => JSON.parse(line.split('\t')[0]));

/** Returns the number of special tokens that a tokenizer puts before a text. */
function prefixOf(name) {
  const { post_processor: template } = JSON.parse(
    readFileSync(join(data, 'tokenizers', `${name}.json`), 'utf8'),
  );
  if (template?.type === 'TemplateProcessing') {
    return template.single.findIndex(({ Sequence }) => Sequence);
  }
  return template?.type === 'RobertaProcessing' ? 1 : 0;
}

for (const name of names) {
  test(`${name}: ids and ranges equal those of the original library and of the command line`, async () => {
    const model = modelOf(name);
    const native = execFileSync(command, ['tokenize', model, '--special'], {
      input: texts.map((text) => `${text}\n`).join(''),
      encoding: 'utf8',
    }).split('\n');
    const expected = expectedOf(name);
    const compared = texts.filter((_, index) => index % 3 === 0 || index >= adversarial.length);
    assert.equal(expected.length, compared.length);
    const prefix = prefixOf(name);
    for (const binary of binaries) {
      const embedder = await load(model, { binary }, Embedder);
      let refused = 0;
      for await (const { index, result, error } of embedder.embedEach(texts)) {
        const what = `${binary}, text ${index}: ${JSON.stringify(texts[index])}`;
        const wanted = expected[compared.indexOf(texts[index])];
        if (error) {
          assert.equal(error.code, 'empty_input', what);
          assert.ok(!wanted?.[0].length, what);
          refused++;
          continue;
        }
        const { tokens, clipped } = result;
        assert.ok(!clipped, what);
        const ids = tokens.map(({ id }) => id);
        assert.equal(ids.join(' '), native[index], what);
        if (!wanted) continue;
        const [own, special, ranges] = wanted;
        assert.deepEqual(ids, special, what);
        const covered = tokens.slice(prefix, prefix + own.length);
        assert.deepEqual(
          covered.flatMap(({ start, end }) => [start, end]),
          ranges,
          what,
        );
      }
      assert.ok(refused < 40);
    }
  });
}
