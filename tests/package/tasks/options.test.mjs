// The options that the classes accept are those that the engine reads.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { goldenFolder, openAny, root } from '../support/helpers.mjs';

const checkpoint = (name) => join(root, 'tests/fixtures/checkpoints', name);

// A model per class, and the arguments of each method before its options.
const classes = [
  [goldenFolder('pre_norm_mean'), { classify: ['good'], explain: ['good'] }],
  [checkpoint('bert_tokens'), { classify: ['good'], explain: ['good'] }],
  [checkpoint('bert_answer'), { answer: ['why', 'because'], explain: ['why', 'because'] }],
  [checkpoint('bert_embed'), { embed: ['good'], explain: ['good'] }],
  [
    goldenFolder('translate_pre_norm_shared'),
    { translate: ['good'], stream: ['good'], explain: ['good'] },
  ],
  [
    checkpoint('gpt2_generate'),
    { generate: ['good'], stream: ['good'], next: ['good'], explain: ['good'] },
  ],
];

const run = (call) => (call.next ? call.next() : call);

async function messageOf(model, method, args, options) {
  try {
    await run(model[method](...args, options));
  } catch (error) {
    assert.equal(error.code, 'invalid_option', `${method}: ${error.message}`);
    return error.message;
  }
  return assert.fail(`${method}: no error for ${JSON.stringify(options)}`);
}

for (const [folder, methods] of classes) {
  for (const [method, args] of Object.entries(methods)) {
    test(`every option of ${method} is known to the engine: ${folder.split('/').at(-1)}`, async () => {
      const model = await openAny(folder, { gradients: true }); // the binary with all options
      const refusal = await messageOf(model, method, args, { nonsense: 1 });
      const [, list] = /unknown option "nonsense"; known are (.+)$/.exec(refusal);
      const names = list.split(', ');
      assert.ok(names.length > 4 && names.includes('signal'));
      for (const name of names) {
        // No option accepts this value; the error names the option.
        const value = name === 'morePairs' ? [{ text: 1 }] : [{ nonsense: 1 }];
        const options = { ...(name !== 'method' && method === 'explain' && methodOf(name, model)) };
        const message = await messageOf(model, method, args, { ...options, [name]: value });
        assert.doesNotMatch(message, /unknown (field|option)/, `${name}: ${message}`);
        assert.ok(message.includes(name), `${name}: ${message}`);
      }
      model.dispose();
    });
  }
}

/** A method of explaining that reads the option. */
function methodOf(name, { task }) {
  const encoders = ['token-classification', 'question-answering', 'feature-extraction'];
  if (encoders.includes(task)) return { method: 'score' };
  const methods = {
    attention: 'score',
    query: 'score',
    key: 'score',
    rival: 'score',
    contrast: 'score',
    cells: 'score',
    reads: 'score',
    everywhere: 'score',
    loadings: 'direct_logit_attribution',
    site: 'activation_patching',
    head: 'score',
    of: 'faithfulness',
    scores: 'faithfulness',
    orders: 'faithfulness',
    seed: 'faithfulness',
    edges: 'edges',
    cut: 'edges',
    least: 'circuit',
    morePairs: 'circuit',
    metric: 'circuit',
    ablation: 'circuit',
    steps: 'circuit',
    edgeCount: 'circuit',
    cutEdges: 'circuit',
    randomCircuits: 'circuit',
    featureCount: 'attribution_graph',
    nodeShare: 'attribution_graph',
    edgeShare: 'attribution_graph',
    checkedEdges: 'attribution_graph',
    words: 'lens',
    names: 'gradients',
    baselineToken: 'integrated_gradients',
    beams: 'relevance',
    position: 'relevance',
    prefix: 'relevance',
  };
  return {
    method: methods[name] ?? 'direct_logit_attribution',
    ...(name === 'cut' && { edges: [] }),
  };
}
