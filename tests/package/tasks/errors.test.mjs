// The form of errors, and the accepted signals.

import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { inspect } from 'node:util';
import { pathToFileURL } from 'node:url';
import vm from 'node:vm';
import {
  Classifier,
  GlassformerError,
  assertError,
  dist,
  goldenFolder,
  load,
  loadTranslator,
  readGolden,
} from '../support/helpers.mjs';

const folder = goldenFolder('pre_norm_mean');
const { texts } = readGolden('pre_norm_mean');
const classifier = await load(folder);
const translator = await loadTranslator(goldenFolder('translate_pre_norm_shared'));

test('the error of an aborted call looks like the platform’s', async () => {
  const controller = new AbortController();
  const { signal } = controller;
  const calls = [
    classifier.classify(texts[0], { signal }),
    classifier.classifyBatch(texts, { signal }),
    classifier.classifyEach(texts, { signal }).next(),
    translator.translate(texts[0], { signal }),
    translator.stream(texts[0], { signal }).next(),
    Classifier.load(folder, { signal }),
  ];
  controller.abort('enough');
  for (const { reason: error } of await Promise.allSettled(calls)) {
    assert.ok(error instanceof GlassformerError && error instanceof Error);
    assert.equal(error.name, 'AbortError');
    assert.equal(error.code, 'aborted');
    assert.equal(error.cause, 'enough');
    assert.match(String(error), /^AbortError: The call was aborted$/);
  }
});

test('an error prints its name and code first', async () => {
  const error = await classifier.classify('').catch((error) => error);
  assert.equal(error.name, 'GlassformerError');
  assert.match(error.stack, /^GlassformerError \[empty_input\]: text: /);
  assert.match(inspect(error), /^GlassformerError \[empty_input\]: text: [^]*code: 'empty_input'/);
  const aborted = await classifier
    .classify('a', { signal: AbortSignal.abort() })
    .catch((error) => error);
  assert.match(inspect(aborted), /^GlassformerError \[aborted\]: The call[^]*name: 'AbortError'/);
});

test('an uncaught error prints the problem', () => {
  const script = `import { Classifier } from ${JSON.stringify(pathToFileURL(`${dist}/index.js`))};
    await Classifier.load('weights/nowhere');`;
  const { status, stderr } = spawnSync(
    process.execPath,
    ['--input-type=module', '--eval', script],
    { encoding: 'utf8' },
  );
  assert.equal(status, 1);
  assert.match(stderr, /^GlassformerError \[missing_file\]: file:.*nowhere.*: no such file$/m);
  assert.match(stderr, /code: 'missing_file'/);
});

test('an object that only resembles a signal is refused', async () => {
  const tag = { [Symbol.toStringTag]: 'AbortSignal' };
  const methods = { addEventListener() {}, removeEventListener() {} };
  for (const signal of [
    'stop',
    null,
    {},
    { aborted: false },
    { aborted: false, ...methods },
    { ...tag },
    { ...tag, aborted: false },
    { ...tag, ...methods },
    Object.create(AbortSignal.prototype),
    Object.create(AbortSignal.prototype, { aborted: { value: false } }),
    new AbortController(),
    new EventTarget(),
  ]) {
    for (const call of [
      () => classifier.classify(texts[0], { signal }),
      () => classifier.classifyEach(texts, { signal }).next(),
      () => translator.stream(texts[0], { signal }).next(),
      () => Classifier.load(folder, { signal }),
    ]) {
      await assertError(call, 'invalid_option', /signal: expected an AbortSignal/);
    }
  }
});

test('a signal of another realm or of a library works', async () => {
  // Like jsdom's: another class with the same name and methods.
  const Signal = vm.runInNewContext(
    `class Target { ${['addEventListener', 'removeEventListener', 'dispatchEvent']
      .map((name) => `${name}(...args) { return this.inner.${name}(...args); }`)
      .join('\n')} }
     class Signal extends Target {
       aborted = false;
       get [Symbol.toStringTag]() { return 'AbortSignal'; }
     }
     Signal`,
  );
  const signal = new Signal();
  signal.inner = new EventTarget();
  assert.ok(!(signal instanceof AbortSignal));
  await classifier.classify(texts[0], { signal });
  const call = classifier.classifyBatch(Array(4000).fill(texts[0]), { signal });
  setImmediate(() => {
    Object.assign(signal, { aborted: true, reason: 'enough' });
    signal.dispatchEvent(new Event('abort'));
  });
  await assert.rejects(call, { code: 'aborted', cause: 'enough' });
  await assertError(() => classifier.classify(texts[0], { signal }), 'aborted');
});

test('many concurrent calls have one listener and cause no warning', async () => {
  const { signal } = new AbortController();
  let listeners = 0;
  let most = 0;
  const { addEventListener, removeEventListener } = signal;
  signal.addEventListener = (...args) => {
    most = Math.max(most, ++listeners);
    addEventListener.apply(signal, args);
  };
  signal.removeEventListener = (...args) => {
    listeners--;
    removeEventListener.apply(signal, args);
  };
  const some = Array(12).fill(texts[0]);
  await Promise.all(some.map((text) => classifier.classify(text, { signal })));
  await Promise.all(some.map((text) => translator.stream(text, { signal }).next()));
  assert.ok(most <= 2, `${most} listeners`); // the second only checks that it is a signal
  assert.ok(listeners <= 1);

  const script = `import { Classifier } from ${JSON.stringify(pathToFileURL(`${dist}/index.js`))};
    const classifier = await Classifier.load(${JSON.stringify(folder)});
    const { signal } = new AbortController();
    const call = (options) => Promise.all(Array(12).fill('a').map((text) =>
      classifier.classify(text, options)));
    process.on('warning', () => process.exit(3));
    await call({});
    await call({ signal });`;
  execFileSync(process.execPath, ['--input-type=module', '--eval', script]);
});
