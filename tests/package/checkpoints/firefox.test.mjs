// Firefox's translators, read unchanged: their translations equal those of Bergamot, Firefox's
// engine, for the same files. ../support/firefox_model.mjs makes the models.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { BergamotEngine } from '../../bench/bergamot.mjs';
import { firefoxModel, firefoxTexts } from '../support/firefox_model.mjs';
import { assertError, assertNear, binaries, loadTranslator, root } from '../support/helpers.mjs';
import { command } from '../../native_build.mjs';

const modelName = 'model.ende.intgemm.alphas.bin';
const shortlistName = 'lex.50.50.ende.s2t.bin';

const parent = mkdtempSync(join(tmpdir(), 'glassformer-firefox-'));
after(() => rmSync(parent, { recursive: true }));

function folderOf(name, files) {
  const folder = join(parent, name);
  mkdirSync(folder);
  for (const [file, bytes] of Object.entries(files)) writeFileSync(join(folder, file), bytes);
  return folder;
}

const texts = [...firefoxTexts(60), 'ab 77 ac', 'ab'];
const bergamot = await BergamotEngine.load();

function inBergamot(files, { kind, shortlist }) {
  const model = bergamot.model(
    {
      model: files[modelName],
      shortlist: shortlist ? files[shortlistName] : undefined,
      vocabularies: Object.entries(files)
        .filter(([name]) => name.endsWith('.spm'))
        .map(([, bytes]) => bytes),
    },
    { workspace: 32, ...(kind === 'f32' ? { 'gemm-precision': 'float32' } : {}) },
  );
  const translations = texts.map((text) => bergamot.translate(model, text));
  model.delete();
  return translations;
}

function natively(folder, ...options) {
  const input = texts.map((text) => `${text}\n`).join('');
  const output = execFileSync(command, ['translate', folder, '--json', ...options], {
    input,
    maxBuffer: 1 << 28,
  });
  return output.toString().trimEnd().split('\n').map(JSON.parse);
}

// Returns the target tokens of a shortlist: the first ones, those of each source token, the source
// tokens if there is one vocabulary, and further ones up to a multiple of eight.
function offered(file, source, shared) {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  const number = (field) => Number(view.getBigUint64(8 * field, true));
  const [frequent, offsets, header] = [number(2), number(4), 6];
  const ids = new Set(Array.from({ length: frequent }, (_, id) => id));
  for (const id of source) {
    for (let i = number(header + id); i < number(header + id + 1); ++i) {
      ids.add(view.getUint32(8 * (header + offsets) + 4 * i, true));
    }
    if (shared) ids.add(id);
  }
  for (let id = frequent; ids.size % 8 !== 0; ++id) ids.add(id);
  return [...ids];
}

// Returns the lead of the best of these tokens in the step where two translations first differ.
function marginWhereTheyPart({ text, sentences: [{ trace }] }, other, ids) {
  const [own, others] = [words(text), words(other)];
  const step = own.findIndex((word, i) => word !== others[i]);
  const { shape, data } = trace.logits;
  const row = step < 0 ? own.length : step;
  const written = ids.filter((id) => id !== 1); // without the unknown token
  const logits = Float32Array.from(written, (id) => data[row * shape[1] + id]);
  const [best, next] = logits.sort().reverse();
  return best - next;
}

const words = (text) => text.split(' ');

for (const kind of ['f32', 'int8']) {
  for (const shared of [true, false]) {
    const name = `${kind}, ${shared ? 'one vocabulary' : 'two vocabularies'}`;
    const files = firefoxModel({ kind, shared });
    const folder = folderOf(name, files);

    for (const shortlist of [false, true]) {
      const expected = inBergamot(files, { kind, shortlist });
      const options = shortlist ? ['--shortlist'] : [];
      test(`${name}${shortlist ? ', shortlist' : ''}: equals Bergamot’s translation`, async () => {
        const results = [];
        for (const binary of binaries) {
          const translator = await loadTranslator(folder, { binary, shortlist });
          assert.equal(translator.info.compute, kind);
          const all = await translator.translateBatch(texts, { trace: ['logits'] });
          const same = all.filter(({ text }, i) => text === expected[i]);
          assert.ok(same.length > texts.length / 3, `${same.length} are the same`);
          for (const [i, result] of all.entries()) {
            if (result.text === expected[i]) continue;
            const source = result.sentences[0].sourceTokens.map(({ id }) => id);
            const ids = shortlist
              ? offered(files[shortlistName], source, shared)
              : Array.from({ length: result.sentences[0].trace.logits.shape[1] }, (_, id) => id);
            const margin =
              kind === 'f32' ? Infinity : marginWhereTheyPart(result, expected[i], ids);
            assert.ok(margin < 0.05, `${binary}, ${margin}: ${result.text} for ${expected[i]}`);
          }
          results.push(all.map(({ text }) => text));
        }
        assert.deepEqual(results.at(-1), results[0]);
        const native = natively(folder, ...options).map(({ text }) => text);
        assert.deepEqual(native, results[0]);
        // The sentences are a real test: most end by themselves after many words.
        const most = (text) => 2 * (words(text).length + 1);
        const ended = expected.filter((text, i) => words(text).length < most(texts[i]));
        assert.ok(ended.length >= texts.length / 2, `${ended.length} ended`);
        assert.ok(new Set(expected.flatMap(words)).size > 20);
      });
    }
  }
}

const files = firefoxModel();
const load = (changes = {}, options = {}) => loadTranslator({ ...files, ...changes }, options);

test('it has the attention of the encoder and cross-attention, and no other', async () => {
  const translator = await load();
  const { info } = translator;
  assert.deepEqual([info.sourceLanguage, info.targetLanguage], ['en', 'de']);
  assert.deepEqual([info.layers, info.heads, info.decoderLayers], [2, 8, 2]);
  const text = 'ab ac ad';
  const all = { attention: true, hypotheses: true, trace: ['decoder.layers.*.self_attn.*'] };
  for (const beams of [1, 3]) {
    const { sentences } = await translator.translate(text, { beams, ...all });
    const { attention, tokens, trace, hypotheses } = sentences[0];
    assert.deepEqual(Object.keys(attention).sort(), ['cross', 'encoder']);
    assert.deepEqual([attention.cross.queries, attention.cross.keys], [tokens.length, 4]);
    assert.equal(hypotheses.length, beams);
    assert.deepEqual(Object.keys(trace), [
      ...[0, 1].flatMap((layer) =>
        ['candidate', 'gate', 'state', 'output', 'residual'].map(
          (part) => `decoder.layers.${layer}.self_attn.${part}`,
        ),
      ),
    ]);
    // The state mixes the previous state with the candidate.
    const of = (part) => trace[`decoder.layers.1.self_attn.${part}`].data;
    const width = 64;
    const state = of('state').map((_, i) => {
      const before = i < width ? 0 : of('state')[i - width];
      return of('gate')[i] * before + (1 - of('gate')[i]) * of('candidate')[i];
    });
    assertNear(state, of('state'), 1e-5, 'state');
    assert.deepEqual(
      of('output'),
      of('state').map((value) => Math.max(value, 0)),
    );
  }
});

test('the folder’s search is greedy, and beams share states', async () => {
  const translator = await load();
  for (const text of texts.slice(0, 8)) {
    const { sentences } = await translator.translate(text, { hypotheses: true });
    assert.equal(sentences[0].hypotheses.length, 1);
    // Forcing the result of four beams gives the same score.
    const four = await translator.translate(text, { beams: 4, hypotheses: true });
    for (const { tokens, score } of four.sentences[0].hypotheses) {
      const prefixes = [tokens.map(({ id }) => id)];
      const forced = await translator.translate(text, { prefixes });
      assert.deepEqual(
        forced.sentences[0].tokens.map(({ id }) => id),
        prefixes[0],
      );
      assertNear([forced.score], [score], 1e-5, 'score');
    }
  }
});

test('a stream shows each step, and a patched state changes later tokens', async () => {
  const translator = await load();
  const all = await translator.translateBatch(texts);
  const text = texts[all.findIndex((result) => words(result.text).length > 4)];
  const whole = await translator.translate(text, { attention: true });
  let steps = 0;
  for await (const step of translator.stream(text, { attention: true })) {
    if (step.done) assert.equal(step.text, whole.text);
    else {
      assert.equal(step.attention.decoder, undefined);
      assert.equal(step.attention.cross.queries, 1);
      ++steps;
    }
  }
  assert.ok(steps > 2);
  const name = 'decoder.layers.0.self_attn.state';
  const patch = [{ name, tokens: [1], value: 3 }];
  const asked = { patch, trace: [name], maxLength: 4, prefixes: [[5, 6, 7]] };
  const { sentences } = await translator.translate(text, asked);
  const { data } = sentences[0].trace[name];
  const before = await translator.translate(text, { ...asked, patch: [] });
  const untouched = before.sentences[0].trace[name].data;
  assert.deepEqual(data.slice(0, 64), untouched.slice(0, 64));
  assert.deepEqual(data.slice(64, 128), new Float32Array(64).fill(3));
  assert.notDeepEqual(data.slice(128, 192), untouched.slice(128, 192));
});

test('URLs, Blobs and a folder give the same', async () => {
  const text = texts[3];
  const expected = await (await load()).translate(text);
  const folder = folderOf('converted-from', files);
  const blobs = Object.entries(files).map(([name, bytes]) => [name, new Blob([bytes])]);
  const urls = Object.keys(files).map((name) => [name, pathToFileURL(join(folder, name))]);
  for (const source of [Object.fromEntries(blobs), Object.fromEntries(urls), folder]) {
    assert.deepEqual(await (await loadTranslator(source)).translate(text), expected);
  }
  const converted = join(parent, 'converted');
  execFileSync(command, ['convert', folder, converted], { stdio: 'ignore' });
  const own = await loadTranslator(converted);
  assert.equal(own.info.compute, 'int8');
  assert.deepEqual(await own.translate(text), expected);
  const inspected = execFileSync(command, ['inspect', folder]).toString();
  assert.match(inspected, /"decoder_attention": "recurrent"/);
  assert.match(inspected, /encoder_l1_self_Wq +I8 +\[64, 64\]/);
});

test('unsupported options and files are refused with the cure', async () => {
  const translator = await load();
  const ablate = [{ attention: 'decoder', layer: 0, head: 0 }];
  await assertError(translator.translate('ab', { ablate }), 'unsupported', /recurrent unit/);
  const trace = ['decoder.layers.0.self_attn.weights'];
  await assertError(translator.translate('ab', { trace }), 'invalid_option', /self_attn\.gate/);
  const without = (pattern) =>
    Object.fromEntries(Object.entries(files).filter(([name]) => !pattern.test(name)));
  await assertError(loadTranslator(without(/spm$/)), 'missing_file', /srcvocab/);
  await assertError(
    loadTranslator(without(/^lex/), { shortlist: true }),
    'missing_file',
    /shortlist/,
  );
  await assertError(
    loadTranslator({ ...without(/^model/), [`${modelName}.gz`]: files[modelName] }),
    'unsupported',
    /gunzip/,
  );
  await assertError(load({ 'model.enfr.bin': files[modelName] }), 'unsupported', /own folder/);
  const changed = (from, to) => {
    const bytes = Buffer.from(files[modelName]);
    const at = bytes.indexOf(from);
    assert.ok(at > 0, from);
    bytes.write(to.padEnd(from.length), at);
    return { [modelName]: bytes };
  };
  const other = changed('transformer-decoder-autoreg: rnn', 'transformer-decoder-autoreg: aan');
  await assertError(load(other), 'unsupported', /autoreg.*"rnn".*"aan".*convert_marian/);
  const preNorm = changed('transformer-preprocess: ""', 'transformer-preprocess: n');
  await assertError(load(preNorm), 'unsupported', /transformer-preprocess/);
  const named = changed('encoder_l1_self_Wq\0', 'encoder_l1_self_Wz\0');
  await assertError(load(named), 'missing_tensor', /encoder_l1_self_Wq/);
  for (const length of [0, 15, 100, 20_000, files[modelName].length - 1]) {
    const cut = { [modelName]: files[modelName].subarray(0, length) };
    await assertError(load(cut), 'invalid_weights', /model\.bin/);
  }
});
