// The results of a generator, and refused input. checkpoints.test.mjs compares its numbers with the
// original library.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { folderOf } from '../support/checkpoints.mjs';
import {
  AttentionMap,
  Generator,
  assertError,
  assertNear,
  binaries,
  load,
} from '../support/helpers.mjs';

const folder = folderOf('gpt2_generate');
const prompt = 'The film is';
const options = { maxNewTokens: 10 };

async function streamed(model, text, given) {
  const steps = [];
  for await (const step of model.stream(text, given)) steps.push(step);
  return steps;
}

for (const binary of binaries) {
  test(`generate, generateBatch, generateEach and stream give the same, ${binary}`, async () => {
    const model = await load(folder, { binary }, Generator);
    const prompts = [prompt, 'a', 'Où est la MAGIE ? 日本 😐'];
    const single = [];
    for (const text of prompts) single.push(await model.generate(text, options));
    assert.deepEqual(await model.generateBatch(prompts, options), single);
    const each = [];
    for await (const { index, result } of model.generateEach(prompts, options)) {
      each[index] = result;
    }
    assert.deepEqual(each, single);
    for (const [i, text] of prompts.entries()) {
      const steps = await streamed(model, text, options);
      const last = steps.pop();
      assert.deepEqual(last, { done: true, text: single[i].text, result: single[i] });
      assert.deepEqual(
        steps.map(({ token }) => token.id),
        single[i].tokens.slice(0, steps.length).map(({ id }) => id),
      );
      assert.equal(steps.length, single[i].tokens.length - (single[i].ended ? 1 : 0));
      for (const step of steps) {
        assert.ok(single[i].text.startsWith(step.text));
        assert.deepEqual(step.promptTokens, single[i].promptTokens);
      }
    }
    const threaded = await load(folder, { binary, worker: true }, Generator);
    assert.deepEqual(await threaded.generateBatch(prompts, options), single);
  });
}

test('attention has a row per token that was read, in a stream one at a time', async () => {
  const model = await load(folder, {}, Generator);
  for (const given of [options, { ...options, beams: 3 }]) {
    const plain = await model.generate(prompt, given);
    const { attention, ...rest } = await model.generate(prompt, { ...given, attention: true });
    assert.deepEqual(rest, plain);
    const { decoder } = attention;
    assert.ok(decoder instanceof AttentionMap);
    const read = rest.promptTokens.length + rest.tokens.length - 1;
    assert.deepEqual([decoder.queries, decoder.keys], [read, read]);
    const head = decoder.at(1, 2);
    for (let row = 0; row < read; row++) {
      const weights = head.subarray(row * read, (row + 1) * read);
      assertNear([weights.reduce((a, b) => a + b)], [1], 1e-5, 'sum of a row');
      assert.ok(weights.subarray(row + 1).every((weight) => weight === 0));
    }
    if (given.beams) continue;
    const steps = await streamed(model, prompt, { ...given, attention: true });
    for (const [i, step] of steps.slice(0, -1).entries()) {
      const row = rest.promptTokens.length - 1 + i;
      const { queries, keys } = step.attention.decoder;
      assert.deepEqual([queries, keys], [1, row + 1]);
      const expected = head.subarray(row * read, row * read + row + 1);
      assert.deepEqual(step.attention.decoder.at(1, 2), expected);
    }
  }
});

test('a trace has a row per token that was read, and patching its values changes nothing', async () => {
  const model = await load(folder, {}, Generator);
  const name = 'decoder.layers.0.output';
  const plain = await model.generate(prompt, options);
  const { trace, ...rest } = await model.generate(prompt, { ...options, trace: [name, 'logits'] });
  assert.deepEqual(rest, plain);
  const read = plain.promptTokens.length + plain.tokens.length - 1;
  assert.deepEqual(trace[name].shape, [read, model.info.dModel]);
  assert.deepEqual(trace.logits.shape, [read, model.info.vocabSize]);
  const patch = [{ name, value: trace[name] }];
  assert.deepEqual(await model.generate(prompt, { ...options, patch }), plain);
  const zero = [{ name, value: 0 }];
  const { next } = await model.next(prompt, { patch: zero });
  assert.notDeepEqual(next, (await model.next(prompt)).next);
});

test('a model with an encoder: generate, stream, attention, trace and patch', async () => {
  const model = await load(folderOf('t5'), {}, Generator);
  const text = 'translate English to German: The film is good.';
  const plain = await model.generate(text, options);
  const name = 'encoder.output';
  const asked = { ...options, attention: true, trace: [name] };
  const { attention, trace, ...rest } = await model.generate(text, asked);
  assert.deepEqual(rest, plain);
  const { encoder, decoder, cross } = attention;
  const [read, written] = [plain.promptTokens.length, plain.tokens.length];
  assert.deepEqual([encoder.queries, encoder.keys], [read, read]);
  assert.deepEqual([decoder.queries, decoder.keys], [written, written]);
  assert.deepEqual([cross.queries, cross.keys], [written, read]);
  assert.deepEqual(trace[name].shape, [read, model.info.dModel]);
  const steps = await streamed(model, text, { ...options, attention: true });
  assert.equal(steps.at(-1).text, plain.text);
  for (const [row, { attention: shown }] of steps.slice(0, -1).entries()) {
    assert.deepEqual([shown.cross.queries, shown.cross.keys], [1, read]);
    const whole = cross.at(1, 0).subarray(row * read, (row + 1) * read);
    assert.deepEqual(shown.cross.at(1, 0), whole);
  }
  const next = await model.next(text, { attention: true, count: 3 });
  assert.equal(next.next[0].id, plain.tokens[0].id);
  assert.deepEqual([next.attention.cross.queries, next.attention.cross.keys], [1, read]);
  const own = [{ name, value: trace[name] }];
  assert.deepEqual(await model.generate(text, { ...options, patch: own }), plain);
  const zero = await model.next(text, { patch: [{ name, value: 0 }], count: 3 });
  assert.notDeepEqual(zero.next, next.next);
  const ablate = [{ attention: 'cross', layer: 0, head: 0 }];
  assert.notDeepEqual((await model.next(text, { ablate, count: 3 })).next, next.next);
});

test('a seed determines the drawn tokens, and beams return their alternatives', async () => {
  const model = await load(folder, {}, Generator);
  const draw = async (given) => (await model.generate(prompt, { ...options, ...given })).text;
  assert.equal(await draw({ seed: 1 }), await draw({ seed: 1 }));
  assert.notEqual(await draw({ seed: 1 }), await draw({ seed: 2 }));
  assert.equal(await draw({ seed: 1, sample: false }), await draw({}));
  assert.equal(await draw({ topK: 1 }), await draw({}));
  assert.notEqual(await draw({ ablate: heads }), await draw({}));
  const { hypotheses, text } = await model.generate(prompt, {
    ...options,
    beams: 3,
    hypotheses: true,
  });
  assert.equal(hypotheses.length, 3);
  assert.equal(hypotheses[0].text, text);
  const steps = await streamed(model, prompt, { ...options, seed: 1 });
  assert.equal(steps.at(-1).text, await draw({ seed: 1 }));
});

const heads = [0, 1, 2].map((head) => ({ attention: 'decoder', layer: 0, head }));

test('next returns the requested number of tokens, most probable first', async () => {
  const model = await load(folder, {}, Generator);
  const { next, promptTokens, clipped } = await model.next(prompt);
  assert.deepEqual([next.length, promptTokens.length, clipped], [10, 3, false]);
  for (const [i, { probability }] of next.slice(1).entries()) {
    assert.ok(probability <= next[i].probability);
  }
  const { tokens } = await model.generate(prompt, { maxNewTokens: 1 });
  assert.equal(tokens[0].id, next[0].id);
  assert.equal((await model.next(prompt, { count: 2 })).next.length, 2);
  assert.equal((await model.next(prompt, { count: 0 })).next.length, model.info.vocabSize);
});

test('refused calls, and the next call', async () => {
  const model = await load(folder, {}, Generator);
  const before = await model.generate(prompt, options);
  const refused = (given, words) =>
    assertError(() => model.generate(prompt, given), 'invalid_option', words);
  await refused({ maxNewTokens: 0 }, /maxNewTokens/);
  await refused({ beams: 2, temperature: 1 }, /beams/);
  await refused({ maskTokens: [0] }, /maskTokens/);
  await refused({ stream: true }, /stream/);
  await refused({ ablate: [{ attention: 'encoder', layer: 0, head: 0 }] }, /ablate/);
  await assertError(() => streamed(model, prompt, { beams: 2 }), 'invalid_option', /beams/);
  await assertError(() => model.next(prompt, { maxNewTokens: 2 }), 'invalid_option', /maxNew/);
  await assertError(() => model.next(prompt, { count: -1 }), 'invalid_option', /count/);
  const begun = await model.generate('', options); // with the bos token
  assert.deepEqual(
    begun.promptTokens.map(({ id }) => id),
    [0],
  );
  await assertError(() => model.generate(7), 'invalid_option', /text/);
  const long = 'a'.repeat(2 ** 20 + 1);
  await assertError(() => model.generateBatch([prompt, long]), 'too_large', /texts\[1\]/);
  assert.deepEqual(await model.generate(prompt, options), before);
});

test('a stream ends at once if it is left or aborted', async () => {
  const model = await load(folder, {}, Generator);
  for await (const step of model.stream(prompt, options)) {
    assert.equal(step.done, false);
    break;
  }
  const abort = new AbortController();
  await assertError(async () => {
    for await (const step of model.stream(prompt, { ...options, signal: abort.signal })) {
      assert.equal(step.done, false);
      abort.abort();
    }
  }, 'aborted');
  assert.equal((await model.generate(prompt, options)).tokens.length, 10);
});

test('a prompt over the limit loses its beginning', async () => {
  const model = await load(folder, {}, Generator);
  const result = await model.generate('~'.repeat(100), { maxNewTokens: 10 });
  assert.deepEqual([result.clipped, result.promptTokens.length], [true, 23]); // of 32 positions
  assert.equal(result.promptTokens.at(-1).end, 100);
});
