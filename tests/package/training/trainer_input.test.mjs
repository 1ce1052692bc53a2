// Examples, options and modules that a trainer refuses.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { Trainer, assertError, goldenFolder, root } from '../support/helpers.mjs';
import { examples, make, quick, tiny, toLines, trained } from './examples.mjs';

const bert = join(root, 'tests/fixtures/checkpoints/bert_sequence');

test('examples that cannot be learned from are refused by their line', async () => {
  const from = (data, options = quick) => Trainer.from(tiny, data, options);
  await assertError(() => from('good\tyes\ngood\tno\n'), 'invalid_data', /two labels or more/);
  await assertError(() => from('good\tyes\nbad\t \n'), 'invalid_data', /line 2: .*after the tab/);
  await assertError(() => from('good yes\n'), 'invalid_data', /line 1: .*no tab/);
  await assertError(() => from(''), 'invalid_data', /empty file/);
  await assertError(() => from([]), 'invalid_data', /empty file/);
  for (const label of ['b\tc', 'b\ud83d'])
    await assertError(() => from([{ text: 'a', label }]), 'invalid_data', /examples\[0\]/);
  await assertError(() => from([{ text: 'a' }]), 'invalid_option', /examples\[0\]: expected/);
  await assertError(
    () => from([{ text: 'a', label: 'b', weight: 2 }, ...examples]),
    'invalid_option',
    /examples\[0\]: unknown field "weight"/,
  );
  await assertError(() => from(5), 'invalid_option', /examples: expected/);
  const trainer = await make();
  await assertError(() => trainer.evaluate('fair\tso\n'), 'invalid_data', /line 1: .*"fair"/);
  await assertError(() => trainer.evaluate([]), 'invalid_data', /expected some, got none/);
});

test('columns that are something else are refused, and many labels are a warning', async () => {
  const from = (data) => Trainer.from(tiny, data, quick);
  for (const [data, pattern] of [
    [`label\ttext\n${toLines(examples)}`, /line 1: .*names of columns/],
    [[{ label: 'sentiment', text: 'review' }, ...examples], /line 1: .*names of columns/],
    [examples.map(({ text }, i) => ({ text, label: String(i) })), /line 1: .*numbers the lines/],
    [examples.map(({ text, label }) => ({ text: label, label: text })), /put the label before/],
    [[...examples, { text: 'so', label: 'good ' }], /line 11: .*without spaces/],
  ])
    await assertError(() => from(data), 'invalid_data', pattern);
  await assertError(
    () => Trainer.from(bert, [{ text: 'a', label: 'x\u0085' }, ...examples], quick),
    'invalid_config',
    /labels: expected no control characters/,
  );
  assert.deepEqual((await make()).warnings, []);
  const many = Array.from({ length: 40 }, (_, i) => ({ text: `a film ${i}`, label: `l${i % 5}` }));
  const [warning, ...others] = (await make(bert, many)).warnings;
  assert.match(warning, /^5 labels for 40 examples: /);
  assert.deepEqual(others, []);
});

test('pairs are learned by heart, and mixed or unreadable ones are refused', async () => {
  const pairs = ['a cat sat', 'the old house'].flatMap((text, i, all) => [
    { text, pair: text, label: 'same' },
    { text, pair: `${all[1 - i]}\tindeed`, label: 'other' },
  ]);
  const trainer = await make(bert, pairs, { ...quick, averaging: 0 });
  await trained(trainer, { epochs: 100 });
  for (const { label, ...both } of pairs)
    assert.equal((await trainer.classify(both)).label, label, JSON.stringify(both));
  assert.equal((await trainer.evaluate(pairs)).accuracy, 1);
  for (const [data, code, pattern] of [
    [[...pairs, examples[0]], 'invalid_option', /examples\[4\]: .*pair, label } as the first/],
    [[examples[0], ...pairs], 'invalid_option', /examples\[1\]: .*{ text, label } as the first/],
    [[{ text: 'a', pair: 5, label: 'b' }], 'invalid_option', /examples\[0\]: .*{ text, pair,/],
    [[{ text: 'a', pair: ' ', label: 'b' }], 'invalid_data', /line 1: .*second text/],
  ])
    await assertError(() => Trainer.from(bert, data, quick), code, pattern);
  await assertError(
    () => Trainer.from(tiny, pairs, quick),
    'unsupported',
    /line 1: pair: expected/,
  );
});

test('options are checked', async () => {
  const from = (options) => Trainer.from(tiny, examples, options);
  await assertError(() => from({ speed: 1 }), 'invalid_option', /unknown option "speed"/);
  await assertError(() => from({ dropout: 1 }), 'invalid_option', /dropout: expected 0 to 0.9/);
  await assertError(() => from({ decay: 'slow' }), 'invalid_option', /decay/);
  await assertError(() => from({ seed: -1 }), 'invalid_option', /seed/);
  await assertError(() => Trainer.from(7, examples), 'invalid_option', /model/);
  await assertError(() => Trainer.from({ d_model: 15 }, examples), 'invalid_config');
  const trainer = await make();
  await assertError(() => trained(trainer, { epochs: 0 }), 'invalid_option', /epochs/);
  await assertError(() => trained(trainer, { epochs: 1, minutes: 1 }), 'invalid_option', /minutes/);
  await assertError(() => trained(trainer, { steps: 1 }), 'invalid_option', /unknown option/);
  await assertError(() => trainer.classify('x', { beams: 2 }), 'invalid_option', /beams/);
});

test('models that write, and other modules, are refused', async () => {
  const writer = goldenFolder('translate_pre_norm_shared');
  await assertError(() => Trainer.from(writer, examples), 'wrong_task');
  const module = readFileSync(join(root, 'dist/glassformer.read.wasm'));
  for (const start of [tiny, goldenFolder('pre_norm_mean')]) {
    const from = () => Trainer.from(start, examples, { module });
    await assertError(
      from,
      'invalid_option',
      /module: expected glassformer.wasm, which also trains/,
    );
  }
});
