// The results of the public functions, for any model.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  AttentionMap,
  assertNear,
  binaries,
  goldenFolder,
  load,
  plain,
  readGolden,
} from '../support/helpers.mjs';

const folder = goldenFolder('pre_norm_mean');
const { texts } = readGolden('pre_norm_mean');
const everything = { attention: true, contributions: true };

for (const binary of binaries) {
  const classifier = await load(folder, { binary });
  const { layers, heads } = classifier.info;

  test(`${binary}: info describes the model`, () => {
    const { labels, dModel, vocabSize, parameters, maxSourceLength, ...rest } = classifier.info;
    assert.deepEqual(rest, {
      task: 'text-classification',
      layers: 2,
      heads,
      ignoredTensors: [],
      compute: 'f32',
      backend: binary ? 'wasm' : 'native',
      binary,
      threads: 1,
    });
    assert.ok(labels.length > 1 && labels.every((label) => typeof label === 'string'));
    for (const count of [heads, dModel, vocabSize, parameters, maxSourceLength]) {
      assert.ok(Number.isInteger(count) && count > 0);
    }
    assert.ok(parameters > dModel * vocabSize);
  });

  test(`${binary}: a result has every requested field, and no other`, async () => {
    const result = await classifier.classify(texts[0]);
    assert.deepEqual(Object.keys(result).sort(), [
      'clipped',
      'label',
      'score',
      'scores',
      'tokens',
      'windows',
    ]);
    assert.equal(result.windows, 1);
    assert.ok(classifier.info.labels.includes(result.label));
    const each = (name) => result.scores.map(({ [name]: value }) => value);
    assert.deepEqual(each('label'), classifier.info.labels);
    assert.deepEqual(each('id'), [...classifier.info.labels.keys()]);
    const scores = each('score');
    assertNear([scores.reduce((a, b) => a + b)], [1], 1e-6, 'sum of the scores');
    assert.equal(result.score, Math.max(...scores));
    const exponentials = each('logit').map(Math.exp);
    const sum = exponentials.reduce((a, b) => a + b);
    assertNear(
      scores,
      exponentials.map((x) => x / sum),
      1e-6,
      'softmax of the logits',
    );
    for (const token of result.tokens) {
      assert.deepEqual(Object.keys(token).sort(), ['end', 'id', 'start', 'text']);
      assert.ok(Number.isInteger(token.id) && token.id < classifier.info.vocabSize);
    }
  });

  test(`${binary}: tokens form the text, with a space before each word`, async () => {
    const { tokens } = await classifier.classify('not good at all');
    assert.equal(tokens.map(({ text }) => text).join(''), ' not good at all');
  });

  test(`${binary}: offsets are UTF-16 ranges of the input, in order`, async () => {
    for (const text of [...texts, 'a 🎬 film, crème 日本 \u0000 e\u0301 end']) {
      const { tokens, clipped } = await classifier.classify(text);
      let last = 0;
      for (const { start, end } of tokens) {
        assert.ok(start <= end && end <= text.length);
        assert.ok(start >= last || start === end, `token at ${start} after ${last}`);
        last = Math.max(last, end);
      }
      if (!clipped) assert.equal(last, text.trimEnd().length);
    }
  });

  test(`${binary}: attention rows sum to 1, and at() is a view of data`, async () => {
    const { attention, tokens } = await classifier.classify(texts[0], everything);
    const map = attention.encoder;
    assert.ok(map.data instanceof Float32Array);
    assert.equal(map.queries, tokens.length);
    assert.equal(map.keys, tokens.length);
    assert.equal(map.data.length, layers * heads * map.queries * map.keys);
    // It is a copy of the engine's memory, with no extra bytes.
    assert.equal(map.data.buffer.byteLength, map.data.byteLength);
    const size = map.queries * map.keys;
    for (let layer = 0; layer < layers; layer++) {
      for (let head = 0; head < heads; head++) {
        const one = map.at(layer, head);
        const begin = (layer * heads + head) * size;
        assert.deepEqual(one, map.data.slice(begin, begin + size));
        for (let query = 0; query < map.queries; query++) {
          const row = one.subarray(query * map.keys, (query + 1) * map.keys);
          assertNear([row.reduce((a, b) => a + b)], [1], 1e-5, 'sum of a row');
        }
      }
    }
    for (const [layer, head] of [[layers, 0], [-1, 0], [0, heads], [0.5, 0], ['0', 0], [0]]) {
      assert.throws(() => map.at(layer, head), { code: 'invalid_option' });
    }
  });

  test(`${binary}: a result can be cloned, and its attention rebuilt`, async () => {
    const result = await classifier.classify(texts[0], everything);
    const clone = structuredClone(result);
    assert.deepEqual(plain(clone), plain(result));
    const { encoder } = result.attention;
    assert.ok(encoder instanceof AttentionMap);
    const rebuilt = new AttentionMap(clone.attention.encoder);
    assert.deepEqual(rebuilt, encoder);
    assert.deepEqual(rebuilt.at(1, 1), encoder.at(1, 1));
    for (const wrong of [
      { ...encoder, keys: 1 },
      { ...encoder, data: [...encoder.data] },
    ]) {
      assert.throws(() => new AttentionMap(wrong), { code: 'invalid_option' });
    }
  });

  test(`${binary}: contributions and the bias add up to the logits`, async () => {
    // The bias is the part of the logits that is the same in two texts.
    const biases = [];
    for (const text of texts) {
      const { contributions, scores, tokens } = await classifier.classify(text, everything);
      biases.push(
        scores.map(({ id, logit }) => {
          assert.ok(contributions[id] instanceof Float32Array);
          assert.equal(contributions[id].length, tokens.length);
          return logit - contributions[id].reduce((a, b) => a + b);
        }),
      );
    }
    for (const bias of biases) assertNear(bias, biases[0], 1e-5, 'bias');
  });

  test(`${binary}: showing attention changes no number`, async () => {
    for (const text of texts) {
      const bare = await classifier.classify(text);
      const { attention, contributions, ...rest } = await classifier.classify(text, everything);
      assert.deepEqual(rest, bare);
      assert.ok(attention && contributions);
    }
  });

  test(`${binary}: results do not change in later calls`, async () => {
    const result = await classifier.classify(texts[0], everything);
    const copy = structuredClone(plain(result));
    await classifier.classify('b '.repeat(5000), everything);
    await classifier.classify(texts[1], everything);
    assert.deepEqual(plain(result), copy);
  });

  test(`${binary}: a batch equals its texts one by one`, async () => {
    const batch = await classifier.classifyBatch(texts, everything);
    assert.equal(batch.length, texts.length);
    for (const [index, text] of texts.entries()) {
      assert.deepEqual(plain(batch[index]), plain(await classifier.classify(text, everything)));
    }
    assert.deepEqual(await classifier.classifyBatch([]), []);
  });

  test(`${binary}: empty interventions change nothing`, async () => {
    const bare = await classifier.classify(texts[0]);
    const options = { ablate: [], maskTokens: [], attention: false, signal: undefined };
    assert.deepEqual(await classifier.classify(texts[0], options), bare);
  });

  test(`${binary}: no token attends to a masked token`, async () => {
    const bare = await classifier.classify(texts[0], everything);
    const masked = await classifier.classify(texts[0], { ...everything, maskTokens: [1] });
    assert.notDeepEqual(masked.scores, bare.scores);
    assert.deepEqual(masked.tokens, bare.tokens);
    const { data, keys } = masked.attention.encoder;
    for (let row = 0; row < data.length; row += keys) {
      assert.equal(data[row + 1], 0);
      const rest = data.subarray(row, row + keys).reduce((a, b) => a + b);
      // The masked token's own row does not matter.
      if ((row / keys) % keys !== 1) assertNear([rest], [1], 1e-5, 'sum of a row');
    }
    for (const ofLabel of masked.contributions) assert.ok(ofLabel[1] === 0);
  });

  test(`${binary}: an ablated head changes the answer, and the next call is not affected`, async () => {
    const bare = await classifier.classify(texts[0]);
    const ablate = [{ attention: 'encoder', layer: layers - 1, head: heads - 1 }];
    const ablated = await classifier.classify(texts[0], { ablate });
    assert.notDeepEqual(ablated.scores, bare.scores);
    assert.deepEqual(await classifier.classify(texts[0]), bare);
  });
}

test('the binaries agree', async () => {
  const [simd, relaxed] = await Promise.all(
    ['simd', 'relaxed'].map(async (binary) =>
      (await load(folder, { binary })).classifyBatch(texts),
    ),
  );
  for (const [index, one] of simd.entries()) {
    assert.deepEqual(one.tokens, relaxed[index].tokens);
    // The relaxed binary fuses multiply and add.
    const logits = ({ scores }) => scores.map(({ logit }) => logit);
    assertNear(logits(one), logits(relaxed[index]), 1e-5, 'logits');
  }
});
