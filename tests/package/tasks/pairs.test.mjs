// Labels that a model was not trained with, and search: classifiers of pairs of texts.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { folderOf, labeledCopy } from '../support/checkpoints.mjs';
import { Classifier, assertNear, rank, zeroShot } from '../support/helpers.mjs';

const text = 'The camera lingers on faces.';
const labels = ['a film', 'a face', 'a camera'];
const logitsOf = ({ scores }) =>
  Object.fromEntries(scores.map(({ label, logit }) => [label, logit]));

test('zeroShot compares the logits of entailment, or each with that of contradiction', async () => {
  const model = await Classifier.load(labeledCopy(['contradiction', 'neutral', 'entailment']));
  const logits = [];
  for (const label of labels) {
    const pair = { text, pair: `This text is about ${label}.` };
    logits.push(logitsOf(await model.classify(pair)));
  }
  const template = 'This text is about {}.';
  const one = await zeroShot(model, text, labels, { template });
  const sum = logits.reduce((total, { entailment }) => total + Math.exp(entailment), 0);
  const several = await zeroShot(model, text, labels, { template, multiple: true });
  for (const [i, label] of labels.entries()) {
    const { entailment, contradiction } = logits[i];
    const scoreOf = (result) => result.labels.find((each) => each.label === label).score;
    assertNear(scoreOf(one), Math.exp(entailment) / sum, 1e-6);
    assertNear(scoreOf(several), 1 / (1 + Math.exp(contradiction - entailment)), 1e-6);
  }
  for (const result of [one, several]) {
    const scores = result.labels.map(({ score }) => score);
    assert.deepEqual(
      scores,
      scores.toSorted((a, b) => b - a),
    );
    assert.deepEqual([result.label, result.score], [result.labels[0].label, scores[0]]);
  }
  // One label alone is compared with contradiction.
  const alone = await zeroShot(model, text, ['a film'], { template });
  assert.equal(alone.score, several.labels.find(({ label }) => label === 'a film').score);
  model.dispose();
});

test('zeroShot finds labels of other spellings, in any order', async () => {
  const model = await Classifier.load(labeledCopy(['ENTAILMENT', 'x', 'not_entailment']));
  const logits = logitsOf(await model.classify({ text, pair: 'This example is $& {}.' }));
  const result = await zeroShot(model, text, ['$& {}']);
  const expected = 1 / (1 + Math.exp(logits.not_entailment - logits.ENTAILMENT));
  assertNear(result.score, expected, 1e-6);
  model.dispose();
});

test('zeroShot and rank use a classifier with a decoder, too', async () => {
  const names = ['contradiction', 'neutral', 'entailment'];
  const model = await Classifier.load(labeledCopy(names, 'bart_sequence'), { explain: true });
  const logits = logitsOf(await model.classify({ text, pair: 'This is about faces.' }));
  const result = await zeroShot(model, text, ['faces'], { template: 'This is about {}.' });
  const expected = 1 / (1 + Math.exp(logits.contradiction - logits.entailment));
  assertNear(result.score, expected, 1e-6);
  const ablate = [{ attention: 'cross', layer: 0, head: 1 }];
  assert.notDeepEqual(logitsOf(await model.classify({ text, pair: 'x' }, { ablate })), logits);
  const { trace } = await model.classify(text, { trace: ['decoder.*', 'pooled'] });
  assert.ok(trace['decoder.output'] && trace.pooled);
  // The tokens that the decoder reads, then those of the encoder.
  const { tokens, scores } = await model.explain(text, { method: 'rollout' });
  assert.equal(tokens.length, 2 * (await model.classify(text)).tokens.length);
  assert.equal(scores.length, tokens.length);
  assertNear(
    scores.reduce((sum, score) => sum + score),
    1,
    1e-5,
  );
  const attribution = await model.explain(text, { method: 'direct_logit_attribution' });
  assert.deepEqual(attribution.read.shape, [tokens.length, attribution.columns.length]);
  const refused = model.explain(text, { method: 'circuit' });
  await assert.rejects(refused, { code: 'unsupported' });
  model.dispose();
});

test('zeroShot refuses other models and wrong options', async () => {
  const other = await Classifier.load(folderOf('bert_sequence'));
  await assert.rejects(zeroShot(other, text, labels), { code: 'wrong_task' });
  other.dispose();
  const model = await Classifier.load(labeledCopy(['contradiction', 'neutral', 'entailment']));
  for (const [given, options, name] of [
    [labels, { template: 'No place.' }, 'template'],
    [labels, { multiple: 1 }, 'multiple'],
    [labels, { x: 1 }, 'zeroShot'],
    [[], {}, 'labels'],
    ['a film', {}, 'labels'],
    [[1], {}, 'labels'],
  ]) {
    await assert.rejects(zeroShot(model, text, given, options), (error) => {
      return error.code === 'invalid_option' && error.message.startsWith(`${name}: `);
    });
  }
  await assert.rejects(zeroShot(model, 5, labels), { code: 'invalid_option' });
  const signal = AbortSignal.abort();
  await assert.rejects(zeroShot(model, text, labels, { signal }), { code: 'aborted' });
  model.dispose();
});

test('rank sorts texts by their scores', async () => {
  const model = await Classifier.load(folderOf('bert_one_label'));
  const texts = ['I loved it!', text, 'A dull film.', 'I loved it!'];
  const expected = [];
  for (const [index, each] of texts.entries()) {
    const { score } = await model.classify({ text: 'A good film', pair: each });
    expected.push({ index, text: each, score });
  }
  expected.sort((a, b) => b.score - a.score);
  assert.deepEqual(await rank(model, 'A good film', texts), expected);
  assert.deepEqual(await rank(model, 'A good film', texts, { topK: 2 }), expected.slice(0, 2));
  assert.deepEqual(await rank(model, 'A good film', []), []);
  for (const wrong of [
    [5, texts],
    ['', 'x'],
    ['', [1]],
    ['', texts, { topK: 0 }],
    ['', texts, { k: 1 }],
  ]) {
    await assert.rejects(rank(model, ...wrong), { code: 'invalid_option' });
  }
  model.dispose();
  const other = await Classifier.load(folderOf('bert_sequence'));
  await assert.rejects(rank(other, 'A good film', texts), { code: 'wrong_task' });
  other.dispose();
});
