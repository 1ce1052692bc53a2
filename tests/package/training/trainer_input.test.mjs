// Examples, options and modules that a trainer refuses.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { Trainer, assertError, goldenFolder, root } from '../support/helpers.mjs';
import { examples, make, quick, tiny, trained } from './examples.mjs';

test('examples that cannot be learned from are refused by their line', async () => {
  const from = (data, options = quick) => Trainer.from(tiny, data, options);
  await assertError(() => from('good\tyes\ngood\tno\n'), 'invalid_data', /two labels or more/);
  await assertError(() => from('good\tyes\nbad\t \n'), 'invalid_data', /line 2: .*after the tab/);
  await assertError(() => from('good yes\n'), 'invalid_data', /line 1: .*no tab/);
  await assertError(() => from(''), 'invalid_data', /empty file/);
  await assertError(() => from([]), 'invalid_data', /empty file/);
  await assertError(() => from([{ text: 'a', label: 'b\tc' }]), 'invalid_data', /examples\[0\]/);
  await assertError(() => from([{ text: 'a' }]), 'invalid_option', /examples\[0\]: expected/);
  for (const more of [{ pair: 'c' }, { weight: 2 }])
    await assertError(
      () => from([{ text: 'a', label: 'b', ...more }, ...examples]),
      'invalid_option',
      /examples\[0\]: unknown field "(pair|weight)"/,
    );
  await assertError(() => from(5), 'invalid_option', /examples: expected/);
  const trainer = await make();
  await assertError(() => trainer.evaluate('fair\tso\n'), 'invalid_data', /line 1: .*"fair"/);
  await assertError(() => trainer.evaluate([]), 'invalid_data', /expected some, got none/);
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
