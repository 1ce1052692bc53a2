// Studies: lists of texts, interventions as the package's options, intervals, files.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Classifier } from '../../../../../dist/index.js';
import { source } from '../../../../../tests/page/source.mjs';

const { entriesOf } = await source('panels/verdict/entries');
const { contextAfter, contextBefore } = await source('views/study/context');
const study = await source('views/study/study');
const { ratioOf, sharesOf } = await source('views/study/asked');
const { toCsv, toJson } = await source('ui/export/table');
const { toSafetensors } = await source('ui/export/safetensors');
const { lensName } = await source('ui/export/lens-names');
const { tableOf } = await source('ui/export/save-tensors');

test('a list has labels only before a tab', () => {
  const labels = ['negative', 'positive'];
  const list = 'Positive\tGood.\r\n\nbad taste\tx\npositive\nnegative\ta\tb';
  assert.deepEqual(entriesOf(list, labels), [
    { text: 'Good.', label: 'positive' },
    { text: 'bad taste\tx' },
    { text: 'positive' },
    { text: 'a\tb', label: 'negative' },
  ]);
});

test('units are read from 1, with ranges, within the layer', () => {
  assert.deepEqual(study.unitsIn('3, 1-2 8–20 0', 9), [0, 1, 2, 7, 8]);
  assert.deepEqual(study.unitsIn('none', 9), []);
});

test('a part’s share is the ratio of sums, and texts without other tokens are left out', () => {
  const score = (weight, lead, own, rest) => ({
    ...{ score: 0, weight, lead: lead * (1 - weight) },
    queries: [{ name: 'embed_tokens', sum: 0, contrast: lead * (1 - weight) }],
    keys: [
      { name: 'embed_tokens', sum: 0, contrast: own * (1 - weight) },
      { name: 'bias', sum: 0, contrast: rest * (1 - weight) },
    ],
  });
  const head = { attention: 'encoder', layer: 0, head: 0 };
  const asked = sharesOf(head, [score(0.5, 4, 3, 1), score(0.25, 6, 2, 4), score(1, 0, 0, 0)]);
  assert.equal(asked.alone, 1);
  assert.equal(asked.asks[0].mean, 1);
  const shares = Object.fromEntries(asked.answers.map(({ column, mean }) => [column, mean]));
  assert.deepEqual(shares, { embed_tokens: 0.5, bias: 0.5 });
  const { low, high } = ratioOf([3, 2], [4, 6]);
  assert.ok(Math.abs(low - 2 / 6) < 1e-12 && Math.abs(high - 3 / 4) < 1e-12, `${low} to ${high}`);
});

test('the bootstrap interval of a mean', () => {
  const values = Array.from({ length: 100 }, (_, i) => i % 10);
  const { mean, low, high } = study.bootstrap(values);
  assert.equal(mean, 4.5);
  // The standard error is 2.872 / 10; the interval of a normal mean is ± 1.96 of them.
  assert.ok(Math.abs(low - (4.5 - 0.563)) < 0.06, `${low}`);
  assert.ok(Math.abs(high - (4.5 + 0.563)) < 0.06, `${high}`);
  assert.deepEqual(study.bootstrap(values), { mean, low, high });
  assert.deepEqual(study.bootstrap([2, 2, 2]), { mean: 2, low: 2, high: 2 });
});

test('accuracy that does not move has no interval to tell of', () => {
  const told = (measure, right) => ({ label: right ? 'a' : 'b', measure, right });
  const outcome = (before, after) => ({ text: '', before: told(1, before), after: told(0, after) });
  const same = study.summaryOf([outcome(true, true), outcome(false, false)]);
  assert.deepEqual([same.turned, same.labeled, same.rightBefore], [0, 2, 0.5]);
  const moved = study.summaryOf([outcome(true, false), outcome(undefined, undefined)]);
  assert.deepEqual([moved.turned, moved.labeled, moved.rightAfter], [1, 1, 0]);
});

test('a context is made of whole words', () => {
  const text = 'one two three four five six seven eight nine ten eleven twelve thirteen';
  const at = text.indexOf('seven');
  assert.equal(contextBefore(text, at), 'one two three four five six ');
  assert.equal(contextBefore(text, text.indexOf('nine')), '… three four five six seven eight ');
  assert.equal(contextAfter(text, at + 5), ' eight nine ten eleven twelve thirteen');
  assert.equal(contextAfter(text, 3), ' two three four five six seven …');
  assert.equal(contextBefore('short', 5), 'short');
});

test('zeros and means are what the package makes of them', async () => {
  const model = await Classifier.load('weights/sentiment', { compute: 'f32' });
  const texts = ['A gripping, beautifully shot film.', 'Never again.'];
  const head = { layer: 1, head: 5 };
  const heads = { kind: 'heads', attention: 'encoder', heads: [head] };
  // Units that are active in the first text.
  const hidden = 'encoder.layers.2.fc1';
  const { trace: of } = await model.classify(texts[0], { trace: [hidden] });
  const active = [...of[hidden].data.subarray(0, 512).keys()].filter((i) => of[hidden].data[i] > 0);
  const units = { kind: 'units', stack: 'encoder', layer: 2, units: active.slice(0, 2) };
  for (const target of [heads, units]) {
    const names = study.namesFor(target, 'mean');
    const means = new study.Means();
    const results = [];
    for (const text of texts) {
      const result = await model.classify(text, { trace: names });
      means.add(result.trace);
      results.push(result);
    }
    const [{ trace, scores }] = results;
    const about = { trace, means };
    for (const substitute of ['zero', 'mean']) {
      const again = target === heads ? 'encoder.layers.1.self_attn.context' : names[0];
      const options = study.optionsFor(target, substitute, about);
      const { trace: after, scores: changed } = await model.classify(texts[0], {
        ...options,
        ...(!options.ablate && { trace: [again] }),
      });
      assert.notDeepEqual(changed, scores);
      if (!after) continue;
      const { shape, data } = after[again];
      const width = data.length / shape[0];
      const gone = target === heads ? [5 * 16, 5 * 16 + 15] : target.units;
      for (const at of gone) {
        const all = results.flatMap(({ trace: { [again]: own } }) =>
          Array.from({ length: own.shape[0] }, (_, row) => own.data[row * width + at]),
        );
        const mean = all.reduce((sum, value) => sum + value, 0) / all.length;
        const wanted = substitute === 'zero' ? 0 : mean;
        for (let row = 0; row < shape[0]; row++)
          assert.ok(Math.abs(data[row * width + at] - wanted) < 1e-6);
      }
    }
  }
  model.dispose();
});

test('tables as CSV and JSON', () => {
  const table = {
    columns: ['a', 'b "c"'],
    rows: [
      ['x, y', 1.5],
      [undefined, true],
    ],
  };
  assert.equal(toCsv(table), 'a,"b ""c"""\r\n"x, y",1.5\r\n,true\r\n');
  assert.deepEqual(JSON.parse(toJson(table)), [
    { a: 'x, y', 'b "c"': 1.5 },
    { a: null, 'b "c"': true },
  ]);
  const tensor = { shape: [2, 1, 2], data: Float32Array.of(1, 2, 3, 4) };
  assert.deepEqual(tableOf(tensor, ['head', 'query', 'key']).rows[2], [1, 0, 0, 3]);
});

test('a safetensors file can be read again', async () => {
  const data = Float32Array.of(1, 2, 3, 4, 5, 6).subarray(2);
  const blob = toSafetensors({ 'encoder.output': { shape: [2, 2], data } }, { text: 'ü' });
  const bytes = Buffer.from(await blob.arrayBuffer());
  const length = Number(bytes.readBigUInt64LE());
  assert.equal(length % 8, 0);
  const header = JSON.parse(bytes.subarray(8, 8 + length).toString());
  assert.deepEqual(header, {
    __metadata__: { text: 'ü' },
    'encoder.output': { dtype: 'F32', shape: [2, 2], data_offsets: [0, 16] },
  });
  assert.deepEqual(
    [0, 4, 8, 12].map((at) => bytes.readFloatLE(8 + length + at)),
    [3, 4, 5, 6],
  );
});

test('TransformerLens’s names', () => {
  assert.equal(lensName('encoder.layers.3.self_attn.weights'), 'blocks.3.attn.hook_pattern');
  assert.equal(lensName('decoder.layers.0.input'), 'blocks.0.hook_resid_pre');
  assert.equal(lensName('decoder.layers.1.self_attn.k', true), 'blocks.1.attn.hook_rot_k');
  assert.equal(lensName('decoder.embed_tokens'), 'hook_embed');
  assert.equal(lensName('encoder.layers.0.final_layer_norm'), undefined);
  assert.equal(lensName('logits'), undefined);
});
