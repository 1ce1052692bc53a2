// The names of a ledger's columns, and its sums.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { source } from '../../../../../tests/page/source.mjs';

const { componentsOf, effectsOf, headOf, sheetOf } = await source('panels/ledger/ledger');

const columns = [
  ...['embed_tokens', 'embed_positions'],
  ...['layers.0.self_attn.head.0', 'layers.0.self_attn.head.1', 'layers.0.fc2'],
  ...['layers.1.self_attn.head.0', 'layers.1.self_attn.head.1', 'layers.1.fc2'],
  ...['bias', 'rounding'],
];
const row = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];
const tensor = (...rows) => ({
  shape: [rows.length, columns.length],
  data: Float32Array.from(rows.flat()),
});
const table = {
  columns,
  value: 0,
  written: tensor(
    row,
    row.map((value) => -2 * value),
  ),
  read: tensor(
    row.map((value) => -value),
    row.map(() => 0),
  ),
};

test('heads of a layer are one component, or one each', () => {
  const names = (...unfolded) => componentsOf(columns, new Set(unfolded)).map(({ name }) => name);
  assert.deepEqual(names(), [
    ...['token embeddings', 'positional encodings'],
    ...['layer 1, heads', 'layer 1, feed-forward', 'layer 2, heads', 'layer 2, feed-forward'],
    ...['biases', 'rounding to 8 bits'],
  ]);
  assert.deepEqual(names(1).slice(2, 7), [
    ...['layer 1, heads', 'layer 1, feed-forward'],
    ...['layer 2, head 1', 'layer 2, head 2', 'layer 2, feed-forward'],
  ]);
  const all = componentsOf(columns, new Set([0, 1]));
  assert.deepEqual(
    all.map((each) => each.columns),
    columns.map((_, i) => [i]),
  );
  assert.equal(new Set(all.map(({ name }) => name)).size, all.length);
});

test('cross-attention heads are a component of their own', () => {
  const columns = [
    ...['layers.0.self_attn.head.0', 'layers.0.self_attn.head.1'],
    ...['layers.0.encoder_attn.head.0', 'layers.0.encoder_attn.head.1', 'layers.0.fc2'],
  ];
  const folded = componentsOf(columns, new Set());
  assert.deepEqual(
    folded.map(({ name, columns }) => [name, columns]),
    [
      ['layer 1, heads', [0, 1]],
      ['layer 1, heads of cross-attention', [2, 3]],
      ['layer 1, feed-forward', [4]],
    ],
  );
  assert.ok(folded.every(({ place }) => place === 'layer 1'));
  const unfolded = componentsOf(columns, new Set([0])).map(({ name }) => name);
  assert.equal(new Set(unfolded).size, 5);
  assert.deepEqual(unfolded.slice(2, 4), [
    ...['layer 1, head 1 of cross-attention', 'layer 1, head 2 of cross-attention'],
  ]);
  assert.deepEqual(headOf(columns[3]), { layer: 0, head: 1, cross: true });
  assert.equal(headOf('layers.0.fc2'), undefined);
  const ofHeads = new Map([
    [0, 1],
    [2, 7],
  ]);
  assert.deepEqual(effectsOf(folded, [0, 0, 0, 0, 3], ofHeads), [1, 7, 3]);
});

test('folded or unfolded, the parts have the same sum', () => {
  for (const unfolded of [[], [0], [0, 1]]) {
    const components = componentsOf(columns, new Set(unfolded));
    const written = sheetOf(table, 'written', components);
    assert.deepEqual([...written.byToken], [55, -110]);
    assert.equal(written.sum, -55);
    assert.equal(
      written.byComponent.reduce((a, b) => a + b, 0),
      -55,
    );
    assert.equal(sheetOf(table, 'read', components).sum, -55);
  }
  const folded = sheetOf(table, 'written', componentsOf(columns, new Set()));
  assert.deepEqual([...folded.values.slice(0, 8)], [1, 2, 7, 5, 13, 8, 9, 10]);
  assert.deepEqual([...folded.byComponent], [-1, -2, -7, -5, -13, -8, -9, -10]);
  assert.equal(folded.largest, 26);
});

test('the joint effect of a layer’s heads is not the sum of their effects', () => {
  const effects = columns.map((_, i) => i / 10);
  const ofHeads = new Map([[2, 5]]);
  const folded = componentsOf(columns, new Set());
  assert.deepEqual(effectsOf(folded, effects, ofHeads), [0, 0.1, 5, 0.4, NaN, 0.7, NaN, NaN]);
  const unfolded = componentsOf(columns, new Set([1]));
  assert.deepEqual(effectsOf(unfolded, effects, ofHeads), [
    0,
    0.1,
    5,
    0.4,
    0.5,
    0.6,
    0.7,
    NaN,
    NaN,
  ]);
  assert.deepEqual(effectsOf(folded, undefined, new Map()), Array(8).fill(NaN));
});
