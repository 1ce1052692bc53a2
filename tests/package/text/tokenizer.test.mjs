// Tokenizers without models, compared with the original library's (tests/fixtures/checkpoints).
import assert from 'node:assert/strict';
import { readFileSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { copyOf, expectedOf, filesOf, folderOf } from '../support/checkpoints.mjs';
import { Classifier, Translator, assertError, dist, load, root } from '../support/helpers.mjs';

const { Tokenizer } = await import(join(dist, 'tokenizer.js'));

const opened = [];
after(() => opened.forEach((tokenizer) => tokenizer.dispose()));

async function open(folder, options) {
  const tokenizer = await Tokenizer.load(folder, options);
  opened.push(tokenizer);
  return tokenizer;
}

/** Returns the files of a checkpoint's tokenizer, in memory. */
const tokenizerFiles = (name) =>
  Object.fromEntries(
    filesOf(name)
      .filter((file) => !file.includes('.safetensors'))
      .map((file) => [file, new Uint8Array(readFileSync(join(folderOf(name), file)))]),
  );

// A tokenizer of each kind: WordPiece, bytes, Unigram, SentencePiece and others without tokenizer.json.
const names = [
  'bert_sequence',
  'distilbert_tokens',
  'roberta_sequence',
  'roberta_tokens',
  'xlm_roberta_sequence',
  'albert_sequence',
  'deberta_sequence',
  'modernbert_sequence',
  'gpt2_generate',
  'llama',
  't5',
  'm2m_100',
  'nllb',
  'mbart',
  'mbart_50',
  'marian',
  'marian_two_vocabularies',
];

for (const name of names) {
  test(`${name}: the library's tokens`, async () => {
    const { texts, max_length: maxLength } = expectedOf(name);
    const tokenizer = await open(tokenizerFiles(name));
    assert.ok(tokenizer.size > 20);
    for (const { text, pair, from: language, ids, offsets, sequences, truncated } of texts) {
      const options = { pair, language, ...(truncated && { maxLength }) };
      const encoding = await tokenizer.encode(text, options);
      assert.deepEqual(encoding.ids, ids, text);
      assert.equal(encoding.clipped, truncated ?? false);
      for (const [i, { id, start, end, sequence }] of encoding.tokens.entries()) {
        assert.equal(id, ids[i]);
        if (offsets?.[i] === null) assert.equal(start, end);
        else if (offsets) assert.deepEqual([start, end], offsets[i]);
        if (sequences) assert.equal(sequence, sequences[i] ?? 0);
      }
    }
  });
}

test('a tokenizer gives the tokens of its model, and decodes', async () => {
  const folder = join(root, 'weights/sentiment');
  const classifier = await load(folder, {}, Classifier);
  const tokenizer = await open(folder);
  const text = 'A gripping, beautifully shot film 🙂.';
  const { ids, tokens, clipped } = await tokenizer.encode(text);
  assert.deepEqual(tokens, (await classifier.classify(text)).tokens);
  assert.equal(clipped, false);
  assert.equal(tokenizer.size, classifier.info.vocabSize);
  const bare = await tokenizer.encode('A film.', { specialTokens: false });
  assert.equal(await tokenizer.decode(new Int32Array(bare.ids)), 'a film.');
});

test('special tokens are decoded if asked', async () => {
  const tokenizer = await open(folderOf('bert_sequence'));
  const { ids } = await tokenizer.encode('Great cast.');
  assert.equal(await tokenizer.decode(ids), 'great cast.');
  assert.equal(await tokenizer.decode(ids, { specialTokens: true }), '[CLS] great cast. [SEP]');
});

test('a translator encodes with the source vocabulary and decodes with the other', async () => {
  const name = 'marian_two_vocabularies';
  const tokenizer = await open(folderOf(name));
  const translator = await load(folderOf(name), {}, Translator);
  const { texts } = expectedOf(name);
  for (const { text, output, translation } of texts) {
    assert.equal(await tokenizer.decode(output), translation);
    const { sentences } = await translator.translate(text);
    const source = sentences[0].sourceTokens.map(({ id }) => id);
    assert.deepEqual((await tokenizer.encode(text)).ids, source);
  }
});

test('weights are neither needed nor read', async () => {
  const folder = copyOf('bert_sequence');
  rmSync(join(folder, 'model.safetensors'));
  const fetched = [];
  const events = [];
  const files = Object.fromEntries(
    readdirSync(folder).map((file) => [file, pathToFileURL(join(folder, file))]),
  );
  const watched = new Proxy(files, {
    get: (target, file) => (fetched.push(file), target[file]),
  });
  await open(watched, { onProgress: (event) => events.push(event) });
  assert.ok(fetched.includes('tokenizer.json'));
  const { overall } = events.at(-1);
  assert.equal(overall.loaded, overall.total);

  rmSync(join(folder, 'config.json'));
  const { ids } = await (await open(folder)).encode('Great cast.');
  assert.deepEqual(ids, (await opened.at(-2).encode('Great cast.')).ids);
});

test('models of unknown kinds have tokenizers, too', async () => {
  const files = tokenizerFiles('bert_sequence');
  const config = { model_type: 'of_tomorrow', quantization_config: {} };
  const unknown = { ...files, 'config.json': new TextEncoder().encode(JSON.stringify(config)) };
  const [a, b] = [await open(files), await open(unknown)];
  assert.deepEqual(await b.encode('The film'), await a.encode('The film'));
});

test('languages', async () => {
  const tokenizer = await open(folderOf('nllb'));
  assert.ok(tokenizer.info.languages.includes('deu_Latn'));
  const [english, german] = await Promise.all(
    ['eng_Latn', 'deu_Latn'].map((language) => tokenizer.encode('film', { language })),
  );
  assert.deepEqual(english.ids.slice(1), german.ids.slice(1));
  assert.notEqual(english.ids[0], german.ids[0]);
  const wrong = tokenizer.encode('film', { language: 'xx' });
  await assertError(() => wrong, 'invalid_option', /language: expected a code like/);
});

test('errors', async () => {
  const empty = copyOf('bert_sequence');
  for (const file of readdirSync(empty)) if (/token|vocab/.test(file)) rmSync(join(empty, file));
  await assertError(() => Tokenizer.load(empty), 'invalid_tokenizer');
  await assertError(
    () => Tokenizer.load(join(empty, 'none')),
    'missing_file',
    /none: no such file/,
  );
  const half = { 'source.spm': readFileSync(join(folderOf('marian'), 'source.spm')) };
  await assertError(() => Tokenizer.load(half), 'invalid_tokenizer', /vocab/);
  await assertError(() => Tokenizer.load(empty, { compute: 'f32' }), 'invalid_option', /compute/);
  const aborted = { signal: AbortSignal.abort() };
  await assertError(() => Tokenizer.load(folderOf('bert_sequence'), aborted), 'aborted');

  const tokenizer = await Tokenizer.load(folderOf('bert_sequence'));
  const refused = (call, pattern) => assertError(call, 'invalid_option', pattern);
  await refused(() => tokenizer.encode(1), /text/);
  await refused(() => tokenizer.encode('a', { pair: 1 }), /pair/);
  await refused(() => tokenizer.encode('a', { maxLength: 1 }), /maxLength: .* 2 special/);
  await refused(() => tokenizer.encode('a', { maxLength: 'x' }), /maxLength/);
  await refused(() => tokenizer.encode('a', { length: 3 }), /unknown option "length"/);
  await refused(() => tokenizer.decode([1e9]), /token id/);
  await refused(() => tokenizer.decode(['a']), /decode/);
  await refused(() => tokenizer.decode(5), /ids/);
  await assertError(() => tokenizer.encode('a', aborted), 'aborted');
  tokenizer.dispose();
  await assertError(() => tokenizer.encode('a'), 'disposed');

  const ours = await open(join(root, 'weights/en-de'));
  await assertError(() => ours.encode('a', { pair: 'b' }), 'unsupported');
});

test('a binary without tokenizers of all kinds is refused', async () => {
  const module = readFileSync(join(dist, 'glassformer.read.wasm'));
  const loading = Tokenizer.load(folderOf('bert_sequence'), { module });
  await assertError(() => loading, 'invalid_option', /module: expected glassformer.wasm/);
});
