// The scores that each method computes from a run.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { root } from '../../../../../tools/build.mjs';
import { Classifier } from '../../../../../dist/index.js';
import { source } from '../../../../../tests/page/source.mjs';

const { scorings } = await source('views/sentiment/methods/methods');
const { byToken, leaveOneOut } = await source('panels/methods/methods');

const text = 'A gripping film with a dreadful ending.';

test('each method scores every token', async () => {
  const model = await Classifier.load(join(root, 'weights/sentiment'), {
    compute: 'f32',
    gradients: true,
  });
  const findings = {
    ledger: await model.explain(text, { method: 'direct_logit_attribution' }),
    valueNorms: await model.explain(text, { method: 'value_norms' }),
    valueZeroing: await model.explain(text, { method: 'value_zeroing' }),
    rollout: await model.explain(text, { method: 'rollout' }),
    gradientTimesInput: await model.explain(text, { method: 'gradient_times_input' }),
    integratedGradients: await model.explain(text, { method: 'integrated_gradients' }),
    relevance: await model.explain(text, { method: 'relevance' }),
    attnLrp: await model.explain(text, { method: 'attn_lrp' }),
    cpLrp: await model.explain(text, { method: 'cp_lrp' }),
    result: await model.classify(text, { attention: true }),
  };
  model.dispose();
  const { tokens, value } = findings.ledger;
  const sum = (list) => list.reduce((a, b) => a + b, 0);
  const found = new Map(scorings.map(({ name, scores }) => [name, scores(findings)]));
  for (const [name, scores] of found) assert.equal(scores.length, tokens.length, name);
  for (const name of ['Ledger, token read', 'Ledger, row written'])
    assert.ok(Math.abs(sum(found.get(name)) - value) < 1e-3, name);
  // Attention weights of a query sum to one, and so do their means.
  for (const name of ['Rollout', 'Last attention', 'All attention'])
    assert.ok(Math.abs(sum(found.get(name)) - 1) < 1e-4, name);
  for (const [name, key] of [
    ['Gradient × input', 'gradientTimesInput'],
    ['Integrated gradients', 'integratedGradients'],
    ['Relevance', 'relevance'],
    ['AttnLRP', 'attnLrp'],
    ['CP-LRP', 'cpLrp'],
  ])
    assert.deepEqual(found.get(name), Float32Array.from(findings[key].scores), name);
  const { gap, baseline } = findings.integratedGradients;
  assert.ok(Math.abs(sum(found.get('Integrated gradients')) + gap - (value - baseline)) < 1e-3);
  const [exactness] = scorings.flatMap(({ exactness }) => exactness?.(findings) ?? []);
  assert.match(exactness, /^gap [+−]0\.\d{3}: .* of (64|128|256) steps sum to /);
  const { encoder } = findings.result.attention;
  let last = 0;
  for (let head = 0; head < encoder.heads; head++)
    for (let query = 0; query < tokens.length; query++)
      last += encoder.at(encoder.layers - 1, head)[query * tokens.length + 2];
  last /= encoder.heads * tokens.length;
  assert.ok(Math.abs(found.get('Last attention')[2] - last) < 1e-6);
  const names = [leaveOneOut, ...scorings].map(({ name }) => name);
  assert.equal(new Set(names).size, names.length);
});

test('each token of a word gets the word’s value, other tokens 0', () => {
  assert.deepEqual([...byToken([0.5, -1], [[1, 2], [4]], 5)], [0, 0.5, 0.5, 0, -1]);
});
