// @glassformer/pipelines: the calls and the results of Transformers.js. Numbers are compared with those
// of the classes, which other tests compare with the original library.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { expectedOf, folderOf, labeledCopy } from '../support/checkpoints.mjs';
import {
  Classifier,
  Embedder,
  Generator,
  ImageClassifier,
  TokenClassifier,
  Translator,
  assertError,
  companion,
  root,
  zeroShot,
} from '../support/helpers.mjs';

const { Tensor, pipeline } = await import(companion('pipelines'));
const weights = (name) => join(root, 'weights', name);
const text = 'I loved it!';
const other = 'The camera lingers on faces.';

const sorted = (scores) =>
  scores.map(({ label, score }) => ({ label, score })).toSorted((a, b) => b.score - a.score);

test('two labels of one name stay two', async () => {
  const [apart, same] = [
    ['a', 'b', 'c'],
    ['crane', 'b', 'crane'],
  ].map((labels) => labeledCopy(labels));
  const [known, model] = await Promise.all(
    [apart, same].map((folder) => Classifier.load(folder, { explain: true })),
  );
  const [expected, result] = [await known.classify(text), await model.classify(text)];
  const bare = ({ scores }) => scores.map(({ id, score, logit }) => ({ id, score, logit }));
  assert.deepEqual(bare(result), bare(expected));
  assert.deepEqual(
    result.scores.map(({ label }) => label),
    ['crane', 'b', 'crane'],
  );
  const pipe = await pipeline('text-classification', same);
  assert.deepEqual(await pipe(text, { top_k: null }), sorted(result.scores));
  await pipe.dispose();
  // An explained label is named by its number.
  const explain = (label) => model.explain(text, { method: 'direct_logit_attribution', label });
  await assertError(() => explain('crane'), 'invalid_option', /label: .* 0 or 2$/);
  assert.deepEqual(
    (await explain('2')).value,
    (await known.explain(text, { method: 'direct_logit_attribution', label: 'c' })).value,
  );
  await assertError(() => explain('3'), 'invalid_option', /label/);
  known.dispose();
  model.dispose();
});

test('text classification', async () => {
  const folder = folderOf('bert_sequence');
  const model = await Classifier.load(folder);
  const [one, two] = await model.classifyBatch([text, other]);
  model.dispose();
  for (const task of ['text-classification', 'sentiment-analysis']) {
    const pipe = await pipeline(task, folder);
    assert.equal(pipe.task, 'text-classification');
    assert.deepEqual(await pipe(text), sorted(one.scores).slice(0, 1));
    assert.deepEqual(await pipe(text, { top_k: 2 }), sorted(one.scores).slice(0, 2));
    assert.deepEqual(await pipe([text, other]), [sorted(one.scores)[0], sorted(two.scores)[0]]);
    const all = [sorted(one.scores), sorted(two.scores)];
    assert.deepEqual(await pipe([text, other], { top_k: null }), all);
    await pipe.dispose();
    await assert.rejects(pipe(text), { code: 'disposed' });
  }
});

test('token classification', async () => {
  const folder = folderOf('bert_tokens');
  const model = await TokenClassifier.load(folder);
  const { entities } = await model.classify(other);
  const { entities: joined } = await model.classify(other, { aggregation: 'simple' });
  model.dispose();
  assert.ok(entities.length > 0);
  const pipe = await pipeline('ner', folder);
  assert.deepEqual(await pipe(other), entities);
  assert.deepEqual(await pipe([other]), [entities]);
  const simple = joined.map(({ entity, ...rest }) => ({ entity_group: entity, ...rest }));
  assert.deepEqual(await pipe(other, { aggregation_strategy: 'simple' }), simple);
  const labels = [...new Set(entities.map(({ entity }) => entity))];
  assert.deepEqual(await pipe(other, { ignore_labels: ['O', ...labels] }), []);
  await pipe.dispose();
});

test('question answering', async () => {
  const pipe = await pipeline('question-answering', folderOf('bert_answer'));
  const { tokens: _, ...expected } = await pipe.model.answer('who?', other);
  assert.deepEqual(await pipe('who?', other), expected);
  assert.deepEqual(await pipe(['who?', 'who?'], [other, other]), [expected, expected]);
  await assert.rejects(pipe('who?', other, { top_k: 2 }), { code: 'invalid_option' });
  await assert.rejects(pipe(['who?', 'who?'], [other]), { code: 'invalid_option' });
  await pipe.dispose();
});

test('masks', async () => {
  const pipe = await pipeline('fill-mask', folderOf('bert_masks'));
  const text = 'The film is [MASK].';
  const { masks } = await pipe.model.fill(text, { topK: 2 });
  const expected = masks[0].answers.map(({ score, id: token, text: token_str, sequence }) => ({
    score,
    token,
    token_str,
    sequence,
  }));
  assert.deepEqual(await pipe(text, { top_k: 2 }), expected);
  assert.deepEqual(await pipe([text, text], { top_k: 2 }), [expected, expected]);
  assert.equal((await pipe(text)).length, 5);
  await assert.rejects(pipe('no mask'), { code: 'invalid_option' });
  await pipe.dispose();
  const vectors = await pipeline('feature-extraction', folderOf('bert_masks'));
  assert.equal(vectors.model.info.unusedHead, 'BertForPreTraining');
  await vectors.dispose();
});

test('zero-shot classification', async () => {
  const folder = labeledCopy(['contradiction', 'neutral', 'entailment']);
  const pipe = await pipeline('zero-shot-classification', folder);
  const labels = ['a film', 'a face'];
  for (const multiple of [false, true]) {
    const result = await zeroShot(pipe.model, text, labels, { template: 'On {}.', multiple });
    const expected = {
      sequence: text,
      labels: result.labels.map(({ label }) => label),
      scores: result.labels.map(({ score }) => score),
    };
    const options = { hypothesis_template: 'On {}.', multi_label: multiple };
    assert.deepEqual(await pipe(text, labels, options), expected);
    assert.deepEqual(await pipe([text, text], labels, options), [expected, expected]);
  }
  assert.equal((await pipe(text, 'a film')).labels.length, 1);
  await pipe.dispose();
});

test('feature extraction', async () => {
  const folder = folderOf('bert_embed');
  const model = await Embedder.load(folder);
  const names = ['encoder.output'];
  const [one, two] = await model.embedBatch([text, other], { trace: names });
  const { embedding } = await model.embed(other, { pooling: 'cls', normalize: true });
  model.dispose();
  const pipe = await pipeline('feature-extraction', folder);
  const states = await pipe([text, other]);
  const [tokens, width] = two.trace['encoder.output'].shape;
  assert.deepEqual([states.type, ...states.dims], ['float32', 2, tokens, width]);
  const [first, second] = states.tolist();
  assert.deepEqual(Float32Array.from(second.flat()), two.trace['encoder.output'].data);
  const own = one.trace['encoder.output'];
  assert.deepEqual(Float32Array.from(first.slice(0, own.shape[0]).flat()), own.data);
  assert.ok(
    first
      .slice(own.shape[0])
      .flat()
      .every((value) => value === 0),
  );

  const vectors = await pipe([text, other], { pooling: 'cls', normalize: true });
  assert.ok(vectors instanceof Tensor);
  assert.deepEqual([...vectors][1].data, embedding);
  const bits = await pipe(other, { pooling: 'cls', quantize: true, precision: 'ubinary' });
  assert.deepEqual([bits.type, ...bits.dims], ['uint8', 1, width / 8]);
  const unpacked = [...bits.data].flatMap((byte) => [...byte.toString(2).padStart(8, '0')]);
  assert.deepEqual(
    unpacked,
    [...embedding].map((value) => (value > 0 ? '1' : '0')),
  );
  const signed = await pipe(other, { pooling: 'cls', quantize: true });
  assert.deepEqual(
    [...signed.data],
    [...bits.data].map((byte) => byte - 128),
  );
  await assert.rejects(pipe(text, { quantize: true }), { code: 'invalid_option' });
  const rows = await pipe(text, { normalize: true });
  for (const row of rows.tolist()[0]) assert.ok(Math.abs(Math.hypot(...row) - 1) < 1e-6);
  await pipe.dispose();
});

test('text generation', async () => {
  const model = await Generator.load(weights('writer'));
  const options = { sample: false, maxNewTokens: 5 };
  const { text: one } = await model.generate('The film', options);
  const { text: two } = await model.generate('A dog', { ...options, beams: 2 });
  model.dispose();
  const pipe = await pipeline('text-generation', weights('writer'));
  const own = { do_sample: false, max_new_tokens: 5 };
  assert.deepEqual(await pipe('The film', own), [{ generated_text: `The film${one}` }]);
  const short = { ...own, return_full_text: false, num_beams: 2 };
  assert.deepEqual((await pipe(['The film', 'A dog'], short))[1], [{ generated_text: two }]);
  await assert.rejects(pipe('The film', { max_tokens: 5 }), { code: 'invalid_option' });
  await assert.rejects(pipe([{ role: 'user', content: 'x' }]), { code: 'invalid_option' });
  await pipe.dispose();
});

test('translation, summaries, and other text from text', async () => {
  const translator = await Translator.load(weights('en-de'));
  const { text: german } = await translator.translate('Two dogs are playing.');
  translator.dispose();
  let pipe = await pipeline('translation', weights('en-de'));
  assert.deepEqual(await pipe('Two dogs are playing.'), [{ translation_text: german }]);
  assert.equal((await pipe(['Two dogs.', 'A man.'], { num_beams: 1 })).length, 2);
  await assert.rejects(pipe('Two dogs.', { do_sample: true }), { code: 'invalid_option' });
  await pipe.dispose();

  pipe = await pipeline('translation', folderOf('m2m_100'));
  const { texts } = expectedOf('m2m_100');
  for (const { text: source, from, to, output, translation } of texts) {
    const options = { src_lang: from, tgt_lang: to, max_new_tokens: output.length, num_beams: 1 };
    assert.deepEqual(await pipe(source, options), [{ translation_text: translation }]);
  }
  const missing = { code: 'invalid_option', message: /^to: expected one of af, .*, got none$/ };
  await assert.rejects(pipe('a', { src_lang: 'en' }), missing);
  await pipe.dispose();

  const model = await Generator.load(folderOf('flan_t5'));
  const { text: written } = await model.generate(text, { maxNewTokens: 4 });
  model.dispose();
  for (const [task, key] of [
    ['text2text-generation', 'generated_text'],
    ['summarization', 'summary_text'],
    ['translation_en_to_de', 'translation_text'],
  ]) {
    pipe = await pipeline(task, folderOf('flan_t5'));
    assert.deepEqual(await pipe(text, { max_new_tokens: 4 }), [{ [key]: written }]);
    await pipe.dispose();
  }
  pipe = await pipeline('translation', folderOf('bert_sequence'));
  await assert.rejects(pipe(text), { code: 'wrong_task' });
});

test('image classification', async () => {
  const picture = { width: 28, height: 28, data: new Uint8Array(784).fill(40, 300, 500) };
  const model = await ImageClassifier.load(weights('digits'));
  const { scores } = await model.classify(picture);
  model.dispose();
  const pipe = await pipeline('image-classification', weights('digits'));
  assert.deepEqual(await pipe(picture), sorted(scores).slice(0, 5));
  assert.deepEqual(await pipe([picture], { top_k: 1 }), [sorted(scores).slice(0, 1)]);
  await pipe.dispose();
});

test('options of loading', async () => {
  const seen = [];
  const progress_callback = (progress) => seen.push(progress);
  const folder = folderOf('bert_sequence');
  const options = { progress_callback, dtype: 'q8', device: 'wasm' };
  const pipe = await pipeline('text-classification', folder, options);
  assert.equal(pipe.model.info.compute, 'int8');
  assert.deepEqual(seen.at(-1), { status: 'ready', task: 'text-classification', model: folder });
  const weight = seen.findLast(({ file }) => file === 'model.safetensors');
  assert.equal(weight.progress, 100);
  await pipe.dispose();
  for (const [task, model, wrong, name] of [
    ['speech', folder, {}, 'task'],
    ['translation_en', folder, {}, 'task'],
    ['ner', undefined, {}, 'model'],
    ['ner', folder, { dtype: 'q4f16' }, 'dtype'],
    ['ner', folder, { device: 'webgpu' }, 'device'],
    ['ner', folder, { revision: 'main' }, 'revision'],
    ['ner', folder, { subfolder: 'onnx' }, 'load'],
  ]) {
    await assert.rejects(pipeline(task, model, wrong), (error) => {
      return error.code === 'invalid_option' && error.message.startsWith(`${name}: `);
    });
  }
});

test('a name is that of a repository', async () => {
  const hubUrl = 'http://127.0.0.1:9';
  for (const name of ['owner/name', 'name', 'owner/name.x-1']) {
    await assert.rejects(
      pipeline('ner', name, { hubUrl, revision: 'v1' }),
      ({ code, message }) => code === 'fetch_failed' && message.includes(`${name}/resolve/v1/`),
    );
  }
});
