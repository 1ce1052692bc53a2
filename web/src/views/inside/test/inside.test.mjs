// The parts of the inside view: a model's steps, the names of its weights, and unfolded numbers.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { root } from '../../../../../tools/build.mjs';
import { source } from '../../../../../tests/page/source.mjs';

const { inspect, load } = await import(`${root}/dist/index.js`);
const { stacksOf } = await source('views/inside/reading/stacks');
const { recipesOf, stepsOf, tensorsOf } = await source('views/inside/steps/steps');
const { activate, unfold } = await source('views/inside/steps/unfold');
const { spread } = await source('views/inside/reading/run');
const { largest } = await source('panels/words/next-logits');
const { fromInsideLink, toInsideLink } = await source('views/inside/link');
const { stripLayout } = await source('panels/numbers/strip');

const architectures = {};
for (const name of ['sentiment', 'en-de', 'writer']) {
  architectures[name] = (await inspect(join(root, 'weights', name))).architecture;
}
const stacks = (name) => stacksOf(architectures[name]);
/** Returns the classifier's architecture with some fields of encoder and layers replaced. */
const classifier = (fields, layer) => {
  const { encoder, ...others } = architectures.sentiment;
  const layers = encoder.layers.map((each) => ({ ...each, ...layer }));
  return { ...others, encoder: { ...encoder, ...fields, layers } };
};
const near = (got, expected, what) =>
  assert.ok(Math.abs(got - expected) < 1e-6, `${what ?? ''} ${got}, not ${expected}`);

test('a classifier’s steps go from the token embedding to the verdict', () => {
  const steps = stepsOf(stacks('sentiment'), 'encoder', 0);
  assert.deepEqual(
    steps.map(({ id }) => id.replace('encoder.layers.0.', '')),
    [
      'piece',
      'position',
      'self_attn_layer_norm',
      'self_attn.qkv',
      'self_attn.scores',
      'self_attn.weights',
      'self_attn.context',
      'self_attn.output',
      'self_attn.residual',
      'final_layer_norm',
      'fc1',
      'fc2',
      'output',
      'encoder.layer_norm',
      'pooled',
      'logits',
    ],
  );
});

test('a later layer starts with the output of the one before', () => {
  const steps = stepsOf(stacks('sentiment'), 'encoder', 2);
  const { recipe } = steps[2].vectors[0];
  const before = 'encoder.layers.1';
  assert.deepEqual(recipe, { made: 'sum', of: [`${before}.self_attn.residual`, `${before}.fc2`] });
});

test('a decoder has a mask, and cross-attention if there is an encoder', () => {
  const kinds = (name, stack) => stepsOf(stacks(name), stack, 0).map(({ id }) => id);
  const masks = (ids) => ids.filter((id) => id.endsWith('.mask'));
  assert.deepEqual(masks(kinds('en-de', 'decoder')), ['decoder.layers.0.self_attn.mask']);
  assert.ok(kinds('en-de', 'decoder').includes('decoder.layers.0.encoder_attn.weights'));
  assert.deepEqual(masks(kinds('en-de', 'encoder')), []);
  assert.ok(!kinds('en-de', 'encoder').includes('logits'));
  assert.deepEqual(masks(kinds('writer', 'decoder')), ['decoder.layers.0.self_attn.mask']);
  assert.throws(() => stepsOf(stacks('writer'), 'encoder', 0), /no encoder/);
});

test('post-norm layers have their norms after the sums', () => {
  const { head, ...others } = classifier({ finalNorm: false }, { norm: 'post' });
  const post = stacksOf({ ...others, head: { ...head, pooling: 'first' } });
  const steps = stepsOf(post, 'encoder', 1);
  const at = (id) => steps.findIndex((each) => each.id === `encoder.layers.1.${id}`);
  assert.ok(at('self_attn_layer_norm') > at('self_attn.residual'));
  assert.ok(at('final_layer_norm') > at('fc2'));
  const recipes = recipesOf(steps);
  assert.equal(recipes.get('encoder.layers.1.self_attn.q').of, 'encoder.layers.1.input');
  assert.deepEqual(recipes.get('encoder.layers.1.final_layer_norm').of, [
    'encoder.layers.1.self_attn_layer_norm',
    'encoder.layers.1.fc2',
  ]);
  assert.equal(recipes.get('pooled').made, 'first');
});

test('every number is computed from traced tensors, each listed once', () => {
  for (const [name, stack] of [
    ['sentiment', 'encoder'],
    ['en-de', 'decoder'],
    ['writer', 'decoder'],
  ]) {
    const tensors = tensorsOf(stepsOf(stacks(name), stack, 1));
    assert.equal(new Set(tensors).size, tensors.length);
    assert.ok(tensors.includes('logits') && tensors.includes(`${stack}.layers.0.fc2`));
  }
});

test('an unknown part is rejected by name', () => {
  const refused = (fields, layer, message) =>
    assert.throws(() => stacksOf(classifier(fields, layer)), message);
  refused({}, { gated: true }, /encoder: gated: expected false, got true/);
  refused({}, { attention: 'local' }, /attention: expected "full", "causal", got "local"/);
  refused({}, { nKvHeads: 2 }, /nKvHeads: expected 8, got 2/);
  refused({}, { rotaryBase: 10000 }, /rotaryBase/);
  refused({ positions: 'none' }, {}, /positions/);
  const [first, ...rest] = architectures.sentiment.encoder.layers;
  const mixed = classifier({});
  mixed.encoder.layers = [first, ...rest.map((layer) => ({ ...layer, dFf: 7 }))];
  assert.throws(() => stacksOf(mixed), /dFf: expected 512, got 7/);
});

test('the steps name the weights of the model', async () => {
  for (const name of ['sentiment', 'en-de', 'writer']) {
    const model = await load(join(root, 'weights', name));
    const known = new Set((await model.weights.list()).map((each) => each.name));
    for (const stack of ['encoder', 'decoder'].filter((each) => stacks(name)[each])) {
      for (const [tensor, recipe] of recipesOf(stepsOf(stacks(name), stack, 1))) {
        for (const weight of [recipe.weight, recipe.bias].filter(Boolean)) {
          assert.ok(known.has(weight), `${name}: ${tensor}: ${weight}`);
        }
      }
    }
    model.dispose();
  }
});

test('unfolding waits for the rows of weights', () => {
  const asked = [];
  const rows = new Map();
  const weights = {
    row(name, index) {
      asked.push(`${name} ${index}`);
      return rows.get(name);
    },
  };
  const recipe = { made: 'product', of: 'a', weight: 'w', bias: 'b' };
  const number = () => unfold(run, { tensor: 'a', recipe, index: 1, of: 'token', place }, weights);
  assert.equal(number(), undefined);
  assert.deepEqual(asked, ['w 1', 'b 1']);
  rows.set('w', Float32Array.of(2, 5));
  assert.equal(number(), undefined);
  rows.set('b', Float32Array.of(100));
  assert.equal(number().result, 2 * 3 + 5 * 4 + 100);
});

// --- numbers --------------------------------------------------------------------------------------

const two = (values) => ({ shape: [2, 2], data: Float32Array.from(values) });
const run = {
  trace: {
    a: two([1, 2, 3, 4]),
    b: two([10, 20, 30, 40]),
    q: { shape: [2, 1, 2], data: Float32Array.of(1, 2, 3, 4) },
    k: { shape: [2, 1, 2], data: Float32Array.of(0.5, -1, 2, 1) },
    scores: { shape: [1, 2, 2], data: Float32Array.of(-1, -Infinity, 0, 1) },
    weights: { shape: [1, 2, 2], data: Float32Array.of(1, 0, 0.25, 0.75) },
    context: { shape: [2, 1, 2], data: Float32Array.of(0.5, -1, 1.625, 0.5) },
  },
  pieces: { encoder: [{ id: 0 }, { id: 1 }] },
};
const place = { token: 1, key: 0, head: 0 };
const asked = (tensor, recipe, index) =>
  unfold(run, { tensor, recipe, index, of: 'token', place }, undefined);

test('sums, scores, attention weights and contexts are recomputed', () => {
  assert.equal(asked('a', { made: 'sum', of: ['a', 'b'] }, 1).result, 44);
  const score = asked('scores', { made: 'score', q: 'q', k: 'k', divisor: Math.SQRT2 }, 0);
  near(score.sum, 3 * 0.5 - 4);
  near(score.result, -2.5 / Math.SQRT2);
  const share = asked('weights', { made: 'share', of: 'scores' }, 1);
  near(share.result, Math.E / (1 + Math.E));
  assert.equal(share.traced, 0.75);
  const mixture = asked('context', { made: 'mixture', weights: 'weights', values: 'k' }, 0);
  near(mixture.result, 0.25 * 0.5 + 0.75 * 2);
  near(asked('a', { made: 'mean', of: 'a' }, 0).result, 2);
  assert.equal(asked('a', { made: 'product', of: 'a', weight: 'w' }, 0), undefined);
});

test('a masked key has weight 0', () => {
  const hidden = unfold(
    run,
    {
      tensor: 'weights',
      recipe: { made: 'share', of: 'scores' },
      index: 1,
      of: 'token',
      place: { ...place, token: 0 },
    },
    undefined,
  );
  assert.equal(hidden.result, 0);
  assert.equal(hidden.terms[0].value, 1);
});

test('means, deviations, activations and probabilities', () => {
  const values = [1, 2, 3, 6];
  assert.equal(spread(values, 'standard', 0).mean, 3);
  near(spread(values, 'standard', 0).deviation, Math.sqrt(3.5));
  near(spread(values, 'unbiased', 0.5).deviation, Math.sqrt(14 / 3) + 0.5);
  near(spread(values, 'rms', 0).deviation, Math.sqrt(12.5));
  assert.equal(activate('relu', -2), 0);
  near(activate('gelu', 1), 0.841344746);
  near(activate('gelu', -3), -0.00404969);
  near(activate('gelu_tanh', 1), 0.84119199);
  const [first, second] = largest([0, Math.log(3), -50], 2);
  assert.deepEqual([first.index, second.index], [1, 0]);
  near(first.probability, 0.75);
});

// --- link and layout ----------------------------------------------------------------------------------

test('a link keeps the state; malformed values are skipped', () => {
  const state = {
    model: 'en-fr',
    text: 'A & B',
    spot: { stack: 'decoder', token: 3 },
    head: { layer: 1, head: 7 },
    key: { cross: true, index: 2 },
    untrained: true,
  };
  assert.deepEqual(fromInsideLink(toInsideLink(state)), state);
  const plain = { ...state, model: 'sentiment', spot: undefined, key: undefined, untrained: false };
  const link = toInsideLink(plain);
  assert.deepEqual(link, { text: 'A & B', head: '1.7' });
  assert.deepEqual(fromInsideLink(link), plain);
  const spoiled = { text: 'x', model: 'other', token: 'encoder.-1', key: 'x.1', head: '1' };
  const { model, spot, key, head } = fromInsideLink(spoiled);
  assert.deepEqual([model, spot, key, head], ['sentiment', undefined, undefined, undefined]);
});

test('a strip’s cells fit the available width', () => {
  for (const count of [16, 64, 128, 256, 512, 896, 1024])
    for (const room of [290, 358, 760, 1100]) {
      const { columns, rows, width } = stripLayout(count, room);
      assert.ok(columns * width <= room + 1e-9 && columns * rows >= count, `${count} in ${room}`);
      assert.ok(width >= 7, `${count} in ${room}: ${width}`);
    }
});
