// Wrong or extreme texts, options and model folders: each gives a typed error or a defined result,
// and the next call works.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  Classifier,
  Translator,
  assertError,
  binaries,
  goldenFolder,
  loadTranslator,
  plain,
  readGolden,
  readModel,
  serve,
  shortlistFile,
} from '../support/helpers.mjs';

const name = 'translate_pre_norm_shared';
const folder = goldenFolder(name);
const split = 'translate_tutorial_separate';
const text = readGolden(name).texts[0];

async function drain(stream) {
  let last;
  for await (const step of stream) last = step;
  return last;
}

for (const binary of binaries) {
  const translator = await loadTranslator(folder, { binary });
  const expected = await translator.translate(text);
  const stillWorks = async () => assert.deepEqual(await translator.translate(text), expected);

  test(`${binary}: texts without tokens`, async () => {
    for (const empty of ['', ' ', '\n\t \r\n', ' '.repeat(1 << 20)]) {
      await assertError(() => translator.translate(empty), 'empty_input');
      await assertError(() => drain(translator.stream(empty)), 'empty_input');
      await stillWorks();
    }
    const batch = [...Array(20).fill('a'), ''];
    await assertError(() => translator.translateBatch(batch), 'empty_input', /texts\[20\]/);
    await stillWorks();
  });

  test(`${binary}: a text of only unknown characters is translated`, async () => {
    for (const unknown of ['日本語', '🎬🎬', '☃', '\ud83c', '\udfac\ud83c', 'a\u0000b', '\uffff']) {
      const { text: output, sentences } = await translator.translate(unknown);
      assert.equal(typeof output, 'string');
      assert.ok(output.isWellFormed?.() ?? true);
      for (const { sourceTokens } of sentences) {
        for (const { start, end } of sourceTokens) {
          assert.ok(start <= end && end <= unknown.length);
        }
      }
      assert.equal((await drain(translator.stream(unknown)))?.text ?? '', await greedy(unknown));
      await stillWorks();
    }
  });
  const greedy = async (input) => (await translator.translate(input, { beams: 1 })).text;

  test(`${binary}: a text over the model's limit is cut between words`, async () => {
    const { maxSourceLength } = translator.info;
    const long = 'not good at all, never again '.repeat(30).trim();
    const { sentences, text: output } = await translator.translate(long, { beams: 1 });
    assert.ok(sentences.length > 1);
    let at = 0;
    for (const { start, end, clipped, sourceTokens } of sentences) {
      assert.equal(clipped, false);
      assert.ok(sourceTokens.length <= maxSourceLength);
      assert.equal(long.slice(at, start).trim(), '');
      at = end;
    }
    assert.equal(at, long.length);
    assert.equal((await drain(translator.stream(long))).text, output);
    await stillWorks();
  });

  test(`${binary}: a word over the model's limit is clipped and marked as such`, async () => {
    const { sentences } = await translator.translate('ab'.repeat(500), { beams: 1 });
    assert.ok(sentences.length >= 1 && sentences.some(({ clipped }) => clipped));
    for (const { sourceTokens } of sentences) {
      assert.ok(sourceTokens.length <= translator.info.maxSourceLength);
    }
    await stillWorks();
  });

  test(`${binary}: texts that are not strings`, async () => {
    for (const wrong of [undefined, null, 7, ['a'], { text: 'a' }, new String('a')]) {
      await assertError(() => translator.translate(wrong), 'invalid_option', /text/);
      await assertError(() => drain(translator.stream(wrong)), 'invalid_option', /text/);
    }
    for (const wrong of [undefined, 'abc', [1], ['a', null], [, 'a'], new Set(['a'])]) {
      await assertError(() => translator.translateBatch(wrong), 'invalid_option', /texts/);
    }
    await stillWorks();
  });

  test(`${binary}: with a shortlist, a translation has only tokens that its source offers`, async () => {
    const { vocabSize } = translator.info;
    const offered = [5, 8, 13, 21, 34, 55];
    const files = { ...readModel(name), 'shortlist.bin': shortlistFile(vocabSize, offered) };
    const listing = await loadTranslator(files, { binary, shortlist: true });
    const { sentences } = await listing.translate(text, { hypotheses: true });
    for (const { sourceTokens, tree } of sentences) {
      const end = sourceTokens.at(-1).id; // one vocabulary: source tokens may be copied
      const possible = new Set([...offered, end, ...sourceTokens.map(({ id }) => id)]);
      assert.deepEqual(
        tree.slice(1).filter(({ id }) => !possible.has(id)),
        [],
      );
      assert.ok(tree.length > 4);
    }
    // Without the option, the file is not read.
    const plain = await loadTranslator(
      { ...files, 'shortlist.bin': new Uint8Array(3) },
      { binary },
    );
    assert.deepEqual(await plain.translate(text), expected);
  });

  test(`${binary}: a shortlist that is missing, damaged or another model's`, async () => {
    const files = readModel(name);
    const { vocabSize } = translator.info;
    const attempt = (bytes) =>
      Translator.load(
        { ...files, ...(bytes && { 'shortlist.bin': bytes }) },
        { binary, shortlist: true },
      );
    await assertError(() => attempt(), 'missing_file', /shortlist\.bin/);
    await assertError(() => attempt(new Uint8Array()), 'invalid_shortlist', /at least 48, got 0/);
    await assertError(() => attempt(new Uint8Array(60)), 'invalid_shortlist', /magic number/);
    const other = shortlistFile(vocabSize - 1, [5]);
    await assertError(() => attempt(other), 'invalid_shortlist', /offsets: expected/);
    const wrong = shortlistFile(vocabSize, [1e6]);
    await assertError(() => attempt(wrong), 'invalid_shortlist', /candidate/);
    await assertError(
      () => Translator.load(folder, { binary, shortlist: 'yes' }),
      'invalid_option',
      /shortlist/,
    );
    await assertError(() => Classifier.load(folder, { shortlist: true }), 'invalid_option');
    await stillWorks();
  });

  test(`${binary}: options are checked`, async () => {
    const head = { attention: 'cross', layer: 0, head: 0 };
    const shared = [
      [{ attention: 'yes' }, /attention/],
      [{ alignment: 1 }, /alignment/],
      [{ alignment: { layer: 2 } }, /layer/],
      [{ alignment: { layer: -1 } }, /layer/],
      [{ alignment: { heads: [4] } }, /heads/],
      [{ alignment: { heads: 0 } }, /heads/],
      [{ alignment: { head: 0 } }, /head/],
      [{ maxLength: 0 }, /maxLength/],
      [{ maxLength: 1.5 }, /maxLength/],
      [{ maxLength: NaN }, /maxLength/],
      [{ ablate: head }, /ablate/],
      [{ ablate: [{ ...head, attention: 'self' }] }, /attention/],
      [{ ablate: [{ layer: 0, head: 0 }] }, /attention/],
      [{ ablate: [{ ...head, layer: 2 }] }, /layer 2/],
      [{ ablate: [{ ...head, head: 99 }] }, /head/],
      [{ signal: 'stop' }, /signal/],
      [{ stream: true }, /unknown option "stream"/],
      [{ attention: 2n }, /plain data/],
      ['attention', /expected an object/],
      [null, /expected an object/],
    ];
    for (const [options, message] of [
      ...shared,
      [{ beams: 0 }, /beams/],
      [{ beams: 65 }, /beams/],
      [{ beams: 1000 }, /beams/],
      [{ beams: -1 }, /beams/],
      [{ beams: 2.5 }, /beams/],
      [{ beams: '4' }, /beams/],
      [{ lengthPenalty: -1 }, /lengthPenalty/],
      [{ lengthPenalty: 'a' }, /lengthPenalty/],
      [{ hypotheses: 3 }, /hypotheses/],
      [{ maskTokens: [1] }, /maskTokens: expected an array of arrays/],
      [{ maskTokens: [['a']] }, /maskTokens: expected positions of tokens/],
      [{ maskTokens: [[999]] }, /maskTokens: expected positions below/],
    ]) {
      await assertError(() => translator.translate(text, options), 'invalid_option', message);
      await assertError(() => translator.translateBatch(['a'], options), 'invalid_option', message);
      await stillWorks();
    }
    for (const [options, message] of [
      ...shared,
      [{ beams: 1 }, /unknown option "beams"/],
      [{ hypotheses: true }, /unknown option "hypotheses"/],
      [{ maskTokens: [[0]] }, /unknown option "maskTokens"/],
    ]) {
      const call = () => drain(translator.stream(text, options));
      await assertError(call, 'invalid_option', message);
      await stillWorks();
    }
    const { sentences } = await translator.translate(text, { beams: 64, hypotheses: true });
    assert.ok(sentences[0].hypotheses.length <= 64 && sentences[0].tree.length > 64);
  });

  test(`${binary}: a model of the wrong task`, async () => {
    const wrong = () => Translator.load(goldenFolder('pre_norm_mean'), { binary });
    await assertError(wrong, 'wrong_task', /translation/);
    for (const other of [name, split]) {
      const load = () => Classifier.load(goldenFolder(other), { binary });
      await assertError(load, 'wrong_task', /classification/);
    }
    // The error comes before the weights arrive.
    const server = await serve(folder, {
      '/model.safetensors'(response, request) {
        const bytes = readModel(name)['model.safetensors'];
        response.writeHead(200);
        response.write(bytes.subarray(0, bytes.length / 2)); // and no more
        request.socket.unref();
      },
    });
    await assertError(() => Classifier.load(server.url, { binary }), 'wrong_task');
  });

  test(`${binary}: one vocabulary per language`, async () => {
    const model = await loadTranslator(goldenFolder(split), { binary });
    const result = await model.translate(text);
    const fromBytes = await loadTranslator(readModel(split), { binary });
    assert.deepEqual(await fromBytes.translate(text), result);
    const server = await serve(goldenFolder(split));
    const fetched = await loadTranslator(server.url, { binary });
    assert.deepEqual(await fetched.translate(text), result);
    const urls = { 'target.model': `${server.url}/target.model` };
    await loadTranslator(goldenFolder(split), { binary, urls });

    const { 'target.model': _, ...files } = readModel(split);
    await assertError(() => Translator.load(files), 'missing_file', /target\.model/);
    delete files['source.model'];
    await assertError(() => Translator.load(files), 'missing_file', /tokenizer\.model/);
    const other = { ...readModel(split), 'target.model': readModel(name)['tokenizer.model'] };
    await assertError(() => Translator.load(other), 'invalid_tokenizer', /target_vocab_size/);
    const broken = { ...readModel(split), 'source.model': new Uint8Array(3).fill(255) };
    await assertError(() => Translator.load(broken), 'invalid_tokenizer');
  });

  test(`${binary}: damaged configurations`, async () => {
    const spoiled = (change) => () => {
      const files = readModel(name);
      const config = JSON.parse(new TextDecoder().decode(files['config.json']));
      Object.assign(config, change);
      files['config.json'] = new TextEncoder().encode(JSON.stringify(config));
      return Translator.load(files, { binary });
    };
    for (const [change, code, message] of [
      [{ start_token: '<start>' }, 'invalid_config', /start_token/],
      [{ end_token: '' }, 'invalid_config', /end_token/],
      [{ decoder_layers: 3 }, 'missing_tensor', /decoder\.layers\.2/],
      [{ decoder_layers: 1 }, 'unexpected_tensor', /decoder\.layers\.1/],
      [{ decoder_layers: 0 }, 'invalid_config', /decoder_layers/],
      [{ target_vocab_size: 90 }, 'invalid_config', /target_vocab_size/],
      [{ embeddings: 'tied' }, /missing_tensor|unexpected_tensor/, /embed_tokens/],
      [{ lm_head_bias: false }, 'unexpected_tensor', /lm_head\.bias/],
      [{ labels: ['a'] }, 'invalid_config', /labels/],
    ]) {
      await assert.rejects(spoiled(change), (error) => {
        assert.match(error.code, new RegExp(code));
        assert.match(error.message, message);
        return true;
      });
      await stillWorks();
    }
  });
}
