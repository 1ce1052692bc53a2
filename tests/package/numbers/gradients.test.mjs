// Gradients by the names of tensors, and the explanations that use them: compared with PyTorch's for
// every golden model and checkpoint, with the native command line, and refused.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { command } from '../../native_build.mjs';
import { expectedOf, folderOf, names as checkpointNames, taskOf } from '../support/checkpoints.mjs';
import {
  Classifier,
  Embedder,
  Generator,
  MaskFiller,
  QuestionAnswerer,
  TokenClassifier,
  Translator,
  assertError,
  assertNear,
  binaries,
  dist,
  goldenFolder,
  goldenNames,
  hasSelfAttention,
  load,
  openAny,
  plain,
  readGolden,
  readSafetensors,
  root,
  translationGoldenNames,
} from '../support/helpers.mjs';

const tolerance = 1e-4;
const sentiment = join(root, 'weights/sentiment');
const text = 'A gripping film with a dreadful ending.';
const floats = { gradients: true, compute: 'f32' };
/** Patterns that match every tensor of an encoder and its head. */
const everything = ['*', '*.*', '*.*.*.*', '*.*.*.*.*'];

/** Returns the plan of a golden, and its gradients of tensors, those that are the same included. */
function goldenOf(folder, file) {
  const plan = JSON.parse(readFileSync(join(folder, `${file}.json`), 'utf8'));
  const tensors = {};
  for (const [name, tensor] of Object.entries(readSafetensors(join(folder, `${file}.safetensors`))))
    if (name.startsWith('trace/')) tensors[name.slice('trace/'.length)] = tensor;
  for (const [name, source] of Object.entries(plan.same)) tensors[name] = tensors[source];
  return { ...plan, tensors };
}

/** Asserts that gradients are PyTorch's, relative to the largest number of any tensor. */
function assertGradients(gradients, { tensors }) {
  assert.deepEqual(Object.keys(gradients).sort(), Object.keys(tensors).sort());
  const largest = Math.max(
    ...Object.values(tensors).flatMap(({ data }) => [...data].map(Math.abs)),
  );
  assert.ok(largest > 0);
  for (const [name, { shape, data }] of Object.entries(tensors)) {
    assert.ok(gradients[name].data instanceof Float32Array, name);
    assert.deepEqual(gradients[name].shape, shape, name);
    assertNear(gradients[name].data, data, tolerance * largest, name);
  }
}

const readers = checkpointNames.filter(
  (name) =>
    existsSync(join(folderOf(name), 'expected.gradients.json')) &&
    ['sequence', 'tokens', 'answer', 'masks'].includes(expectedOf(name).task),
);
assert.ok(goldenNames.length >= 7 && readers.length >= 12);

/** Answers one text of a checkpoint's golden. */
function ask(model, given, options) {
  if (model instanceof QuestionAnswerer) {
    const { max_length: maxSeqLen, stride: docStride } = given.options;
    const windows = {
      maxSeqLen,
      docStride,
      maxAnswerLen: given.options.max_answer_length,
    };
    return model.answer(given.question, given.context, { ...windows, ...options });
  }
  const { text: first, pair } = given;
  if (model instanceof MaskFiller) return model.fill(first, options);
  return model.classify(pair === undefined ? first : { text: first, pair }, options);
}

for (const binary of binaries) {
  for (const name of goldenNames)
    test(`${name}, ${binary}: gradients equal PyTorch’s`, async () => {
      const golden = goldenOf(goldenFolder(name), 'gradients');
      const classifier = await load(goldenFolder(name), { binary, gradients: true });
      const given = readGolden(name).texts[golden.text];
      const result = await classifier.classify(given, { gradients: everything });
      assertGradients(result.gradients, golden);
      assert.equal('trace' in result, false);
      const { gradients: _, ...answer } = plain(result);
      assert.deepEqual(answer, plain(await classifier.classify(given)));
    });

  for (const name of readers)
    test(`${name}, ${binary}: gradients equal the library’s`, async () => {
      const golden = goldenOf(folderOf(name), 'expected.gradients');
      const { Class } = taskOf(name);
      const model = await load(folderOf(name), { binary, gradients: true }, Class);
      const token =
        Class === TokenClassifier ? { gradientToken: golden.contrast[0][0], window: 'first' } : {};
      const given = expectedOf(name).texts[golden.text];
      const result = await ask(model, given, { gradients: everything, ...token });
      // That of a classifier's logits is the contrast itself, where the library has no place for it.
      golden.tensors.logits ??= {
        shape: [golden.contrast.length],
        data: Float32Array.from(golden.contrast, ([, , share]) => share),
      };
      assertGradients(result.gradients, golden);
    });
}

/**
 * Checkpoints that continue texts or translate, with gradients of a next token. Some goldens are of
 * the beginning of a text, which cannot be given as a text.
 */
const writers = checkpointNames.filter((name) => {
  const file = join(folderOf(name), 'expected.gradients.json');
  if (!existsSync(file)) return false;
  const { text, ids } = JSON.parse(readFileSync(file, 'utf8'));
  const { task, texts } = expectedOf(name);
  const writes = ['generate', 'translate', 'text2text'].includes(task);
  return writes && texts[text]?.ids.join() === ids.join();
});
const translators = translationGoldenNames.filter((name) => hasSelfAttention(name));
assert.ok(writers.length >= 12 && translators.length >= 4);

/** Returns the languages of a text for a translator of many, as options. */
const languagesIn = ({ from, to }) => (from === undefined ? {} : { from, to });

const ofNext = [
  ...translators.map((name) => ({
    name,
    folder: goldenFolder(name),
    file: 'gradients',
    Class: Translator,
    textOf: (index) => readGolden(name).texts[index],
    languagesOf: () => ({}),
    kind: 'translate',
  })),
  ...writers.map((name) => ({
    name,
    folder: folderOf(name),
    file: 'expected.gradients',
    Class: taskOf(name).Class,
    textOf: (index) => expectedOf(name).texts[index].text,
    languagesOf: (index) => languagesIn(expectedOf(name).texts[index]),
    kind: expectedOf(name).task,
  })),
];

/** Returns the options that explain a golden's number: one next token's lead over another. */
function pairOf({ contrast, target_ids: read }) {
  const idOf = (sign) => contrast.find(([, , weight]) => weight === sign)[1];
  const pair = { token: idOf(1), against: idOf(-1) };
  return read ? { ...pair, prefix: read.slice(1) } : pair;
}

/** Returns the product of matrices in arrays of rows. */
const times = (a, b) =>
  a.map((row) => b[0].map((_, c) => row.reduce((sum, x, j) => sum + x * b[j][c], 0)));
const plus = (a, b) => a.map((row, i) => row.map((x, j) => x + b[i][j]));
const identity = (n) =>
  Array.from({ length: n }, (_, i) => Array.from({ length: n }, (_, j) => +(i === j)));
const transposed = (a) => a[0].map((_, j) => a.map((row) => row[j]));
/** Returns the mean over heads of max(0, A ⊙ ∂y/∂A), for tensors [heads, queries, keys]. */
function positiveMean({ shape: [heads, queries, keys], data }, { data: slopes }) {
  return Array.from({ length: queries }, (_, i) =>
    Array.from({ length: keys }, (_, j) => {
      let sum = 0;
      for (let head = 0; head < heads; head++) {
        const at = (head * queries + i) * keys + j;
        sum += Math.max(0, data[at] * slopes[at]) / heads;
      }
      return sum;
    }),
  );
}
/** Returns R with the rows of R - I divided by their sums; rows of zeros stay zero. */
function normalized(r) {
  const unit = identity(r.length);
  return r.map((row, i) => {
    const more = row.map((x, j) => x - unit[i][j]);
    const sum = more.reduce((total, x) => total + x, 0);
    return more.map((x, j) => (sum === 0 ? 0 : x / sum) + unit[i][j]);
  });
}

for (const binary of binaries)
  for (const { name, folder, file, Class, textOf, languagesOf, kind } of ofNext)
    test(`${name}, ${binary}: gradients of a next token equal PyTorch’s`, async () => {
      const golden = goldenOf(folder, file);
      const model = await load(folder, { binary, gradients: true }, Class);
      const text = textOf(golden.text);
      const languages = languagesOf(golden.text);
      const pair = { ...pairOf(golden), ...languages };
      const names = ['*.*', '*.*.*.*', '*.*.*.*.*'];
      const result = await model.explain(text, { method: 'gradients', names, ...pair });
      const { tensors } = golden;
      delete tensors.logits;
      assertGradients(result.gradients, { tensors });
      assert.deepEqual([result.token.id, result.against.id], [pair.token, pair.against]);

      // Two other methods, computed in doubles from PyTorch's gradients. The package has no trace of
      // a given answer, which they need.
      if (kind === 'text2text') return;
      const trace = await traced(model, text, languages, pair.prefix, [
        '*.embed_tokens',
        '*.layers.*.*.weights',
      ]);
      const stacks = pair.prefix ? ['decoder', 'encoder'] : ['decoder'];
      const products = stacks.flatMap((stack) => {
        const { shape, data } = trace[`${stack}.embed_tokens`];
        const slopes = tensors[`${stack}.embed_tokens`].data;
        return Array.from({ length: shape[0] }, (_, row) => {
          let sum = 0;
          for (let c = row * shape[1]; c < (row + 1) * shape[1]; c++) sum += data[c] * slopes[c];
          return sum;
        });
      });
      const input = await model.explain(text, { method: 'gradient_times_input', ...pair });
      const most = Math.max(...products.map(Math.abs));
      assertNear(input.scores, products, tolerance * Math.max(1, most), 'gradient × input');

      const mean = (tensor) => positiveMean(trace[tensor], tensors[tensor]);
      const layersOf = (stack) => model.architecture[stack].layers.keys();
      const rowOf = (stack) => trace[`${stack}.embed_tokens`].shape[0];
      let own = identity(rowOf('decoder'));
      let source;
      let read;
      if (pair.prefix) {
        read = identity(rowOf('encoder'));
        for (const layer of layersOf('encoder'))
          read = plus(read, times(mean(`encoder.layers.${layer}.self_attn.weights`), read));
        source = own.map(() => read.map(() => 0));
      }
      for (const layer of layersOf('decoder')) {
        const a = mean(`decoder.layers.${layer}.self_attn.weights`);
        if (source) source = plus(source, times(a, source));
        own = plus(own, times(a, own));
        if (!source) continue;
        const cross = mean(`decoder.layers.${layer}.encoder_attn.weights`);
        const moved = times(times(transposed(normalized(own)), cross), normalized(read));
        source = plus(source, moved);
      }
      const unit = identity(own.length);
      const expected = own.map((row, i) => [
        ...row.map((x, j) => x - unit[i][j]),
        ...(source?.[i] ?? []),
      ]);
      const found = await model.explain(text, { method: 'relevance', ...pair });
      assert.deepEqual(found.relevance.shape, [own.length, expected[0].length]);
      assertNear(found.relevance.data, expected.flat(), 1e-4, 'relevance');
      assertNear(found.scores, expected.at(-1), 1e-4, 'scores');
      assert.ok(found.scores.some((score) => score > 0));
    });

for (const binary of binaries)
  for (const { name, folder, file, Class, textOf, languagesOf } of ofNext) {
    const path = join(folder, `${file.replace('gradients', 'integrated')}.json`);
    if (!existsSync(path)) continue;
    test(`${name}, ${binary}: integrated gradients of a next token equal PyTorch’s`, async () => {
      const golden = JSON.parse(readFileSync(path, 'utf8'));
      const model = await load(folder, { binary, gradients: true }, Class);
      const found = await model.explain(textOf(golden.text), {
        method: 'integrated_gradients',
        baselineToken: golden.baseline_token ?? undefined,
        ...pairOf(golden),
        ...languagesOf(golden.text),
      });
      const most = Math.max(1, ...golden.scores.map(Math.abs));
      assertNear(found.scores, golden.scores, tolerance * most, 'scores');
      for (const key of ['value', 'baseline', 'gap'])
        assertNear([found[key]], [golden[key]], tolerance * most, key);
      assert.equal(found.steps, golden.steps);
    });
  }

test('a token of an answer is explained, and its methods agree with each other', async () => {
  const generator = await load(folderOf('t5'), { gradients: true }, Generator);
  const { text } = expectedOf('t5').texts[2];
  const name = 'encoder.embed_tokens';
  const own = 'decoder.embed_tokens';
  const written = await generator.generate(text, { sample: false, trace: [name, own] });
  const position = 2;
  const method = 'gradient_times_input';
  const found = await generator.explain(text, { method, position });
  assert.equal(found.answer.text, written.text);
  assert.deepEqual(
    found.answer.tokens,
    written.tokens.map(({ id, text }) => ({ id, text })),
  );
  assert.deepEqual(found.tokens, written.promptTokens);
  assert.equal(found.token.id, written.tokens[position].id);
  const names = [own, name];
  const { gradients } = await generator.explain(text, { method: 'gradients', names, position });
  const products = names.flatMap((each) => {
    const { shape, data } = gradients[each];
    return Array.from({ length: shape[0] }, (_, row) => {
      let sum = 0;
      for (let c = row * shape[1]; c < (row + 1) * shape[1]; c++)
        sum += data[c] * written.trace[each].data[c];
      return sum;
    });
  });
  assertNear(found.scores, products, 1e-4, 'gradient × input');
  const prefix = written.tokens.slice(0, position).map(({ id }) => id);
  const relevance = await generator.explain(text, { method: 'relevance', position });
  const begun = await generator.explain(text, { method: 'relevance', prefix });
  assert.deepEqual(begun.scores, relevance.scores);
  assert.deepEqual(relevance.relevance.shape, [position + 1, found.scores.length]);
  assert.ok(relevance.scores.every((score) => score >= 0));
});

test('gradients of a next token are those of the patched run', async () => {
  const generator = await load(join(root, 'weights/writer'), floats, Generator);
  const given = 'The acting is dreadful, so this film is';
  const name = 'decoder.layers.2.input';
  const { trace } = await generator.next('A film that is brilliant, so I love it', {
    trace: [name],
  });
  const [rows, width] = trace[name].shape;
  const patch = [{ name, tokens: [3], value: trace[name].data.slice(3 * width, 4 * width) }];
  const [first, second] = (await generator.next(given, { temperature: 1 })).next;
  const pair = { token: first.id, against: second.id };
  const above = 'decoder.layers.3.input';
  const lead = async (more) => {
    const { trace } = await generator.next(given, { trace: ['logits'], patch: more });
    const { shape, data } = trace.logits;
    const last = data.subarray((shape[0] - 1) * shape[1]);
    return last[pair.token] - last[pair.against];
  };
  const options = { method: 'gradients', names: [name, above], patch, ...pair };
  const { gradients } = await generator.explain(given, options);
  // The change along a direction, by a small step to either side of the patched run.
  const run = await generator.next(given, { trace: [above], patch });
  const moved = (by) => {
    const value = run.trace[above].data.map((x, i) => x + by * Math.sin(i));
    return lead([...patch, { name: above, value: { shape: run.trace[above].shape, data: value } }]);
  };
  const slope = ((await moved(1e-2)) - (await moved(-1e-2))) / 2e-2;
  const along = gradients[above].data.reduce((sum, x, i) => sum + x * Math.sin(i), 0);
  assertNear([along], [slope], 2e-2 * Math.max(1, Math.abs(slope)), 'slope');
  assert.ok(rows > 3);
  const weights = [{ name: 'decoder.layers.0.self_attn.weights', tokens: [0], value: 0 }];
  const refused = (more, code, pattern) =>
    assertError(() => generator.explain(given, { ...options, ...more }), code, pattern);
  await refused({ patch: weights }, 'unsupported', /weights/);
  await refused({ patch: [{ name: 'no.such', value: 0 }] }, 'invalid_option', /no\.such/);
  await refused({ method: 'relevance', names: undefined }, 'invalid_option', /patch/);
});

/** Traces the run that reads a text and, of a translator, this prefix. */
async function traced(model, text, languages, prefix, names) {
  if (!prefix) return (await model.next(text, { trace: names })).trace;
  const options = { ...languages, beams: 1, maxLength: prefix.length + 1, trace: names };
  const { sentences } = await model.translate(text, { ...options, prefixes: [prefix] });
  return sentences[0].trace;
}

test('without a pair, the likeliest next token is explained, against the runner-up', async () => {
  const folder = join(root, 'weights/writer');
  const generator = await load(folder, floats, Generator);
  const given = 'The acting is dreadful, so this film is';
  const [first, second] = (await generator.next(given, { temperature: 1 })).next;
  for (const method of ['gradient_times_input', 'relevance']) {
    const { token, against, tokens, scores } = await generator.explain(given, { method });
    assert.deepEqual([token.id, against.id], [first.id, second.id]);
    assert.equal(scores.length, tokens.length);
  }
  const other = { token: second.id, against: first.id };
  const method = 'gradient_times_input';
  const { scores } = await generator.explain(given, { method });
  const opposite = await generator.explain(given, { method, ...other });
  assertNear(
    opposite.scores,
    scores.map((score) => -score),
    1e-3,
    'the other token',
  );
});

test('of a translation, the token at a place is explained', async () => {
  const translator = await load(join(root, 'weights/en-de'), floats, Translator);
  const given = 'It rains. The film is not good.';
  const place = { sentence: 1, position: 3 };
  const attribution = await translator.explain(given, {
    method: 'direct_logit_attribution',
    ...place,
  });
  for (const method of ['gradient_times_input', 'relevance']) {
    const found = await translator.explain(given, { method, ...place });
    const { scores, sourceTokens } = found;
    assert.equal(scores.length, place.position + 1 + sourceTokens.length);
    for (const key of ['text', 'sentence', 'position', 'token', 'against', 'sourceTokens'])
      assert.deepEqual(found[key], attribution[key], key);
  }
  const { scores } = await translator.explain(given, { method: 'relevance', ...place });
  const ofSource = scores.slice(place.position + 1);
  const heaviest = ofSource.indexOf(Math.max(...ofSource));
  assert.equal(attribution.token.text, ' nicht');
  assert.equal(attribution.sourceTokens[heaviest].text, ' not');
});

test('gradients of next tokens are refused by name', async () => {
  const folder = folderOf('gpt2_generate');
  const generator = await load(folder, { gradients: true }, Generator);
  const refused = (model, options, code, pattern) =>
    assertError(() => model.explain('good', options), code, pattern);
  const invalid = 'invalid_option';
  await refused(generator, { method: 'gradients' }, invalid, /names: expected names/);
  await refused(generator, { method: 'gradients', names: ['no.such'] }, invalid, /no\.such/);
  await refused(generator, { method: 'relevance', names: ['logits'] }, invalid, /names/);
  await refused(generator, { method: 'relevance', effects: true }, invalid, /effects/);
  await refused(generator, { method: 'relevance', token: 1, against: 1 }, invalid, /against/);
  await refused(generator, { method: 'relevance', token: 500 }, invalid, /token.*below 500/);
  const answering = await load(folderOf('t5'), { gradients: true }, Generator);
  await refused(answering, { method: 'relevance', position: 999 }, invalid, /position.*got 999/);
  await refused(answering, { method: 'relevance', prefix: [9999] }, invalid, /prefix.*got 9999/);
  await refused(answering, { method: 'rollout' }, 'unsupported', /continues texts/);
  await refused(generator, { method: 'relevance', position: 1 }, invalid, /with an encoder/);
  await refused(generator, { method: 'relevance', baselineToken: 1 }, invalid, /baselineToken/);
  const integrated = 'integrated_gradients';
  await refused(generator, { method: integrated, baselineToken: 500 }, invalid, /below 500/);
  const integers = await load(folder, { gradients: true, compute: 'int8' }, Generator);
  await refused(integers, { method: 'relevance' }, 'unsupported', /f32|int8/);
  const golden = (name) => load(goldenFolder(name), { gradients: true }, Translator);
  const recurrent = await golden('translate_recurrent_post_norm');
  await refused(recurrent, { method: 'relevance' }, 'unsupported', /recurrent/);
  const translator = await golden('translate_pre_norm_shared');
  await refused(translator, { method: 'relevance', sentence: 9 }, invalid, /sentence.*got 9/);
  await refused(translator, { method: 'relevance', position: 999 }, invalid, /position.*got 999/);
});

test('gradients come with traces and patches, for batches and streams, in a worker', async () => {
  const options = { ...floats, worker: true };
  const classifier = await load(sentiment, options);
  const name = 'encoder.layers.0.output';
  const patch = [{ name: 'encoder.embed_tokens', tokens: [2], value: 0 }];
  const asked = { gradients: [name], trace: [name], patch };
  const [first] = await classifier.classifyBatch([text, 'A fine film.'], asked);
  assert.deepEqual(Object.keys(first.gradients), [name]);
  assert.deepEqual(first.gradients[name].shape, first.trace[name].shape);
  assert.notDeepEqual(first.gradients[name].data, first.trace[name].data);
  const { gradients: unpatched } = await classifier.classify(text, { gradients: [name] });
  assert.notDeepEqual(first.gradients[name].data, unpatched[name].data);
  for await (const { result } of classifier.classifyEach([text], asked))
    assert.deepEqual(result.gradients, first.gradients);
});

test('the gradient is the slope of the answer', async () => {
  const classifier = await load(sentiment, floats);
  const name = 'encoder.layers.2.input';
  const { gradients, trace, scores } = await classifier.classify(text, {
    gradients: [name],
    trace: [name],
  });
  const { shape, data } = trace[name];
  const direction = data.map((_, i) => Math.sin(i));
  const along = direction.reduce((sum, step, i) => sum + step * gradients[name].data[i], 0);
  const sign = scores[1].logit > scores[0].logit ? 1 : -1;
  const moved = async (by) => {
    const value = { shape, data: data.map((number, i) => number + by * direction[i]) };
    const result = await classifier.classify(text, { patch: [{ name, value }] });
    return sign * (result.scores[1].logit - result.scores[0].logit);
  };
  const step = 1e-2;
  const slope = ((await moved(step)) - (await moved(-step))) / (2 * step);
  assert.ok(Math.abs(slope - along) < 1e-2 * Math.max(1, Math.abs(slope)), `${slope}, ${along}`);
});

test('of tokens, the label of the first or of a chosen one is explained', async () => {
  const golden = goldenOf(folderOf('bert_tokens'), 'expected.gradients');
  const { text: given } = expectedOf('bert_tokens').texts[golden.text];
  const tagger = await load(folderOf('bert_tokens'), { gradients: true }, TokenClassifier);
  const name = 'encoder.embed_tokens';
  const of = async (gradientToken) =>
    (await tagger.classify(given, { gradients: [name], gradientToken })).gradients[name].data;
  assert.equal(golden.contrast[0][0], 1);
  assertNear(await of(undefined), golden.tensors[name].data, tolerance, name);
  assert.deepEqual(await of(1), await of(undefined));
  assert.notDeepEqual(await of(2), await of(1));
  await assertError(() => of(99), 'invalid_option', /gradientToken: expected a position below/);
  const alone = () => tagger.classify(given, { gradientToken: 1 });
  await assertError(alone, 'invalid_option', /gradientToken: expected it only with gradients/);
});

/** Returns the command line's explanation in floats, with tensors as numbers. */
function natively(input, method) {
  const args = ['explain', sentiment, '--json', '--compute', 'f32', '--method', method];
  const line = execFileSync(command, args, { input: `${input}\n`, encoding: 'utf8' });
  return JSON.parse(line, (_, value) => {
    if (typeof value?.data !== 'string') return value;
    const { buffer, byteOffset, length } = Buffer.from(value.data, 'base64');
    const data = new Float32Array(buffer.slice(byteOffset, byteOffset + length));
    return { shape: value.shape, data };
  });
}

const methods = ['gradient_times_input', 'integrated_gradients', 'relevance'];

for (const binary of binaries)
  test(`the methods that use gradients give the native answer, ${binary}`, async () => {
    const classifier = await load(sentiment, { ...floats, binary });
    for (const method of methods) {
      const got = await classifier.explain(text, { method });
      const expected = natively(text, method);
      assert.deepEqual(Object.keys(got).sort(), Object.keys(expected).sort(), method);
      assert.equal(got.scores.length, got.tokens.length);
      assertNear(got.scores, expected.scores, 1e-3, method);
      for (const key of ['value', 'baseline', 'gap', 'steps'])
        if (key in expected) assertNear([got[key]], [expected[key]], 1e-3, key);
      if (method !== 'relevance') continue;
      assert.deepEqual(got.relevance.shape, [got.tokens.length, got.tokens.length]);
      assertNear(got.relevance.data, expected.relevance.data, 1e-3, method);
    }
  });

test('gradient × input is the sum over a token’s embedding', async () => {
  const classifier = await load(sentiment, floats);
  const name = 'encoder.embed_tokens';
  const { scores } = await classifier.explain(text, { method: 'gradient_times_input' });
  const run = await classifier.classify(text, { gradients: [name], trace: [name] });
  const [rows, width] = run.trace[name].shape;
  const sums = Array.from({ length: rows }, (_, row) => {
    let sum = 0;
    for (let c = row * width; c < (row + 1) * width; c++)
      sum += run.trace[name].data[c] * run.gradients[name].data[c];
    return sum;
  });
  assertNear(scores, sums, 1e-4, 'scores');
});

test('integrated gradients and their gap sum to the difference from the baseline', async () => {
  const classifier = await load(sentiment, floats);
  const method = 'integrated_gradients';
  const { label, scores, value, baseline, gap, steps } = await classifier.explain(text, { method });
  const sum = scores.reduce((total, score) => total + score, 0);
  assert.ok(Math.abs(value - baseline - gap - sum) < 1e-4);
  assert.ok(Math.abs(gap) <= 0.02 * Math.abs(value - baseline) || steps === 256);
  assert.ok([64, 128, 256].includes(steps));
  const oddsOf = (result) =>
    result.scores.reduce((sum, each) => sum + (each.label === label ? 1 : -1) * each.logit, 0);
  const patch = [{ name: 'encoder.embed_tokens', value: 0 }];
  assertNear([value], [oddsOf(await classifier.classify(text))], 1e-4, 'value');
  assertNear([baseline], [oddsOf(await classifier.classify(text, { patch }))], 1e-4, 'baseline');
  const other = classifier.info.labels.find((each) => each !== label);
  const opposite = await classifier.explain(text, { method, label: other });
  assertNear(
    opposite.scores,
    scores.map((score) => -score),
    1e-4,
    'the other label',
  );
});

test('faithfulness judges them like given scores', async () => {
  const classifier = await load(sentiment, floats);
  const test = { method: 'faithfulness', orders: 3 };
  for (const method of methods) {
    const { scores } = await classifier.explain(text, { method });
    const of = await classifier.explain(text, { ...test, of: method });
    const own = await classifier.explain(text, { ...test, scores: Float32Array.from(scores) });
    assert.deepEqual(of, own, method);
  }
});

const numbers = (data) => [...data].map((x) => (Number.isNaN(x) ? 'NaN' : x));

test('activation patching is estimated by gradients, then measured cell by cell', async () => {
  const classifier = await load(sentiment, floats);
  const { layers } = classifier.info;
  // As many tokens in both texts, so that no token has another position.
  const [base, donor] = ['The plot is bad.', 'The plot is good.'];
  const run = (given, gradients) =>
    classifier.classify(given, {
      gradients,
      trace: ['encoder.layers.*.*', 'encoder.layers.*.self_attn.*'],
    });
  const label = 'positive';
  const sites = {
    residual: (row) => `encoder.layers.${row < layers ? `${row}.input` : `${row - 1}.output`}`,
    attention: (row) => `encoder.layers.${row}.self_attn.output`,
    feed_forward: (row) => `encoder.layers.${row}.fc2`,
    head: (row) => `encoder.layers.${row}.self_attn.context`,
  };
  const own = await run(base, ['encoder.layers.*.*', 'encoder.layers.*.self_attn.*']);
  const { trace: there, tokens } = await run(donor, []);
  const sign = own.label === label ? 1 : -1;
  for (const [site, nameOf] of Object.entries(sites)) {
    const options = {
      method: 'activation_patching',
      label,
      site,
      ...(site === 'head' && { head: 3 }),
    };
    const shown = [];
    const pair = { text: base, pair: donor };
    const onProgress = (table) => shown.push(table);
    const final = await classifier.explain(pair, { ...options, onProgress });
    assert.deepEqual(final, await classifier.explain(pair, options));
    assert.equal('done' in final, false);
    assert.ok(shown.length > layers - 1 && shown[0].done === 0);
    const [rows, cells] = final.delta.shape;
    assert.equal(cells, tokens.length);
    const estimates = shown[0].delta.data;
    for (let row = 0; row < rows; row++) {
      const name = nameOf(row);
      const { shape, data } = own.trace[name];
      const width = site === 'head' ? shape[2] : shape[1];
      for (let token = 0; token < cells; token++) {
        const start = site === 'head' ? (token * shape[1] + 3) * width : token * width;
        let sum = 0;
        for (let c = start; c < start + width; c++)
          sum += own.gradients[name].data[c] * (there[name].data[c] - data[c]);
        assertNear([estimates[row * cells + token]], [sign * sum], 1e-4, `${name} ${token}`);
      }
    }
    let before = 0;
    for (const { done, delta, label: of, tokens: read } of shown) {
      assert.ok(done >= before && done < rows * cells);
      before = done;
      assert.deepEqual(
        numbers(delta.data.slice(0, done)),
        numbers(final.delta.data.slice(0, done)),
      );
      assert.deepEqual(numbers(delta.data.slice(done)), numbers(estimates.slice(done)));
      assert.deepEqual([of, read], [final.label, final.tokens]);
    }
  }
});

test('the estimate of a last vector is exact where the answer is linear in it', async () => {
  // This model has no final norm: its logits are linear in the first row of the last layer's output.
  const classifier = await load(goldenFolder('pre_norm_unbiased_first'), { gradients: true });
  const pair = { text: 'good at all', pair: 'not at all' };
  let first;
  const onProgress = (table) => (first ??= table);
  const { delta } = await classifier.explain(pair, { method: 'activation_patching', onProgress });
  const [rows, cells] = delta.shape;
  const last = (table) => [...table.data.slice((rows - 1) * cells)];
  const estimates = last(first.delta);
  const estimated = last(delta).filter((_, cell) => !Number.isNaN(estimates[cell]));
  assert.ok(estimated.some((change) => Math.abs(change) > 1e-3));
  assertNear(
    estimates.filter((change) => !Number.isNaN(change)),
    estimated,
    1e-4,
    'last row',
  );
});

test('a token that is knocked out has no estimate', async () => {
  const classifier = await load(sentiment, floats);
  let first;
  const options = { method: 'activation_patching', onProgress: (table) => (first ??= table) };
  const pair = { text: 'The plot is not good.', pair: 'The plot is good.' };
  const { delta, cells } = await classifier.explain(pair, options);
  const of = (table) => [...table.data.slice(0, cells.length)].map(Number.isNaN);
  assert.deepEqual(
    of(first.delta),
    cells.map(({ unpaired }) => unpaired),
  );
  assert.ok(!of(delta).includes(true));
});

test('progress that fails or aborts ends the call', async () => {
  for (const worker of [false, true]) {
    const classifier = await load(sentiment, { ...floats, worker });
    const pair = { text: 'The plot is bad.', pair: 'The plot is good.' };
    const explain = (options) =>
      classifier.explain(pair, { method: 'activation_patching', ...options });
    const fails = () =>
      explain({
        onProgress() {
          throw new Error('no more');
        },
      });
    await assertError(fails, 'callback_failed', /onProgress threw an error: no more/);
    const controller = new AbortController();
    let calls = 0;
    const onProgress = () => {
      calls++;
      controller.abort();
    };
    await assert.rejects(explain({ onProgress, signal: controller.signal }), {
      name: 'AbortError',
    });
    assert.equal(calls, 1);
    assert.ok((await explain({})).delta);
  }
});

test('the binary for models that read texts refuses gradients and gives the cure', async () => {
  const cure = /expected a model that was loaded with the option gradients/;
  const module = readFileSync(join(dist, 'glassformer.read.wasm'));
  for (const options of [{ module }, { module, worker: true }]) {
    const classifier = await load(goldenFolder('pre_norm_mean'), options);
    const named = () => classifier.classify('a film', { gradients: ['logits'] });
    await assertError(named, 'unsupported', cure);
    for (const method of methods)
      await assertError(() => classifier.explain('a film', { method }), 'unsupported', cure);
    const judged = () => classifier.explain('a film', { method: 'faithfulness', of: 'relevance' });
    await assertError(judged, 'unsupported', cure);
    const shown = { method: 'activation_patching', onProgress() {} };
    const previewed = () => classifier.explain({ text: 'good', pair: 'bad' }, shown);
    await assertError(previewed, 'unsupported', cure);
    assert.ok((await classifier.classify('a film')).label);
  }
});

test('gradients are refused by name', async () => {
  const folder = goldenFolder('pre_norm_mean');
  const classifier = await load(folder, { gradients: true });
  const refused = (options, code, pattern, model = classifier) =>
    assertError(() => model.classify('a film', options), code, pattern);
  await refused({ gradients: 'logits' }, 'invalid_option', /gradients: expected an array/);
  await refused({ gradients: ['no.such'] }, 'invalid_option', /gradients: .*no\.such/);
  await refused({ gradientToken: 1 }, 'invalid_option', /unknown option "gradientToken"/);
  assert.deepEqual((await classifier.classify('a film', { gradients: [] })).gradients, {});
  const patch = [{ name: 'encoder.layers.0.self_attn.weights', tokens: [0], value: 0 }];
  await refused({ gradients: ['logits'], patch }, 'unsupported', /weights/);
  const integers = await load(folder, { gradients: true, compute: 'int8' });
  await refused({ gradients: ['logits'] }, 'unsupported', /f32|int8/, integers);
  const relevance = () => integers.explain('a film', { method: 'relevance' });
  await assertError(relevance, 'unsupported', /f32|int8/);
  const pair = { text: 'good', pair: 'bad' };
  const previewed = (model, onProgress) =>
    model.explain(pair, { method: 'activation_patching', onProgress });
  await assertError(() => previewed(integers, () => {}), 'unsupported', /f32|int8/);
  await assertError(() => previewed(classifier, 'yes'), 'invalid_option', /onProgress/);
  const elsewhere = () => classifier.explain('a film', { method: 'lens', onProgress() {} });
  await assertError(elsewhere, 'invalid_option', /onProgress/);
  const linear = await load(goldenFolder('linear_attention'), { gradients: true });
  const ofLinear = () => linear.explain('a film', { method: 'relevance' });
  await assertError(ofLinear, 'unsupported', /relevance: .*linear/);
  const labelled = () => classifier.explain('a film', { method: 'relevance', orders: 3 });
  await assertError(labelled, 'invalid_option', /orders/);

  await assertError(() => load(folder, { gradients: 'yes' }), 'invalid_option', /gradients/);
  const vectors = () => load(folderOf('bert_embed'), { gradients: true }, Embedder);
  await assertError(vectors, 'invalid_option', /unknown option "gradients"/);
  const embedder = await load(folderOf('bert_embed'), {}, Embedder);
  const ofVector = () => embedder.embed('a film', { gradients: ['logits'] });
  await assertError(ofVector, 'invalid_option', /unknown option "gradients"/);
});

test('gradients need no option if the binary has everything', async () => {
  for (const options of [{ gradients: true }, {}]) {
    const model = await load(goldenFolder('pre_norm_mean'), options);
    const { gradients } = await model.classify('a film', { gradients: ['logits'] });
    assert.deepEqual(gradients.logits.shape, [2]);
  }
});

test('glassformer/inline has gradients', async () => {
  const inline = await import('../../../dist/inline.js');
  const model = await inline.Classifier.load(goldenFolder('pre_norm_mean'));
  const { gradients } = await model.classify('a film', { gradients: ['logits'] });
  assert.deepEqual(gradients.logits.shape, [2]);
  model.dispose();
});
