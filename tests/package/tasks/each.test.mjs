// classifyEach and translateEach: any number of texts, with one outcome per text.

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import {
  Classifier,
  GlassformerError,
  Translator,
  assertError,
  assertFreed,
  goldenFolder,
  load,
  loadTranslator,
  memoriesOf,
  plain,
  randomModel,
  readGolden,
  shortlistFile,
  waiting,
} from '../support/helpers.mjs';

const classifierFolder = goldenFolder('pre_norm_mean');
const translatorFolder = goldenFolder('translate_pre_norm_shared');
const turn = () => new Promise(setImmediate);

/** The methods of both models under the same names. */
const tasks = [
  {
    name: 'classifyEach',
    Model: Classifier,
    folder: classifierFolder,
    texts: readGolden('pre_norm_mean').texts,
    load: () => load(classifierFolder),
    one: (model, ...args) => model.classify(...args),
    batch: (model, ...args) => model.classifyBatch(...args),
    each: (model, ...args) => model.classifyEach(...args),
  },
  {
    name: 'translateEach',
    Model: Translator,
    folder: translatorFolder,
    texts: readGolden('translate_pre_norm_shared').texts,
    load: () => loadTranslator(translatorFolder),
    one: (model, ...args) => model.translate(...args),
    batch: (model, ...args) => model.translateBatch(...args),
    each: (model, ...args) => model.translateEach(...args),
  },
];

async function collect(outcomes) {
  const all = [];
  for await (const outcome of outcomes) {
    assert.ok(!(outcome.index in all), `${outcome.index} twice`);
    all[outcome.index] = outcome;
  }
  return all;
}

/** Yields texts one by one, and records how many it has yielded and whether the loop was left. */
function source(texts, { slow = false } = {}) {
  const state = { given: 0, left: false };
  const iterable = {
    async *[Symbol.asyncIterator]() {
      try {
        for (const text of texts) {
          if (slow) await turn();
          state.given++;
          yield text;
        }
      } finally {
        state.left = state.given < texts.length;
      }
    },
  };
  return Object.assign(iterable, { state });
}

for (const { name, Model, folder, texts, load: loadModel, one, batch, each } of tasks) {
  const model = await loadModel();
  const options = { attention: true };
  const expected = [];
  for (const text of texts) expected.push(plain(await one(model, text, options)));

  test(`${name}: a blank row has its own error`, async () => {
    const rows = [texts[0], ' ', texts[1], '', ...texts, 7, undefined, texts[0]];
    const all = await collect(each(model, rows, options));
    assert.deepEqual([...all.keys()], [...rows.keys()]);
    for (const [index, row] of rows.entries()) {
      const { result, error, ...rest } = all[index];
      assert.deepEqual(rest, { index });
      if (typeof row === 'string' && row.trim() !== '') {
        assert.equal(error, undefined);
        assert.deepEqual(plain(result), expected[texts.indexOf(row)]);
      } else {
        assert.equal(result, undefined);
        assert.ok(error instanceof GlassformerError);
        assert.equal(error.code, typeof row === 'string' ? 'empty_input' : 'invalid_option');
        assert.doesNotMatch(error.message, /\[/); // `index` gives the place
      }
    }
    await assertError(() => batch(model, rows.slice(0, 4)), 'empty_input', /^texts\[1\]: text/);
    await assertError(() => one(model, ''), 'empty_input', /^text: /);
  });

  test(`${name}: texts may come from any iterable`, async () => {
    const many = Array.from({ length: 150 }, (_, i) => texts[i % texts.length]);
    const same = (all) => {
      assert.equal(all.length, many.length);
      for (const [index, { result }] of all.entries()) {
        assert.deepEqual(plain(result), expected[index % texts.length]);
      }
    };
    same(await collect(each(model, many, options)));
    same(await collect(each(model, many.values(), options)));
    same(await collect(each(model, source(many), options)));
    same(await collect(each(model, source(many, { slow: true }), options)));
    assert.deepEqual(
      await collect(each(model, new Set(texts))).then((all) => all.length),
      new Set(texts).size,
    );
    assert.deepEqual(await collect(each(model, [])), []);
    for (const wrong of ['abc', 7, null, undefined, {}, () => {}]) {
      await assertError(() => collect(each(model, wrong)), 'invalid_option', /texts/);
    }
  });

  test(`${name}: a result comes as soon as it is ready`, waiting, async () => {
    let more;
    const slow = (async function* () {
      yield texts[0];
      await new Promise((resolve) => (more = resolve));
      yield texts[1];
    })();
    const outcomes = each(model, slow);
    assert.equal((await outcomes.next()).value.index, 0);
    more();
    assert.equal((await outcomes.next()).value.index, 1);
    assert.deepEqual(await outcomes.next(), { value: undefined, done: true });
  });

  test(`${name}: reads only a little ahead`, waiting, async () => {
    const endless = source(Array(10_000).fill(texts[0]));
    const outcomes = each(model, endless);
    for (let taken = 1; taken <= 200; taken++) {
      await outcomes.next();
      assert.ok(endless.state.given <= taken + 64, `${endless.state.given} after ${taken}`);
    }
    // There are no more requests.
    for (let i = 0; i < 300; i++) await turn();
    assert.ok(endless.state.given <= 200 + 64);
    await outcomes.return();
    await turn();
    assert.ok(endless.state.left);
  });

  test(`${name}: leaving the loop leaves the source and frees the model`, waiting, async () => {
    const leave = async (act) => {
      const endless = source(Array(1_000_000).fill(texts[0]));
      await act(endless);
      await one(model, texts[0]); // would wait for a million
      assert.ok(endless.state.left);
      assert.ok(endless.state.given < 200);
    };
    await leave(async (endless) => {
      for await (const { index } of each(model, endless)) if (index === 20) break;
    });
    const mine = new Error('mine');
    await leave((endless) =>
      assert.rejects(async () => {
        for await (const _ of each(model, endless)) throw mine;
      }, mine),
    );
    const controller = new AbortController();
    await leave((endless) =>
      assert.rejects(
        async () => {
          for await (const { index } of each(model, endless, { signal: controller.signal })) {
            if (index === 20) controller.abort('enough');
          }
        },
        { code: 'aborted', name: 'AbortError', cause: 'enough' },
      ),
    );
    // A source that never yields its second text does not block leaving the loop.
    const stuck = (async function* () {
      yield texts[0];
      await new Promise(() => {});
    })();
    for await (const { index } of each(model, stuck)) {
      assert.equal(index, 0);
      break;
    }
  });

  test(
    `${name}: an abort and dispose take effect while waiting for the source`,
    waiting,
    async () => {
      const stuck = () => ({
        [Symbol.asyncIterator]: () => ({ next: () => new Promise(() => {}), return: leave }),
      });
      let left = 0;
      const leave = async () => {
        left++;
        throw new Error('not relevant');
      };
      const controller = new AbortController();
      const { signal } = controller;
      const waits = each(model, stuck(), { signal }).next();
      for (let i = 0; i < 5; i++) await turn();
      controller.abort('enough');
      await assert.rejects(waits, { code: 'aborted', cause: 'enough' });
      const other = await Model.load(folder);
      const more = each(other, stuck()).next();
      for (let i = 0; i < 5; i++) await turn();
      other.dispose();
      await assertError(() => more, 'disposed');
      assert.equal(left, 2);
      await assertError(() => each(other, []).next(), 'disposed');
    },
  );

  test(`${name}: the loop throws the source’s error`, waiting, async () => {
    const mine = new Error('mine');
    const failing = (async function* () {
      for (let i = 0; i < 20; i++) yield texts[0];
      throw mine;
    })();
    await assert.rejects(collect(each(model, failing)), mine);
    await one(model, texts[0]);
  });

  test(`${name}: wrong options, an aborted signal and a disposed model`, waiting, async () => {
    const fail =
      (...args) =>
      () =>
        collect(each(model, ...args));
    await assertError(fail(texts, { attentions: true }), 'invalid_option', /attentions/);
    await assertError(fail(texts, { ablate: 3 }), 'invalid_option', /ablate/);
    await assertError(fail(texts, { signal: AbortSignal.abort() }), 'aborted');
    const other = await Model.load(folder);
    const outcomes = each(other, source(Array(1000).fill(texts[0])));
    await outcomes.next();
    other.dispose();
    await assertError(() => collect(outcomes), 'disposed');
    await assertError(() => collect(each(other, texts)), 'disposed');
  });

  test(`${name}: other calls run in between`, waiting, async () => {
    let seen = 0;
    const read = async () => {
      for await (const _ of each(model, Array(500).fill(texts[0]))) seen++;
    };
    const reading = read();
    await turn();
    await one(model, texts[0]);
    assert.ok(seen < 500);
    await reading;
    assert.equal(seen, 500);
  });

  test(`${name}: dispose frees the memory even while outcomes and the loop are kept`, async () => {
    const kept = [];
    const memories = await memoriesOf(async () => {
      for (let i = 0; i < 3; i++) {
        const other = await Model.load(folder);
        const outcomes = each(other, source(Array(1000).fill(texts[0])), options);
        kept.push(other, outcomes, await outcomes.next());
        other.dispose();
      }
    });
    await assertFreed(memories);
    assert.equal(kept.length, 9);
  });

  test(`${name}: an unreferenced model is freed without dispose`, async () => {
    const memories = await memoriesOf(async () => {
      for (let i = 0; i < 3; i++) {
        const other = await Model.load(folder);
        for await (const _ of each(other, texts)) break;
        await one(other, texts[0]);
      }
    });
    await assertFreed(memories);
  });
}

test('a text that is too large for a batch is translated by itself', waiting, async () => {
  const config = JSON.parse(readFileSync(join(translatorFolder, 'config.json'), 'utf8'));
  const long = { ...config, max_target_length: 3000 };
  const folder = randomModel(long, join(translatorFolder, 'tokenizer.model'));
  // A translation of up to 3000 tokens may need 275 MiB of attention; the limit is 512. The
  // shortlist has only the end token, so the translation of "a" is short.
  const [{ sourceTokens }] = (await (await loadTranslator(translatorFolder)).translate('a'))
    .sentences;
  const shortlist = shortlistFile(config.source_vocab_size, [sourceTokens.at(-1).id]);
  writeFileSync(join(folder, 'shortlist.bin'), shortlist);
  const translator = await loadTranslator(folder, { shortlist: true });
  const options = { attention: true, beams: 1, maxLength: 3000 };
  const alone = plain(await translator.translate('a', options));
  assert.ok(alone.sentences[0].tokens.length < 20);
  const all = await collect(translator.translateEach(['a', 'a', 'a', 'a\na', 'a'], options));
  for (const [index, { result, error }] of all.entries()) {
    if (index === 3) assert.equal(error.code, 'too_large');
    else assert.deepEqual(plain(result), alone);
  }
  assert.equal(all.length, 5);
  assert.equal((await translator.translateBatch(['a', 'a', 'a'], options)).length, 3);
});

test('many texts become batches of the engine, each at most 8 ms long', async (t) => {
  // An engine that counts its texts, and a clock that advances half a millisecond per text.
  const { instantiate } = WebAssembly;
  const sizes = [];
  let now = 0;
  WebAssembly.instantiate = async (...args) => {
    const { exports } = await instantiate(...args);
    const gf_texts = (texts, lengths, count) => {
      sizes.push(count);
      now += count / 2;
      return exports.gf_texts(texts, lengths, count);
    };
    return { exports: { ...exports, gf_texts } };
  };
  const classifier = await load(classifierFolder).finally(() => {
    WebAssembly.instantiate = instantiate;
  });
  t.mock.method(performance, 'now', () => now);
  let last = 0;
  let longest = 0;
  let done = false;
  const watch = () => {
    longest = Math.max(longest, now - last);
    last = now;
    if (!done) setImmediate(watch);
  };
  setImmediate(watch);
  const texts = Array(400).fill('a good film');
  const results = await classifier.classifyBatch(texts);
  assert.equal(results.length, 400);
  assert.equal(
    sizes.reduce((a, b) => a + b),
    400,
  );
  assert.ok(longest <= 8, `${longest} ms without a turn`);
  assert.ok(sizes.length <= 400 / 8, `${sizes.length} calls of the engine`);

  sizes.length = 0;
  let count = 0;
  for await (const _ of classifier.classifyEach(texts)) count++;
  assert.equal(count, 400);
  assert.ok(longest <= 8, `${longest} ms without a turn`);
  assert.ok(sizes.length <= 400 / 8, `${sizes.length} calls of the engine`);

  // Concurrent and consecutive calls are not batched, but also give way after 8 ms.
  await Promise.all(texts.map((text) => classifier.classify(text)));
  assert.ok(longest <= 8, `${longest} ms without a turn`);
  for (const text of texts) await classifier.classify(text);
  assert.ok(longest <= 8, `${longest} ms without a turn`);
  done = true;
});
