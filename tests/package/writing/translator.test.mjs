// The results of a translator, for any model.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  assertNear,
  binaries,
  goldenFolder,
  hasSelfAttention,
  loadTranslator,
  plain,
  randomModel,
  readGolden,
  root,
  translationGoldenNames,
} from '../support/helpers.mjs';

const name = 'translate_pre_norm_shared';
const folder = goldenFolder(name);
const { texts } = readGolden(name);
const twoSentences = '  Not good at all. \n\nA gripping film!\t';
const everything = { attention: true, alignment: true, hypotheses: true };

// Random weights and a vocabulary with pieces for single bytes: most outputs are not valid UTF-8.
const bytes = randomModel(
  {
    format: 1,
    model_type: 'encoder_decoder',
    task: 'translation',
    source_language: 'en',
    target_language: 'de',
    source_vocab_size: 600,
    target_vocab_size: 600,
    embeddings: 'separate',
    d_model: 32,
    d_ff: 64,
    n_heads: 4,
    encoder_layers: 2,
    decoder_layers: 2,
    max_source_length: 64,
    max_target_length: 64,
    positions: 'sinusoidal',
    scale_embedding: true,
    norm: 'pre',
    layer_norm: 'standard',
    layer_norm_eps: 1e-5,
    final_norm: true,
    attention: 'full',
    attention_bias: true,
    activation: 'relu',
    lm_head_bias: true,
    prefix_tokens: [],
    suffix_tokens: ['</s>'],
    start_token: '<s>',
    end_token: '</s>',
  },
  `${root}tests/fixtures/data/tokenizer/bpe_bytes.model`,
);

// Returns the greedy output up to the place where ours may differ: PyTorch's may have the unknown
// token, and has no protection against loops.
function commonPart(ids, unknown = 0) {
  const repeats = (end) => {
    for (let n = 1; n <= 4; n++) {
      const run = ids.slice(Math.max(0, end - 5 * n), end);
      if (run.length === 5 * n && run.every((id, i) => id === run[i % n])) return true;
    }
    return false;
  };
  const end = ids.findIndex((id, index) => id === unknown || repeats(index + 1));
  return end < 0 ? ids : ids.slice(0, end);
}

async function collect(stream) {
  const steps = [];
  for await (const step of stream) steps.push(step);
  return steps;
}

for (const binary of binaries) {
  const translator = await loadTranslator(folder, { binary });
  const { layers, heads, decoderLayers } = translator.info;

  test(`${binary}: info describes the model`, () => {
    const { heads: _, dModel, parameters, ...rest } = translator.info;
    assert.deepEqual(rest, {
      task: 'translation',
      sourceLanguage: 'en',
      targetLanguage: 'de',
      languages: [],
      layers: 2,
      decoderLayers: 2,
      vocabSize: 80,
      targetVocabSize: 80,
      maxSourceLength: 64,
      maxTargetLength: 48,
      ignoredTensors: [],
      compute: 'f32',
      backend: binary ? 'wasm' : 'native',
      binary,
      threads: 1,
    });
    assert.ok(parameters > dModel * 80);
  });

  for (const golden of translationGoldenNames) {
    test(`${binary}: PyTorch's answers, ${golden}`, async () => {
      const { texts, ids, greedy, tensors, tolerance } = readGolden(golden);
      const model = await loadTranslator(goldenFolder(golden), { binary });
      for (const [s, text] of texts.entries()) {
        const { sentences } = await model.translate(text, { beams: 1, attention: true });
        assert.equal(sentences.length, 1);
        const [{ tokens, sourceTokens, attention }] = sentences;
        assert.deepEqual(
          sourceTokens.map((token) => token.id),
          ids[s],
        );
        const expected = commonPart(greedy[s].ids);
        assert.deepEqual(
          tokens.slice(0, expected.length).map((token) => token.id),
          expected,
        );
        const attentionName = `encoder_attention.${s}`;
        const { data } = tensors[attentionName];
        assertNear(attention.encoder.data, data, tolerance[attentionName][0], attentionName);
        assert.equal(attention.decoder !== undefined, hasSelfAttention(golden));
      }
    });
  }

  test(`${binary}: a result has every requested field, and no other`, async () => {
    const bare = await translator.translate(texts[0]);
    assert.deepEqual(Object.keys(bare).sort(), ['score', 'sentences', 'text']);
    const fields = [
      'clipped',
      'end',
      'score',
      'sourceTokens',
      'start',
      'targetEnd',
      'targetStart',
      'text',
      'tokens',
    ];
    assert.deepEqual(Object.keys(bare.sentences[0]).sort(), fields);
    const full = await translator.translate(texts[0], everything);
    assert.deepEqual(
      Object.keys(full.sentences[0]).sort(),
      [...fields, 'alignment', 'attention', 'hypotheses', 'tree'].sort(),
    );
    for (const token of full.sentences[0].tokens) {
      assert.deepEqual(Object.keys(token).sort(), ['end', 'id', 'logprob', 'start', 'text']);
      assert.ok(token.logprob <= 0);
    }
  });

  test(`${binary}: showing attention changes no number`, async () => {
    for (const beams of [1, 3]) {
      for (const text of [...texts, twoSentences]) {
        const bare = await translator.translate(text, { beams });
        const full = await translator.translate(text, { ...everything, beams });
        for (const sentence of full.sentences) {
          for (const name of ['attention', 'alignment', 'hypotheses', 'tree']) {
            assert.ok(name in sentence);
            delete sentence[name];
          }
        }
        assert.deepEqual(full, bare);
      }
    }
  });

  test(`${binary}: sentences are ranges of both texts, and the spaces between them stay`, async () => {
    const { text, score, sentences } = await translator.translate(twoSentences);
    assert.deepEqual(
      sentences.map(({ start, end }) => twoSentences.slice(start, end)),
      ['Not good at all.', 'A gripping film!'],
    );
    const between = [
      text.slice(0, sentences[0].targetStart),
      text.slice(sentences[0].targetEnd, sentences[1].targetStart),
      text.slice(sentences[1].targetEnd),
    ];
    assert.deepEqual(between, ['  ', ' \n\n', '\t']);
    const count = sentences.map(({ tokens }) => tokens.length);
    assertNear(
      [score],
      [(sentences[0].score * count[0] + sentences[1].score * count[1]) / (count[0] + count[1])],
      1e-5,
      'score',
    );
    for (const sentence of sentences) {
      assert.equal(text.slice(sentence.targetStart, sentence.targetEnd), sentence.text);
      const { tokens, sourceTokens, start, end } = sentence;
      for (const [list, first, last] of [
        [tokens, sentence.targetStart, sentence.targetEnd],
        [sourceTokens, start, end],
      ]) {
        let at = first;
        for (const token of list) {
          assert.ok(at <= token.start && token.start <= token.end && token.end <= last);
          at = token.end;
        }
        assert.equal(at, last);
      }
      const sum = tokens.reduce((total, { logprob }) => total + logprob, 0);
      assertNear([sentence.score], [sum / tokens.length], 1e-5, 'score');
    }
  });

  test(`${binary}: attention rows sum to 1, and no token reads later ones`, async () => {
    const { sentences } = await translator.translate(twoSentences, { attention: true });
    for (const { attention, tokens, sourceTokens } of sentences) {
      const sizes = {
        encoder: [layers, sourceTokens.length, sourceTokens.length],
        decoder: [decoderLayers, tokens.length, tokens.length],
        cross: [decoderLayers, tokens.length, sourceTokens.length],
      };
      assert.deepEqual(Object.keys(attention), Object.keys(sizes));
      for (const [kind, map] of Object.entries(attention)) {
        assert.deepEqual([map.layers, map.queries, map.keys], sizes[kind]);
        assert.equal(map.heads, heads);
        assert.equal(map.data.buffer.byteLength, map.layers * heads * map.queries * map.keys * 4);
        for (let layer = 0; layer < map.layers; layer++) {
          for (let head = 0; head < heads; head++) {
            const one = map.at(layer, head);
            for (let query = 0; query < map.queries; query++) {
              const row = one.subarray(query * map.keys, (query + 1) * map.keys);
              assertNear([row.reduce((a, b) => a + b)], [1], 1e-5, `${kind}: sum of a row`);
              if (kind === 'decoder') assert.ok(row.subarray(query + 1).every((x) => x === 0));
            }
          }
        }
      }
    }
  });

  test(`${binary}: an alignment links words of both texts`, async () => {
    const options = { alignment: { layer: 0, heads: [1, 2] } };
    const { text, sentences } = await translator.translate(twoSentences, options);
    for (const { alignment, start, end, targetStart, targetEnd, attention } of sentences) {
      assert.equal(attention, undefined);
      assert.ok(alignment.length > 0);
      for (const { target, source, weight } of alignment) {
        assert.ok(targetStart <= target.start && target.start < target.end);
        assert.ok(target.end <= targetEnd);
        assert.equal(
          text.slice(target.start, target.end).trim(),
          text.slice(target.start, target.end),
        );
        assert.ok(start <= source.start && source.start < source.end && source.end <= end);
        assert.match(twoSentences.slice(source.start, source.end), /^(\w+|[^\w\s]+)$/);
        assert.ok(weight > 0 && weight <= 1 + 1e-5);
      }
    }
    const [other] = (await translator.translate(twoSentences, { alignment: true })).sentences;
    assert.notDeepEqual(other.alignment, sentences[0].alignment);
  });

  test(`${binary}: hypotheses are sorted, and are paths of the tree`, async () => {
    const { sentences } = await translator.translate(texts[0], { ...everything, beams: 5 });
    const [{ hypotheses, tree, text, score, tokens }] = sentences;
    assert.ok(hypotheses.length > 1 && hypotheses.length <= 5);
    assert.deepEqual(hypotheses[0], { text, score, tokens });
    assert.equal(new Set(hypotheses.map((one) => one.tokens.map(({ id }) => id).join())).size, 5);
    assert.equal(tree[0].parent, 0);
    for (const [index, { parent, total, logprob }] of tree.entries()) {
      if (index === 0) continue;
      assert.ok(parent < index && tree[parent].kept);
      assertNear([total], [tree[parent].total + logprob], 1e-5, 'total');
    }
    for (const [index, hypothesis] of hypotheses.entries()) {
      if (index > 0) assert.ok(hypothesis.score <= hypotheses[index - 1].score);
      let node = 0;
      for (const { id } of hypothesis.tokens) {
        node = tree.findIndex((one, i) => i > 0 && one.parent === node && one.id === id);
        assert.ok(node > 0 && tree[node].kept);
      }
    }
  });

  test(`${binary}: tokens form the text, with a space before each word`, async () => {
    const reads = (tokens, text) => {
      const joined = tokens.map((token) => token.text).join('');
      assert.equal(joined.trimStart().replace(/<\/s>$/, ''), text);
    };
    const { sentences } = await translator.translate(texts[0], everything);
    const [{ sourceTokens, hypotheses, tree }] = sentences;
    assert.equal(sourceTokens[0].text, ' a');
    assert.equal(sourceTokens.at(-1).text, '</s>');
    reads(sourceTokens, texts[0]);
    for (const { tokens, text } of hypotheses) reads(tokens, text);
    assert.equal(tree[0].text, '<s>');
    const spelling = new Map(hypotheses[0].tokens.map(({ id, text }) => [id, text]));
    for (const { id, text } of tree) assert.equal(text, spelling.get(id) ?? text);
    const steps = await collect(translator.stream(texts[0]));
    reads(
      steps.flatMap(({ token }) => token ?? []),
      steps.at(-1).text,
    );
  });

  test(`${binary}: a batch equals its texts one by one`, async () => {
    const many = [...texts, twoSentences, ...Array(30).fill(texts[0]), 'good '.repeat(80)];
    const batch = await translator.translateBatch(many, everything);
    assert.equal(batch.length, many.length);
    for (const [index, text] of many.entries()) {
      assert.deepEqual(plain(batch[index]), plain(await translator.translate(text, everything)));
    }
    assert.deepEqual(await translator.translateBatch([]), []);
  });

  test(`${binary}: results do not change in later calls`, async () => {
    const result = await translator.translate(texts[0], everything);
    const steps = await collect(translator.stream(texts[0], { attention: true }));
    const copy = structuredClone(plain([result, steps]));
    await translator.translate('b '.repeat(500), everything);
    await translator.translate(texts[1], everything);
    assert.deepEqual(plain([result, steps]), copy);
  });

  test(`${binary}: every kind of head can be ablated, for one call`, async () => {
    const bare = plain(await translator.translate(texts[0], everything));
    const last = { encoder: layers, decoder: decoderLayers, cross: decoderLayers };
    const seen = [bare.sentences[0].score];
    for (const [attention, count] of Object.entries(last)) {
      const ablate = [{ attention, layer: count - 1, head: heads - 1 }];
      const [{ score }] = (await translator.translate(texts[0], { ablate })).sentences;
      assert.ok(!seen.includes(score));
      seen.push(score);
      assert.deepEqual(
        (await collect(translator.stream(texts[0], { ablate }))).at(-1).result,
        await translator.translate(texts[0], { ablate, beams: 1 }),
      );
    }
    assert.deepEqual(plain(await translator.translate(texts[0], everything)), bare);
    const empty = { ablate: [], attention: false, signal: undefined, maxLength: undefined };
    assert.equal((await translator.translate(texts[0], empty)).score, bare.score);
  });

  test(`${binary}: maxLength and lengthPenalty`, async () => {
    const { sentences } = await translator.translate(twoSentences, { maxLength: 3 });
    for (const { tokens } of sentences) assert.ok(tokens.length <= 3);
    const [one] = (await translator.translate(texts[0], { beams: 1, lengthPenalty: 0 })).sentences;
    const sum = one.tokens.reduce((total, { logprob }) => total + logprob, 0);
    assertNear([one.score], [sum], 1e-4, 'score');
  });

  test(`${binary}: a stream is the greedy translation, one token at a time`, async () => {
    for (const model of [translator, await loadTranslator(bytes, { binary })]) {
      for (const text of [...texts, twoSentences, 'Grüße, 日本! 🎬?']) {
        const greedy = await model.translate(text, { beams: 1, attention: true });
        const stream = model.stream(text, { attention: true });
        const steps = [];
        let next = await stream.next();
        for (; !next.done; next = await stream.next()) steps.push(next.value);
        const last = steps.pop();
        assert.deepEqual(Object.keys(last).sort(), ['done', 'result', 'text']);
        assert.equal(last.done, true);
        assert.equal(last.text, greedy.text);
        assert.deepEqual(plain(last.result), plain(greedy));
        assert.equal(next.value, last.result);

        // A sentence's end token has no step.
        const tokensOf = ({ tokens }) =>
          tokens.at(-1).text === '</s>' ? tokens.slice(0, -1) : tokens;
        assert.deepEqual(
          steps.map(({ sentence }) => sentence.index),
          greedy.sentences.flatMap((sentence, index) => tokensOf(sentence).map(() => index)),
        );
        let before = '';
        for (const { text: now, token, done } of steps) {
          assert.equal(done, false);
          assert.ok(now.startsWith(before), `${JSON.stringify(before)}, ${JSON.stringify(now)}`);
          assert.ok(now.isWellFormed?.() ?? true);
          // Bytes add no text until a character is complete.
          const grew = now.slice(before.length).trim() !== '';
          assert.ok(grew || token.start === token.end, `"${token.text}" after "${before}"`);
          before = now;
        }
        assert.ok(greedy.text.startsWith(before));

        let first = 0;
        for (const [index, whole] of greedy.sentences.entries()) {
          const tokens = tokensOf(whole);
          const own = steps.slice(first, (first += tokens.length));
          for (const [row, { token, sentence, attention }] of own.entries()) {
            assert.deepEqual([token.id, token.logprob], [tokens[row].id, tokens[row].logprob]);
            assert.equal(token.start, tokens[row].start);
            assert.equal(sentence, own[0].sentence);
            const { start, end, targetStart, sourceTokens } = whole;
            assert.deepEqual(sentence, { index, start, end, targetStart, sourceTokens });
            assert.equal(attention.encoder, own[0].attention.encoder);
            assert.deepEqual(plain(attention.encoder), plain(whole.attention.encoder));
            for (const kind of ['decoder', 'cross']) {
              const map = attention[kind];
              const keys = kind === 'cross' ? sourceTokens.length : row + 1;
              assert.deepEqual([map.layers, map.queries, map.keys], [2, 1, keys]);
              const all = whole.attention[kind];
              const at = row * all.keys;
              for (let layer = 0; layer < map.layers; layer++) {
                for (let head = 0; head < map.heads; head++) {
                  const expected = all.at(layer, head).subarray(at, at + keys);
                  assert.deepEqual(map.at(layer, head), expected);
                }
              }
            }
          }
        }
      }
    }
  });

  test(`${binary}: a stream without attention has none`, async () => {
    const steps = await collect(translator.stream(texts[0]));
    const { result } = steps.pop();
    for (const step of steps) {
      assert.deepEqual(Object.keys(step).sort(), ['done', 'sentence', 'text', 'token']);
    }
    assert.deepEqual(result, await translator.translate(texts[0], { beams: 1 }));
  });
}

test('the binaries agree', async () => {
  const [simd, relaxed] = await Promise.all(
    ['simd', 'relaxed'].map(async (binary) =>
      (await loadTranslator(folder, { binary })).translateBatch(texts),
    ),
  );
  for (const [index, one] of simd.entries()) {
    assert.equal(one.text, relaxed[index].text);
    // The relaxed binary fuses multiply and add.
    assertNear([one.score], [relaxed[index].score], 1e-5, 'score');
  }
});
