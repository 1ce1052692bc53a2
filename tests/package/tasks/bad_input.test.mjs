// Wrong or extreme texts, options and model files: each gives a typed error or a defined result,
// and the next call works.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import {
  Classifier,
  assertError,
  binaries,
  goldenFolder,
  joinSafetensors,
  load,
  readGolden,
  readModel,
  root,
  splitSafetensors,
} from '../support/helpers.mjs';

const name = 'pre_norm_mean';
const text = readGolden(name).texts[0];
const encode = (content) => new TextEncoder().encode(content);

// The only white space in the goldens' vocabularies is the blank; the shipped model's has more.
test('white space is an empty text to the sentiment model', async () => {
  const classifier = await load(join(root, 'weights/sentiment'));
  for (const empty of ['', ' ', '\n\t \r\n', '\u00a0\u3000']) {
    await assertError(() => classifier.classify(empty), 'empty_input');
  }
  assert.equal((await classifier.classify('\n good\t')).clipped, false);
});

for (const binary of binaries) {
  const classifier = await load(goldenFolder(name), { binary });
  const expected = await classifier.classify(text);
  const stillWorks = async () => assert.deepEqual(await classifier.classify(text), expected);

  test(`${binary}: texts without tokens`, async () => {
    for (const empty of ['', ' ', ' '.repeat(1 << 20)]) {
      await assertError(() => classifier.classify(empty), 'empty_input');
      await stillWorks();
    }
    await assertError(() => classifier.classifyBatch(['a', '']), 'empty_input', /texts\[1\]/);
    await stillWorks();
  });

  test(`${binary}: a text of a megabyte is clipped and marked as such`, async () => {
    const { maxSourceLength } = classifier.info;
    const result = await classifier.classify('a good film '.repeat(1 << 17), { attention: true });
    assert.equal(result.clipped, true);
    assert.equal(result.tokens.length, maxSourceLength);
    assert.equal(result.attention.encoder.queries, maxSourceLength);
    await stillWorks();
    // Without spaces. In this vocabulary, the first characters are letters, the others one unknown
    // token.
    for (const long of ['a'.repeat(1 << 20), 'é'.repeat(1 << 19), '🎬'.repeat(1 << 18)]) {
      const { tokens, clipped } = await classifier.classify(long);
      assert.ok(tokens.length <= maxSourceLength);
      if (!clipped) assert.equal(tokens.at(-1).end, long.length);
      await stillWorks();
    }
  });

  test(`${binary}: lone surrogates and control characters`, async () => {
    for (const odd of [
      '\ud83c',
      'a \udfac film',
      '\udfac\ud83c',
      'a\u0000b',
      '\ufeffa',
      '\uffff',
    ]) {
      const { tokens, score } = await classifier.classify(odd);
      assert.ok(score > 0 && score <= 1);
      for (const { start, end } of tokens) assert.ok(start <= end && end <= odd.length);
      await stillWorks();
    }
  });

  test(`${binary}: texts that are not strings`, async () => {
    for (const wrong of [undefined, null, 7, ['a'], { text: 'a' }, new String('a')]) {
      await assertError(() => classifier.classify(wrong), 'invalid_option', /text/);
    }
    for (const wrong of [undefined, 'abc', [1], ['a', null], [, 'a'], new Set(['a'])]) {
      await assertError(() => classifier.classifyBatch(wrong), 'invalid_option', /texts/);
    }
    await stillWorks();
  });

  test(`${binary}: options are checked`, async () => {
    const head = { attention: 'encoder', layer: 0, head: 0 };
    const circular = [];
    circular.push(circular);
    for (const [options, message] of [
      [{ attentions: true }, /unknown option "attentions".*attention/],
      [{ attentions: undefined }, /attentions/],
      [{ attention: 'yes' }, /attention/],
      [{ attention: 1 }, /attention/],
      [{ contributions: null }, /contributions/],
      [{ ablate: head }, /ablate/],
      [{ ablate: [0] }, /ablate/],
      [{ ablate: [{ ...head, attention: 'cross' }] }, /attention/],
      [{ ablate: [{ layer: 0, head: 0 }] }, /attention/],
      [{ ablate: [{ ...head, layer: 2 }] }, /layer 2/],
      [{ ablate: [{ ...head, layer: -1 }] }, /layer/],
      [{ ablate: [{ ...head, head: 99 }] }, /head/],
      [{ ablate: [{ ...head, head: 0.5 }] }, /head/],
      [{ ablate: [{ ...head, heads: 1 }] }, /heads/],
      [{ maskTokens: 3 }, /maskTokens/],
      [{ maskTokens: ['3'] }, /maskTokens/],
      [{ maskTokens: [-1] }, /maskTokens/],
      [{ maskTokens: [1.5] }, /maskTokens/],
      [{ maskTokens: [NaN] }, /maskTokens/],
      [{ maskTokens: [1e6] }, /maskTokens/],
      [{ maskTokens: [2n] }, /plain data/],
      [{ maskTokens: circular }, /plain data/],
      [{ maskTokens: expected.tokens.map((_, index) => index) }, /all of them/],
      [{ signal: 'stop' }, /signal/],
      ['attention', /expected an object/],
      [null, /expected an object/],
      [true, /expected an object/],
    ]) {
      await assertError(() => classifier.classify(text, options), 'invalid_option', message);
      await stillWorks();
    }
    await assertError(
      () => classifier.classifyBatch([text, 'a'], { maskTokens: [5] }),
      'invalid_option',
      /texts\[1\]/,
    );
  });

  // Damages one file of a good model and loads it.
  const spoiled = (file, spoil) => {
    const files = readModel(name);
    files[file] = spoil(files[file]);
    return () => Classifier.load(files, { binary });
  };
  const weights = (spoil) =>
    spoiled('model.safetensors', (bytes) => {
      const parts = splitSafetensors(bytes);
      return joinSafetensors(spoil(parts) ?? parts);
    });
  const config = (spoil) =>
    spoiled('config.json', (bytes) => {
      const values = JSON.parse(new TextDecoder().decode(bytes));
      const text = spoil(values) ?? JSON.stringify(values);
      return encode(text);
    });
  const fc1 = 'encoder.layers.1.fc1.weight';

  test(`${binary}: damaged weights`, async () => {
    for (const [action, code, message] of [
      [spoiled('model.safetensors', () => new Uint8Array()), 'invalid_safetensors'],
      [spoiled('model.safetensors', (b) => b.subarray(0, 5)), 'invalid_safetensors'],
      [spoiled('model.safetensors', (b) => b.subarray(0, 100)), 'invalid_safetensors', /header/],
      [
        spoiled('model.safetensors', (b) => b.subarray(0, b.length - 4)),
        'invalid_safetensors',
        /an end within|bytes of data/,
      ],
      [
        spoiled('model.safetensors', (b) => new Uint8Array([...b, 0])),
        'invalid_safetensors',
        /bytes of data/,
      ],
      [spoiled('model.safetensors', (b) => b.fill(255, 0, 8)), 'invalid_safetensors', /header/],
      [
        spoiled('model.safetensors', () => encode('version https://git-lfs.github.com/spec/v1\n')),
        'invalid_safetensors',
        /git lfs pull/,
      ],
      [
        spoiled('model.safetensors', () => encode('<!doctype html><title>404</title>')),
        'invalid_safetensors',
        /a web page/,
      ],
      [spoiled('model.safetensors', (b) => b.fill(32, 8, 12)), 'invalid_safetensors'],
      [weights(({ data }) => ({ header: '[]', data })), 'invalid_safetensors'],
      [weights(({ data }) => ({ header: 'null', data })), 'invalid_safetensors'],
      [weights(({ data }) => ({ header: '{"a":1}', data })), 'invalid_safetensors', /a/],
      [
        weights(({ header }) => void (header[fc1].data_offsets = 'all')),
        'invalid_safetensors',
        /fc1/,
      ],
      [weights(({ header }) => void (header[fc1].dtype = 'F31')), 'unsupported_dtype', /fc1/],
      [
        weights(({ header }) => void header[fc1].shape.reverse()),
        'shape_mismatch',
        /fc1\.weight.*\[.*\[/,
      ],
      [
        weights(({ header }) => {
          header[`${fc1}2`] = header[fc1];
          delete header[fc1];
        }),
        'missing_tensor',
        /layers\.1\.fc1\.weight/,
      ],
      [
        weights(({ header, data }) => {
          const end = data.length;
          header.extra = { dtype: 'F32', shape: [1], data_offsets: [end, end + 4] };
          return { header, data: new Uint8Array([...data, 0, 0, 0, 0]) };
        }),
        'unexpected_tensor',
        /extra/,
      ],
    ]) {
      await assertError(action, code, message);
      await stillWorks();
    }
  });

  test(`${binary}: damaged configurations`, async () => {
    for (const [action, code, message] of [
      [spoiled('config.json', () => new Uint8Array()), 'invalid_config'],
      [config(() => '{'), 'invalid_config'],
      [config(() => '[]'), 'invalid_config'],
      [config(() => '"\ud800"'), 'invalid_config'],
      [config((c) => void (c.d_model = '16')), 'invalid_config', /d_model/],
      [config((c) => void (c.d_model = -16)), 'invalid_config', /d_model/],
      [config((c) => void (c.n_heads = 3)), 'invalid_config', /n_heads/],
      [config((c) => void (c.labels = 'positive')), 'invalid_config', /labels/],
      [config((c) => void (c.layer_norm_eps = null)), 'invalid_config', /layer_norm_eps/],
      [config((c) => void (c.color = 'red')), 'invalid_config', /color/],
      [config((c) => void delete c.pooling), 'invalid_config', /pooling/],
      [config((c) => void (c.pooling = 'max')), 'invalid_config', /pooling/],
      [config((c) => JSON.stringify(c).replace('{', '{"d_ff":1,')), 'invalid_config', /d_ff/],
      [config((c) => void (c.task = 'translation')), 'wrong_task', /task|translation/],
      [config((c) => void (c.d_ff += 1)), 'shape_mismatch', /fc1|fc2/],
      [config((c) => void (c.encoder_layers += 1)), 'missing_tensor', /layers\.2/],
      [config((c) => void (c.encoder_layers -= 1)), 'unexpected_tensor', /layers\.1/],
      [config((c) => void (c.vocab_size = 1e12)), 'invalid_config', /vocab_size/],
    ]) {
      await assertError(action, code, message);
      await stillWorks();
    }
  });

  test(`${binary}: damaged tokenizers`, async () => {
    for (const spoil of [
      () => new Uint8Array(),
      (bytes) => bytes.subarray(0, bytes.length - 3),
      (bytes) => bytes.fill(255),
      () => encode('version https://git-lfs.github.com/spec/v1\n'),
    ]) {
      await assertError(spoiled('tokenizer.model', spoil), 'invalid_tokenizer');
      await stillWorks();
    }
  });
}
