// Training in both binaries: what is learned and saved.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { command } from '../../native_build.mjs';
import {
  assertError,
  assertNear,
  binaries,
  goldenFolder,
  load,
  openAny,
  readSafetensors,
  root,
} from '../support/helpers.mjs';
import { examples, make, quick, tiny, toLines, trained } from './examples.mjs';

for (const binary of binaries) {
  test(`a new model learns its examples (${binary})`, async () => {
    const trainer = await make(tiny, examples, { ...quick, binary });
    assert.equal(trainer.info.binary, binary);
    assert.deepEqual(trainer.info.labels, ['bad', 'good']);
    assert.equal(trainer.architecture.encoder.layers.length, 1);
    assert.deepEqual([trainer.examples, trainer.heldOut, trainer.stepsPerEpoch], [10, 0, 1]);

    const before = await trainer.evaluate(examples);
    const steps = await trained(trainer, { epochs: 40 });
    assert.equal(steps.length, 40);
    assert.deepEqual(
      steps.map(({ step }) => step),
      Array.from({ length: 40 }, (_, i) => i + 1),
    );
    assert.equal(steps.at(-1).progress, 1);
    assert.ok(steps.at(-1).loss < 0.01 && steps[0].loss > 0.5);
    assert.ok(Math.max(...steps.map(({ rate }) => rate)) <= 0.02);
    const { loss, accuracy } = await trainer.evaluate(examples);
    assert.equal(accuracy, 1);
    assert.ok(loss < before.loss / 10, `${before.loss}, then ${loss}`);
  });

  test(`the saved folder gives the trainer's answers (${binary})`, async () => {
    const trainer = await make(tiny, examples, { ...quick, binary });
    await trained(trainer, { epochs: 20 });
    const options = { attention: true, contributions: true, trace: ['encoder.layers.0.output'] };
    const answer = await trainer.classify('a great film', options);
    assert.equal(answer.attention.encoder.layers, 1);

    const files = await trainer.save();
    assert.deepEqual(Object.keys(files).sort(), [
      'config.json',
      'manifest.json',
      'model.safetensors',
      'tokenizer.model',
    ]);
    const model = await load(files, { binary });
    assert.deepEqual(await model.classify('a great film', options), answer);
    const other = await openAny(files);
    after(() => other.dispose());
    assert.equal(other.info.task, 'text-classification');
    assert.deepEqual(await trainer.vocabulary(), await other.vocabulary());
  });
}

test('every step has the norm of the gradients of each part of the model', async () => {
  const [step] = await trained(await make({ ...tiny, encoder_layers: 2 }), { epochs: 1 });
  assert.deepEqual(
    step.gradientNorms.map(({ name }) => name),
    ['encoder.embed_tokens', 'encoder.layers.0', 'encoder.layers.1', 'encoder.layer_norm'].concat(
      'classifier',
    ),
  );
  const squares = step.gradientNorms.map(({ norm }) => norm ** 2);
  const all = Math.sqrt(squares.reduce((a, b) => a + b));
  assertNear([all], [step.gradientNorm], 1e-5, 'the whole norm');
});

test('a model without residual connections is saved, and no reading follows them', async () => {
  for (const norm of ['pre', 'post']) {
    const trainer = await make({ ...tiny, norm, residual: false });
    await trained(trainer, { epochs: 3 });
    const names = ['output', 'residual'].map((name) => `encoder.layers.0.self_attn.${name}`);
    const answer = await trainer.classify('a great film', { trace: names });
    const [output, residual] = names.map((name) => answer.trace[name].data);
    assert.deepEqual(residual, output);
    const files = await trainer.save();
    assert.equal(JSON.parse(new TextDecoder().decode(files['config.json'])).residual, false);
    const model = await load(files, { explain: true });
    assert.deepEqual(await model.classify('a great film', { trace: names }), answer);
    for (const method of ['direct_logit_attribution', 'rollout']) {
      const asked = model.explain('a great film', { method });
      await assertError(asked, 'unsupported', /expected residual connections, got none/);
    }
  }
});

test('the same seed gives the same weights, another one others', async () => {
  const weightsOf = async (seed) => {
    const trainer = await make(tiny, examples, { ...quick, dropout: 0.1, seed });
    await trained(trainer, { epochs: 3 });
    return (await trainer.save())['model.safetensors'];
  };
  const first = await weightsOf(7);
  assert.deepEqual(await weightsOf(7), first);
  assert.notDeepEqual(await weightsOf(8), first);
});

test('a string, bytes and a file are read like objects', async () => {
  const lines = toLines(examples);
  const losses = [];
  for (const data of [examples, lines, new TextEncoder().encode(lines), new Blob([lines])]) {
    losses.push((await trained(await make(tiny, data), { epochs: 2 })).at(-1).loss);
  }
  assert.equal(new Set(losses).size, 1);
});

test('the command line gives nearly the same weights', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'glassformer-train-'));
  after(() => rmSync(folder, { recursive: true }));
  const path = (name) => join(folder, name);
  writeFileSync(path('data.tsv'), toLines(examples));
  writeFileSync(path('config.json'), JSON.stringify(tiny));
  const options = { rate: 0.01, held_out: 0, vocabulary: 60, epochs: 5, seed: 3 };
  const args = Object.entries(options).flatMap(([name, value]) => [
    `--${name.replace('_', '-')}`,
    String(value),
  ]);
  execFileSync(command, ['train', path('config.json'), path('data.tsv'), path('out'), ...args], {
    stdio: 'pipe',
  });
  const trainer = await make(tiny, examples, { rate: 0.01, heldOut: 0, vocabulary: 60, seed: 3 });
  await trained(trainer, { epochs: 5 });
  const files = await trainer.save();
  const text = (name) => readFileSync(path(`out/${name}`), 'utf8');
  assert.equal(new TextDecoder().decode(files['config.json']), text('config.json'));
  assert.deepEqual(
    Buffer.from(files['tokenizer.model']),
    readFileSync(path('out/tokenizer.model')),
  );
  writeFileSync(path('ours.safetensors'), files['model.safetensors']);
  const ours = readSafetensors(path('ours.safetensors'));
  const theirs = readSafetensors(path('out/model.safetensors'));
  assert.deepEqual(Object.keys(ours).sort(), Object.keys(theirs).sort());
  // Adam divides by tiny gradients in the first steps, which magnifies rounding.
  for (const [name, { data }] of Object.entries(theirs)) {
    assertNear(ours[name].data, data, 2e-3, name);
  }
});

test('a model from a folder learns further, with its own tokenizer', async () => {
  const folder = join(root, 'weights/sentiment');
  const corrections = [
    { text: 'The food was so hot that I cried.', label: 'negative' },
    { text: 'This one is a banger, no cap.', label: 'positive' },
  ];
  const trainer = await make(folder, corrections, { heldOut: 0, dropout: 0, averaging: 0 });
  assert.equal(trainer.info.layers, 4);
  const before = await trainer.evaluate(corrections);
  await trained(trainer, { epochs: 5 });
  const now = await trainer.evaluate(corrections);
  assert.ok(now.loss < before.loss, `${before.loss}, then ${now.loss}`);
  const files = await trainer.save();
  const model = await load(files);
  const { scores } = await trainer.classify(corrections[0].text);
  assert.deepEqual((await model.classify(corrections[0].text)).scores, scores);
});

test('other labels get a new head', async () => {
  const trainer = await make(goldenFolder('post_norm_gelu_learned_first'), examples, {
    ...quick,
    vocabulary: undefined,
  });
  assert.deepEqual(trainer.info.labels, ['bad', 'good']);
  assert.ok((await trained(trainer, { epochs: 2 })).length > 0);
  const model = await load(await trainer.save());
  assert.equal((await model.classify('fine')).score, (await trainer.classify('fine')).score);
});

test('examples are held out and measured', async () => {
  const trainer = await make(tiny, examples, { ...quick, heldOut: 0.2 });
  assert.deepEqual([trainer.examples, trainer.heldOut], [8, 2]);
  const steps = await trained(trainer, { epochs: 10 });
  const { loss, accuracy } = steps.at(-1).heldOut;
  assert.ok(loss > 0 && accuracy >= 0 && accuracy <= 1);
});

test('a training lasts as many minutes as asked for', async () => {
  const trainer = await make();
  const steps = await trained(trainer, { minutes: 0.002 });
  const spent = steps.reduce((sum, { milliseconds }) => sum + milliseconds, 0);
  assert.ok(spent >= 120, `${spent} ms`);
  assert.equal(steps.at(-1).progress, 1);
});

test('an aborted training rejects, and the trainer goes on', async () => {
  const trainer = await make();
  const controller = new AbortController();
  const abort = async () => {
    for await (const { step } of trainer.train({ epochs: 100, signal: controller.signal })) {
      if (step === 3) controller.abort();
    }
  };
  await assertError(abort, 'aborted');
  const [next] = await trained(trainer, { epochs: 1 });
  assert.equal(next.step, 4);
});

test('a loop that ends early stops the training', async () => {
  const trainer = await make();
  for await (const { step } of trainer.train({ epochs: 100 })) if (step === 2) break;
  assert.equal((await trained(trainer, { epochs: 1 }))[0].step, 3);
});

test('training runs in a worker', async () => {
  const trainer = await make(tiny, examples, { ...quick, worker: true });
  const steps = await trained(trainer, { epochs: 2 });
  const here = await trained(await make(), { epochs: 2 });
  assert.deepEqual(
    steps.map(({ loss }) => loss),
    here.map(({ loss }) => loss),
  );
  assert.ok((await trainer.save())['model.safetensors'].length > 1000);
});
