// Threads of one model in WebAssembly: they change no bit, and end with the model.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import {
  Classifier,
  Generator,
  Translator,
  binaries,
  dist,
  root,
  waiting,
} from '../support/helpers.mjs';

const weights = (name) => pathToFileURL(join(root, 'weights', `${name}/`));
const text =
  'The first hour is gripping and beautifully shot, and the two leads are a joy to watch, but the ' +
  'ending drags on so long that even the most patient viewer will look for the door.';

for (const binary of binaries) {
  for (const compute of ['f32', 'int8']) {
    test(`threads change no bit of a classification (${binary}, ${compute})`, async () => {
      const options = { binary, compute };
      const alone = await Classifier.load(weights('sentiment'), options);
      assert.equal(alone.info.threads, 1);
      const expected = await alone.classify(text, { attention: true, trace: ['logits'] });
      for (const worker of [false, true]) {
        const classifier = await Classifier.load(weights('sentiment'), {
          ...options,
          threads: 3,
          worker,
        });
        assert.equal(classifier.info.threads, 3);
        assert.equal(classifier.info.threadsNote, undefined);
        const result = await classifier.classify(text, { attention: true, trace: ['logits'] });
        assert.deepEqual(result.scores, expected.scores);
        assert.deepEqual(result.attention, expected.attention);
        assert.deepEqual(result.trace, expected.trace);
        classifier.dispose();
      }
      alone.dispose();
    });
  }

  test(`threads change no bit of what is written (${binary})`, async () => {
    for (const [Model, name, run] of [
      [Translator, 'en-de', (model) => model.translate(text)],
      [Generator, 'writer', (model) => model.generate(text, { maxNewTokens: 20, sample: false })],
    ]) {
      const results = [];
      for (const threads of [1, 2]) {
        const model = await Model.load(weights(name), { binary, threads });
        results.push(await run(model));
        model.dispose();
      }
      assert.deepEqual(results[1], results[0]);
    }
  });
}

test('a program ends although its threads were not disposed of', () => {
  const program = `
    import { Classifier } from ${JSON.stringify(pathToFileURL(join(dist, 'index.js')).href)};
    for (const worker of [false, true]) {
      const model = await Classifier.load(new URL(${JSON.stringify(weights('sentiment').href)}),
        { threads: 2, worker, backend: 'wasm' });
      console.log(model.info.threads, (await model.classify('Good.')).label);
    }`;
  const output = execFileSync(process.execPath, ['--input-type=module', '-e', program], {
    encoding: 'utf8',
    ...waiting,
  });
  assert.equal(output, '2 positive\n2 positive\n');
});

test('a model that does not load leaves no threads', waiting, async (t) => {
  const running = new Set();
  let started = 0;
  const onWorker = (worker) => {
    started += 1;
    running.add(worker);
    worker.once('exit', () => running.delete(worker));
  };
  process.on('worker', onWorker);
  t.after(() => process.off('worker', onWorker));
  for (const [name, expected] of [
    ['en-de', 'wrong_task'],
    ['none', 'missing_file'],
  ]) {
    const load = Classifier.load(weights(name), { threads: 2, backend: 'wasm' });
    await assert.rejects(load, ({ code }) => code === expected);
  }
  assert.ok(started > 0);
  // Threads end a moment later.
  while (running.size > 0) await once([...running][0], 'exit');
});

test('threads change no bit of a gradient', async () => {
  const gradientsWith = async (threads) => {
    const options = { compute: 'f32', threads, backend: 'wasm' };
    const model = await Classifier.load(weights('sentiment'), options);
    assert.equal(model.info.threads, threads);
    const { gradients } = await model.classify(text, { gradients: ['encoder.*'] });
    model.dispose();
    return gradients;
  };
  const one = await gradientsWith(1);
  assert.ok(Object.keys(one).length > 1);
  assert.deepEqual(await gradientsWith(2), one);
});

test('numbers of threads are checked', async () => {
  for (const threads of [0, -1, 1.5, 257, '2', null]) {
    await assert.rejects(
      Classifier.load(weights('sentiment'), { threads }),
      ({ code, message }) => code === 'invalid_option' && /^threads: /.test(message),
    );
  }
});

test('by default, a model has the threads of the environment, or the machine', async (t) => {
  t.after(() => (process.env.GLASSFORMER_THREADS = '1'));
  const automatic = Math.min(availableParallelism(), 8);
  for (const [variable, options, expected] of [
    ['3', {}, 3],
    ['3', { threads: 2 }, 2],
    ['auto', {}, automatic],
    ['', {}, automatic],
    ['3', { threads: 'auto' }, automatic],
  ]) {
    process.env.GLASSFORMER_THREADS = variable;
    const model = await Classifier.load(weights('sentiment'), { backend: 'wasm', ...options });
    assert.equal(model.info.threads, expected);
    assert.equal((await model.classify('A good film.')).label, 'positive');
    model.dispose();
  }
  process.env.GLASSFORMER_THREADS = 'many';
  await assert.rejects(
    Classifier.load(weights('sentiment'), { backend: 'wasm' }),
    ({ code, message }) => code === 'invalid_option' && /^GLASSFORMER_THREADS: /.test(message),
  );
});

test('a model has one thread if there is no shared memory', async () => {
  const program = `
    const { Memory } = WebAssembly;
    WebAssembly.Memory = function (options) {
      if (options.shared) throw new RangeError('could not allocate memory');
      return new Memory(options);
    };
    const { Classifier } = await import(${JSON.stringify(pathToFileURL(join(dist, 'index.js')).href)});
    const folder = new URL(${JSON.stringify(weights('sentiment').href)});
    const model = await Classifier.load(folder, { threads: 2, backend: 'wasm' });
    const { label } = await model.classify('Good.');
    console.log(label, model.info.threads, model.info.threadsNote);`;
  const output = execFileSync(process.execPath, ['--input-type=module', '-e', program], {
    encoding: 'utf8',
    ...waiting,
  });
  assert.equal(
    output,
    'positive 1 threads: shared memory cannot be allocated: could not allocate memory\n',
  );
});

test('a model has one thread if urls names other binaries only', async () => {
  const file = pathToFileURL(join(dist, 'glassformer.wasm'));
  const model = await Classifier.load(weights('sentiment'), {
    threads: 2,
    backend: 'wasm',
    urls: { 'glassformer.wasm': file.href },
  });
  assert.equal(model.info.threads, 1);
  assert.match(model.info.threadsNote, /urls names no binary with threads/);
  model.dispose();
});
