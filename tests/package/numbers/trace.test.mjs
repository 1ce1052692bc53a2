// The numbers between text and answer with both binaries, in this thread and in a worker. They
// equal PyTorch's for every golden model and checkpoint.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { expectedOf, folderOf, names as checkpointNames, taskOf } from '../support/checkpoints.mjs';
import {
  Embedder,
  Generator,
  MaskFiller,
  QuestionAnswerer,
  TokenClassifier,
  assertError,
  assertNear,
  binaries,
  goldenFolder,
  goldenNames,
  hasSelfAttention,
  load,
  loadTranslator,
  plain,
  readGolden,
  readModel,
  readTrace,
  translationGoldenNames,
} from '../support/helpers.mjs';

const tolerance = 1e-4;
const text = 'the plot makes no sense';

/**
 * Patterns that match every tensor of any model. A model without a head has no match for the first.
 */
const everything = ['*', '*.*', '*.*.*.*', '*.*.*.*.*'];
const withoutHead = everything.slice(1);

const sizeOf = (shape) => shape.reduce((product, extent) => product * extent, 1);

function assertShapes(trace) {
  for (const [name, { shape, data, ...rest }] of Object.entries(trace)) {
    assert.ok(data instanceof Float32Array, name);
    assert.equal(data.length, sizeOf(shape), name);
    assert.deepEqual(rest, {});
  }
}

/** Like assertNear, but masked keys have -Infinity in both. */
function assertTensor(actual, expected, most, what) {
  const seen = (data) => Array.from(data, (value) => (value === -Infinity ? -1e30 : value));
  assertNear(seen(actual), seen(expected), most, what);
}

/** Asserts that a trace has PyTorch's tensors and numbers, relative to each tensor's largest. */
function assertTrace(trace, expected, relative) {
  assert.deepEqual(Object.keys(trace).sort(), Object.keys(expected).sort());
  for (const [name, { shape, data }] of Object.entries(expected)) {
    assert.deepEqual(trace[name].shape, shape, name);
    const largest = Math.max(...data.filter(Number.isFinite).map(Math.abs));
    assertTensor(trace[name].data, data, relative * largest, name);
  }
}

/** Returns the tensors of a text in a checkpoint's golden, if it has all of them. */
function traceOf(tensors, index) {
  const own = Object.entries(tensors).filter(([key]) => key.startsWith(`${index}/`));
  if (own.length === 0) return undefined;
  return Object.fromEntries(own.map(([key, tensor]) => [key.slice(`${index}/`.length), tensor]));
}

/** Returns the golden's keys of attention weights, and the stacks and parts with them in a trace. */
const attentionIn = (tensors, index) =>
  `cross.${index}` in tensors
    ? [
        ['encoder', 'encoder', 'self_attn'],
        ['decoder', 'decoder', 'self_attn'],
        ['cross', 'decoder', 'encoder_attn'],
      ]
    : [['attention', 'encoder', 'self_attn']];

/** Splits attention weights into layers, as in a trace. */
function assertLayers(map, traceOf, most, what) {
  const [layers, ...shape] = map.shape;
  const size = sizeOf(shape);
  for (let layer = 0; layer < layers; layer++) {
    const traced = traceOf(layer);
    assert.deepEqual(traced.shape, shape);
    assertTensor(traced.data, map.data.subarray(layer * size, (layer + 1) * size), most, what);
  }
}

for (const binary of binaries) {
  for (const name of goldenNames) {
    test(`${name}, ${binary}`, async () => {
      const golden = readGolden(name);
      const classifier = await load(goldenFolder(name), { binary });
      const beside = /^(attention|contributions)\./;
      const known = Object.keys(golden.tensors).filter((tensor) => !beside.test(tensor));
      assert.ok(known.includes('encoder.embeddings') && known.includes('logits'));
      const at = Object.fromEntries(known.map((tensor) => [tensor, 0])); // the texts are concatenated
      for (const [s, given] of golden.texts.entries()) {
        const result = await classifier.classify(given, { trace: everything });
        const { trace, ...answer } = plain(result);
        assertShapes(trace);
        assert.deepEqual(answer, plain(await classifier.classify(given)));
        for (const tensor of known) {
          const { shape, data } = trace[tensor];
          const [, ...row] = golden.tensors[tensor].shape;
          const rows = ['pooled', 'head.dense', 'logits'].includes(tensor)
            ? []
            : [golden.ids[s].length];
          assert.deepEqual(shape, [...rows, ...row], tensor);
          const expected = golden.tensors[tensor].data.subarray(
            at[tensor],
            (at[tensor] += data.length),
          );
          assertNear(data, expected, golden.tolerance[tensor][0], tensor);
        }
        const weights = (layer) => trace[`encoder.layers.${layer}.self_attn.weights`];
        assertLayers(golden.tensors[`attention.${s}`], weights, tolerance, 'weights');
        assert.deepEqual(
          trace.logits.data,
          Float32Array.from(result.scores, ({ logit }) => logit),
        );
      }
      for (const tensor of known)
        assert.equal(at[tensor], golden.tensors[tensor].data.length, tensor);

      const { text: s, tensors } = readTrace(name);
      const { trace } = await classifier.classify(golden.texts[s], { trace: everything });
      assertTrace(trace, tensors, 1e-5);
    });
  }

  const tasksOf = (...tasks) =>
    checkpointNames.filter((name) => tasks.includes(expectedOf(name).task));
  const encoders = tasksOf('sequence', 'tokens', 'answer', 'masks', 'embed');
  for (const name of encoders) {
    test(`${name}, ${binary}`, async () => {
      const { Class } = taskOf(name);
      const { tensors, texts } = expectedOf(name);
      const model = await load(folderOf(name), { binary }, Class);
      const trace = Class === Embedder ? withoutHead : everything;
      let compared = 0;
      for (const [index, given] of texts.entries()) {
        if (given.offsets?.every((place) => place === null)) continue; // no text
        const result = await ask(model, Class, given, { trace });
        assertShapes(result.trace);
        assert.deepEqual(result.trace['encoder.output'].shape[0], result.tokens.length);
        const known = traceOf(tensors, index);
        if (known) assertTrace(result.trace, known, tolerance);
        if (Class === QuestionAnswerer && given.window === undefined) continue; // no answer
        for (const [key, before, part] of attentionIn(tensors, index)) {
          const weights = (layer) => result.trace[`${before}.layers.${layer}.${part}.weights`];
          assertLayers(tensors[`${key}.${index}`], weights, tolerance, key);
        }
        const [last, traced] =
          Class === Embedder
            ? [`last_hidden_state.${index}`, 'encoder.output']
            : [
                given.window === undefined ? `logits.${index}` : `logits.${index}.${given.window}`,
                'logits',
              ];
        const expected = tensors[last];
        if (expected) assertNear(result.trace[traced].data, expected.data, tolerance, last);
        compared += expected ? 2 : 1;
      }
      assert.ok(compared > 1);
    });
  }

  for (const name of tasksOf('generate', 'text2text')) {
    test(`${name}, ${binary}`, async () => {
      const { tensors, texts, task } = expectedOf(name);
      const model = await load(folderOf(name), { binary }, Generator);
      const asked = { trace: everything };
      for (const [index, given] of texts.entries()) {
        const { trace } =
          task === 'text2text'
            ? await model.generate(given.text, { ...given.runs[0].options, ...asked })
            : await model.next(given.text, { count: 0, ...asked });
        assertShapes(trace);
        const kept = { [`logits.${index}`]: 'logits', [`states.${index}`]: 'encoder.output' };
        for (const [key, traced] of Object.entries(kept)) {
          if (!(key in tensors)) continue;
          assert.deepEqual(trace[traced].shape, tensors[key].shape, key);
          assertTensor(trace[traced].data, tensors[key].data, tolerance, key);
        }
        const known = traceOf(tensors, index);
        if (known) assertTrace(trace, known, tolerance);
      }
      assert.ok(texts.every((_, index) => `logits.${index}` in tensors));
    });
  }

  for (const name of tasksOf('translate')) {
    const { tensors, texts } = expectedOf(name);
    const index = texts.findIndex((_, i) => traceOf(tensors, i));
    if (index < 0) continue;
    test(`${name}, ${binary}`, async () => {
      const translator = await loadTranslator(folderOf(name), { binary });
      const { text: given, from, to, output } = texts[index];
      const options = { from, to, beams: 1, maxLength: output.length, trace: everything };
      const { sentences } = await translator.translate(given, options);
      assertTrace(sentences[0].trace, traceOf(tensors, index), tolerance);
    });
  }

  for (const name of translationGoldenNames) {
    test(`${name}, ${binary}`, async () => {
      const golden = readGolden(name);
      const translator = await loadTranslator(goldenFolder(name), { binary });
      const starts = { encoder: 0, decoder: 0 }; // the first rows of this text
      let compared = 0;
      for (const [s, given] of golden.texts.entries()) {
        const target = golden.target_ids[s];
        const forced = await force(translator, given, golden, target);
        const count = { encoder: golden.ids[s].length, decoder: target.length };
        for (const [tensor, { shape, data }] of Object.entries(golden.tensors)) {
          const [stack] = tensor.split('.');
          if (!(stack in starts)) continue;
          const traced = forced.trace[tensor];
          const rows = stack === 'encoder' ? count.encoder : forced.tokens.length;
          assert.deepEqual(traced.shape, [rows, ...shape.slice(1)], tensor);
          const width = sizeOf(shape.slice(1));
          const expected = data.subarray(starts[stack] * width, (starts[stack] + rows) * width);
          assertNear(traced.data, expected, golden.tolerance[tensor][0], tensor);
          compared++;
        }
        const [, width] = golden.tensors.logits.shape;
        const { data } = forced.trace.logits;
        const first = starts.decoder * width;
        const expected = golden.tensors.logits.data.subarray(first, first + data.length);
        assertNear(data, expected, golden.tolerance.logits[0], 'logits');

        for (const [map, place] of [
          ['encoder_attention', 'encoder.layers.L.self_attn.weights'],
          ['decoder_attention', 'decoder.layers.L.self_attn.weights'],
          ['cross_attention', 'decoder.layers.L.encoder_attn.weights'],
        ]) {
          if (map === 'decoder_attention' && !hasSelfAttention(name)) {
            assert.ok(!(`${map}.${s}` in golden.tensors));
            continue;
          }
          const steps = forced.tokens.length;
          const whole = golden.tensors[`${map}.${s}`];
          const known =
            map === 'encoder_attention'
              ? whole
              : firstSteps(whole, steps, map === 'decoder_attention' ? steps : whole.shape[3]);
          assertLayers(known, (layer) => forced.trace[place.replace('L', layer)], tolerance, map);
        }
        starts.encoder += count.encoder;
        starts.decoder += count.decoder;
      }
      assert.ok(compared >= 3 * 8);

      const { text: s, tensors } = readTrace(name);
      const target = golden.target_ids[s].slice(0, tensors['decoder.embeddings'].shape[0]);
      const { trace } = await force(translator, golden.texts[s], golden, target);
      assertTrace(trace, tensors, 1e-5);
    });
  }

  test(`${binary}: only the requested tensors are returned`, async () => {
    const classifier = await load(goldenFolder('pre_norm_mean'), { binary });
    const namesOf = async (trace) =>
      Object.keys((await classifier.classify(text, { trace })).trace);
    assert.deepEqual(await namesOf(['encoder.layers.*.output', 'logits', 'logits']), [
      'encoder.layers.0.output',
      'encoder.layers.1.output',
      'logits',
    ]);
    assert.deepEqual(await namesOf(['pooled']), ['pooled']);
    assert.deepEqual(await namesOf([]), []);
    assert.equal('trace' in (await classifier.classify(text)), false);
    assert.equal('trace' in (await classifier.classify(text, { trace: undefined })), false);
    const both = { trace: ['pooled'], attention: true, contributions: true };
    const { trace, attention, contributions } = await classifier.classify(text, both);
    assert.equal(trace.pooled.shape.length, 1);
    assert.equal(attention.encoder.layers, 2);
    assert.equal(Object.keys(contributions).length, 2);

    const translator = await loadTranslator(goldenFolder('translate_pre_norm_shared'), { binary });
    const { sentences } = await translator.translate(text, { trace: [], maxLength: 3 });
    for (const sentence of sentences) assert.deepEqual(sentence.trace, {});
  });

  test(`${binary}: unknown names are refused, and the message lists the model's names`, async () => {
    const classifier = await load(goldenFolder('pre_norm_mean'), { binary });
    const refused = (trace, message) =>
      assertError(() => classifier.classify(text, { trace }), 'invalid_option', message);
    const known = /"decoder\.output"; it has encoder\.embed_tokens, .*pooled, logits/;
    await refused(['logits', 'decoder.output'], known);
    await refused(['encoder.*.output'], /trace: .*it has/);
    await refused('logits', /trace: expected an array/);
    await refused(null, /trace/);
    await refused([7], /trace: expected an array of nonempty strings/);
    await refused([''], /trace: expected an array of nonempty strings/);
    await refused({ 0: 'logits' }, /trace/);
    const wrong = { trace: ['no.such'] };
    await assertError(() => classifier.classifyBatch([text], wrong), 'invalid_option', /no\.such/);
    const each = async () => {
      for await (const _ of classifier.classifyEach([text], wrong)) assert.fail();
    };
    await assertError(each, 'invalid_option', /no\.such/);
    assert.ok((await classifier.classify(text, { trace: ['logits'] })).trace.logits);
  });

  test(`${binary}: a trace that is too large is refused`, async () => {
    const files = readModel('pre_norm_mean');
    const config = JSON.parse(new TextDecoder().decode(files['config.json']));
    const key = Object.keys(config).find((field) => /^max_.*length$/.test(field));
    config[key] = 16_384;
    files['config.json'] = new TextEncoder().encode(JSON.stringify(config));
    const classifier = await load(files, { binary });
    const long = 'a '.repeat(6000);
    const scores = { trace: ['encoder.layers.0.self_attn.scores'] };
    const message = /the requested tensors may take \d+ MiB, expected at most 512 MiB/;
    await assertError(() => classifier.classify(long, scores), 'too_large', message);
    const outcomes = [];
    for await (const outcome of classifier.classifyEach([text, long, text], scores)) {
      outcomes[outcome.index] = outcome;
    }
    assert.equal(outcomes[1].error.code, 'too_large');
    for (const index of [0, 2]) assert.equal(Object.keys(outcomes[index].result.trace).length, 1);
  });
}

test('for every published family, all tensors of a text are compared', () => {
  const configIn = (folder) => JSON.parse(readFileSync(join(folder, 'config.json'), 'utf8'));
  // Old sentence encoders have their Transformer in a subfolder.
  const familyOf = (name) =>
    configIn(folderOf(name)).model_type ??
    configIn(join(folderOf(name), '0_Transformer')).model_type;
  const compared = checkpointNames.filter((name) => {
    const { tensors, texts } = expectedOf(name);
    return texts.some((_, index) => traceOf(tensors, index));
  });
  const families = new Set(checkpointNames.map(familyOf));
  assert.ok(families.size >= 9);
  assert.deepEqual(new Set(compared.map(familyOf)), families);
});

test('traces are the same in a worker, in batches and for single texts', async () => {
  const options = { trace: everything };
  for (const worker of [false, true]) {
    const classifier = await load(goldenFolder('pre_norm_mean'), { worker });
    const { texts } = readGolden('pre_norm_mean');
    const single = [];
    for (const each of texts) single.push(await classifier.classify(each, options));
    assert.deepEqual(await classifier.classifyBatch(texts, options), single);
    const outcomes = [];
    for await (const { index, result } of classifier.classifyEach(texts, options)) {
      outcomes[index] = result;
    }
    assert.deepEqual(outcomes, single);
    const translator = await loadTranslator(goldenFolder('translate_odd_local'), { worker });
    const asked = { trace: everything, maxLength: 5 };
    const two = 'the old film. a quiet heart.';
    const translation = await translator.translate(two, asked);
    assert.equal(translation.sentences.length, 2);
    assert.deepEqual(await translator.translateBatch([two, two], asked), [
      translation,
      translation,
    ]);
    for (const { sourceTokens, tokens, trace } of translation.sentences) {
      assertShapes(trace);
      assert.equal(trace['encoder.output'].shape[0], sourceTokens.length);
      assert.equal(trace['decoder.output'].shape[0], tokens.length);
      const [, queries, keys] = trace['decoder.layers.0.encoder_attn.weights'].shape;
      assert.deepEqual([queries, keys], [tokens.length, sourceTokens.length]);
    }
    const greedy = await translator.translate(two, { ...asked, beams: 1 });
    for await (const step of translator.stream(two, asked)) {
      if (step.done) assert.deepEqual(plain(step.result), plain(greedy));
      else assert.equal('trace' in step, false);
    }
  }
});

test('masked tokens are masked in a translation’s trace', async () => {
  const translator = await loadTranslator(goldenFolder('translate_odd_local'));
  const text = 'the old film.';
  const options = { beams: 2, maskTokens: [[1]] };
  const { tokens } = (await translator.translate(text, options)).sentences[0];
  const weights = 'decoder.layers.0.encoder_attn.weights';
  const traced = await translator.translate(text, { ...options, trace: ['logits', weights] });
  const { trace } = traced.sentences[0];
  assert.deepEqual(traced.sentences[0].tokens, tokens);
  const keys = trace[weights].shape[2];
  assert.ok(trace[weights].data.every((value, i) => i % keys !== 1 || value === 0));
  const width = trace.logits.shape[1];
  for (const [row, { id, logprob }] of tokens.entries()) {
    const logits = trace.logits.data.subarray(row * width, (row + 1) * width);
    const total = Math.log(logits.reduce((sum, value) => sum + Math.exp(value), 0));
    assert.ok(Math.abs(logits[id] - total - logprob) < 1e-4, `${row}`);
  }
});

function ask(model, Class, given, options) {
  if (Class === Embedder) {
    const { promptName } = given;
    return model.embed(given.text, promptName ? { ...options, promptName } : options);
  }
  if (Class === MaskFiller) return model.fill(given.text, options);
  if (Class === TokenClassifier) return model.classify(given.text, { ...options, window: 'first' });
  if (Class !== QuestionAnswerer) {
    const { text: first, pair } = given;
    return model.classify(pair === undefined ? first : { text: first, pair }, options);
  }
  return model.answer(given.question, given.context, {
    ...options,
    maxSeqLen: given.options.max_length,
    docStride: given.options.stride,
    maxAnswerLen: given.options.max_answer_length,
    handleImpossibleAnswer: given.options.handle_impossible_answer,
  });
}

/**
 * Returns a translation that reads the golden's target, as far as a translation may have its
 * tokens. It replaces the logits to force them; the model's own logits are in the trace.
 */
async function force(translator, given, golden, target) {
  const width = golden.tensors.logits.shape[1];
  const logits = [];
  const own = [];
  for (let length = 1; ; length++) {
    const patch = {
      name: 'logits',
      value: { shape: [length - 1, width], data: Float32Array.from(logits) },
    };
    const options = { beams: 1, maxLength: length, trace: everything, patch: [patch] };
    const [sentence] = (await translator.translate(given, options)).sentences;
    const fed = sentence.tokens.slice(0, length - 1).map(({ id }) => id);
    if (fed.join() !== target.slice(1, length).join() || sentence.tokens.length < length) {
      assert.ok(length > 1);
      return force(translator, given, golden, target.slice(0, length - 1));
    }
    own.push(...sentence.trace.logits.data.subarray(-width));
    if (length === target.length) {
      sentence.trace.logits.data = Float32Array.from(own);
      return sentence;
    }
    for (let id = 0; id < width; id++) logits.push(id === target[length] ? 1000 : 0);
  }
}

/** Returns the first queries and keys of attention weights [layers, heads, queries, keys]. */
function firstSteps({ shape: [layers, heads, queries, keys], data }, steps, seen) {
  const rows = [];
  for (let map = 0; map < layers * heads; map++) {
    for (let query = 0; query < steps; query++) {
      const row = (map * queries + query) * keys;
      rows.push(...data.subarray(row, row + seen));
    }
  }
  return { shape: [layers, heads, steps, seen], data: Float32Array.from(rows) };
}
