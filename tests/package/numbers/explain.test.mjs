// Explanations: compared with PyTorch's goldens and with the native command line, and refused
// options.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { folderOf } from '../support/checkpoints.mjs';
import {
  Classifier,
  Embedder,
  Generator,
  MaskFiller,
  QuestionAnswerer,
  TokenClassifier,
  Translator,
  assertError,
  dist,
  assertNear,
  binaries,
  goldenFolder,
  goldenNames,
  load,
  readGolden,
  readSafetensors,
  root,
  translationGoldenNames,
} from '../support/helpers.mjs';
import { command } from '../../native_build.mjs';

const tolerance = 1e-4;
const sentiment = join(root, 'weights/sentiment');
const pair = { text: 'The plot is not good.', pair: 'The plot is good.' };

const goldens = goldenNames.filter((name) => existsSync(join(goldenFolder(name), 'explain.json')));
assert.ok(goldens.length >= 3);

/** Our models, and published ones, which have poolers and embedding norms. */
const subjects = [
  ...goldens.map((name) => ({
    name,
    folder: goldenFolder(name),
    file: 'explain',
    texts: () => readGolden(name).texts,
  })),
  ...['bert_sequence', 'bert_many_labels', 'distilbert_sequence'].map((name) => ({
    name,
    folder: folderOf(name),
    file: 'expected.explain',
    texts: () => JSON.parse(readFileSync(join(folderOf(name), 'expected.json'), 'utf8')).texts,
  })),
];

/** Returns the command line's answer in floats, with tensors as numbers. */
function natively(model, input, args) {
  const options = ['--json', '--compute', 'f32', ...args];
  const line = execFileSync(command, ['explain', model, ...options], { input, encoding: 'utf8' });
  return JSON.parse(line, (_, value) => {
    if (typeof value?.data !== 'string') return value;
    const bytes = Buffer.from(value.data, 'base64');
    const data = Float32Array.from({ length: bytes.length / 4 }, (_, i) =>
      bytes.readFloatLE(4 * i),
    );
    return { shape: value.shape, data };
  });
}

/** Asserts that two answers are equal up to rounding. */
function assertAlike(got, expected, place = 'result') {
  if (typeof expected === 'number') {
    assertNear([got], [expected], tolerance * Math.max(1, Math.abs(expected)), place);
  } else if (ArrayBuffer.isView(expected)) {
    assert.deepEqual([...got].map(Number.isNaN), [...expected].map(Number.isNaN), place);
    const numbers = (list) => [...list].map((x) => (Number.isNaN(x) ? 0 : x));
    assertNear(numbers(got), numbers(expected), 1e-3, place);
  } else if (typeof expected === 'object' && expected !== null) {
    assert.deepEqual(Object.keys(got).sort(), Object.keys(expected).sort(), place);
    for (const key of Object.keys(expected))
      assertAlike(got[key], expected[key], `${place}.${key}`);
  } else {
    assert.equal(got, expected, place);
  }
}

for (const binary of binaries) {
  for (const { name, folder, file, texts } of subjects) {
    test(`${name}, ${binary}: rollout, value norms, lens and direct logit attribution equal PyTorch’s`, async () => {
      const classifier = await load(folder, { binary, explain: true });
      const plan = JSON.parse(readFileSync(join(folder, `${file}.json`), 'utf8'));
      const { label, value, columns, edges } = plan;
      const golden = readSafetensors(join(folder, `${file}.safetensors`));
      const entry = texts()[plan.text];
      const text = entry.pair ? { text: entry.text, pair: entry.pair } : (entry.text ?? entry);
      const check = (tensor, got) => assertNear(got, golden[tensor].data, tolerance, tensor);

      const { rollout, scores, tokens } = await classifier.explain(text, { method: 'rollout' });
      check('rollout', rollout.data);
      assert.deepEqual(rollout.shape, [tokens.length, tokens.length]);
      assert.equal(scores.length, tokens.length);
      const norms = await classifier.explain(text, { method: 'value_norms' });
      check('value_norms.heads', norms.heads.data);
      check('value_norms.layers', norms.layers.data);
      const zeroed = await classifier.explain(text, { method: 'value_zeroing' });
      check('value_zeroing.layers', zeroed.layers.data);
      check('value_zeroing.rollout', zeroed.rollout.data);
      assert.equal(zeroed.scores.length, tokens.length);
      const lens = await classifier.explain(text, { method: 'lens' });
      check('lens.logits', lens.logits.data);
      check('lens.token_logits', lens.tokenLogits.data);
      assert.equal(lens.layers.at(-1).label, (await classifier.classify(text)).label);

      const wanted = {
        method: 'direct_logit_attribution',
        label: classifier.info.labels[label],
        effects: true,
      };
      const attribution = await classifier.explain(text, wanted);
      assert.deepEqual(attribution.columns, columns);
      assertNear([attribution.value], [value], tolerance, 'value');
      check('ledger.written', attribution.written.data);
      check('ledger.read', attribution.read.data);
      check('ledger.effects', attribution.effects);
      assert.deepEqual(attribution.written.shape, [tokens.length, columns.length]);

      // Explains the model's own label.
      assert.equal(lens.layers.at(-1).label, wanted.label);
      const arrows = edges.map(([layer, head, query, key]) => ({ layer, head, query, key }));
      for (const cut of ['scores', 'weights']) {
        const effects = await classifier.explain(text, { method: 'edges', edges: arrows, cut });
        check(`edges.${cut}`, [...effects.alone, effects.without]);
      }
    });
  }

  for (const name of ['gpt2_generate', 'gpt2_scaled', 'gpt2_unscaled']) {
    test(`${name}, ${binary}: the next token, as in PyTorch`, async () => {
      const folder = folderOf(name);
      const generator = await load(folder, { binary, explain: true }, Generator);
      const read = (file) => JSON.parse(readFileSync(join(folder, file), 'utf8'));
      const plan = read('expected.explain.json');
      const golden = readSafetensors(join(folder, 'expected.explain.safetensors'));
      const { text } = read('expected.json').texts[plan.text];
      const check = (tensor, got) => assertNear(got, golden[tensor].data, tolerance, tensor);

      const { rollout, scores } = await generator.explain(text, { method: 'rollout' });
      check('rollout', rollout.data);
      assert.deepEqual(Float32Array.from(scores), rollout.data.slice(-scores.length));
      const norms = await generator.explain(text, { method: 'value_norms' });
      check('value_norms.heads', norms.heads.data);
      check('value_norms.layers', norms.layers.data);
      const { layers } = await generator.explain(text, { method: 'lens', words: 4 });
      const guesses = layers.flat(2);
      check(
        'lens.logprobs',
        guesses.map(({ logprob }) => logprob),
      );
      assert.deepEqual(
        layers.map((rows) => rows.map(([{ id }]) => id)),
        plan.lens,
      );

      const attribution = await generator.explain(text, {
        method: 'direct_logit_attribution',
        effects: true,
      });
      assert.deepEqual([attribution.token.id, attribution.against.id], [plan.token, plan.against]);
      assertNear([attribution.value], [plan.value], tolerance, 'value');
      assert.deepEqual(attribution.columns, plan.columns);
      check('ledger.written', attribution.written.data);
      check('ledger.read', attribution.read.data);
      check('ledger.effects', attribution.effects);
      const { value, ...pair } = plan.other;
      const other = await generator.explain(text, { method: 'direct_logit_attribution', ...pair });
      assertNear([other.value], [value], tolerance, 'value');
      check('other.read', other.read.data);
      assert.equal(other.effects, undefined);
    });
  }

  test(`why a head looks there, ${binary}: sums, cells and effects of an independent computation`, async () => {
    const scores = JSON.parse(
      readFileSync(join(root, 'tests/fixtures/reference/scores.json'), 'utf8'),
    ).scores;
    const classes = {
      golden: Classifier,
      bert: Classifier,
      distilbert: Classifier,
      gpt2: Generator,
    };
    for (const golden of scores) {
      const { folder, text, attention, head, query, key, names } = golden;
      const [, name] = folder.split('/');
      const kind = name.startsWith('translate')
        ? Translator
        : (classes[name.split('_')[0]] ?? Classifier);
      const model = await load(
        join(root, 'tests/fixtures', folder),
        { binary, explain: true, compute: 'f32' },
        kind,
      );
      const place = { method: 'score', attention, head, query, key };
      const given = text.text && !text.pair ? text.text : text;
      const found = await model.explain(given, {
        ...place,
        contrast: true,
        cells: true,
        effects: true,
      });
      assertNear(
        [found.score, found.weight, found.lead],
        [golden.score, golden.weight, golden.lead],
        tolerance,
        folder,
      );
      for (const side of ['queries', 'keys']) {
        for (const part of found[side]) {
          const [sum, contrast, weight, effect] = golden[side][part.name];
          const about = `${folder} ${attention} ${side} ${part.name}`;
          assertNear(
            [part.sum, part.contrast, part.weight],
            [sum, contrast, weight],
            tolerance,
            about,
          );
          if (effect !== null && part.effect !== undefined) {
            assertNear([part.effect], [effect], tolerance, about);
          }
        }
      }
      const columns = found.keys.map((part) => names.keys.indexOf(part.name));
      const cells = found.queries.flatMap((part) => {
        const row = golden.cells[names.queries.indexOf(part.name)];
        return columns.map((column) => row[column]);
      });
      assertNear(found.cells.data, cells, tolerance, `${folder} cells`);
      model.dispose();
    }
  });

  test(`the shipped writer, ${binary}: every method gives the native answer`, async () => {
    const folder = join(root, 'weights/writer');
    const generator = await load(folder, { binary, compute: 'f32', explain: true }, Generator);
    const text = 'The acting is dreadful, so this film is';
    for (const method of ['rollout', 'value_norms', 'lens', 'direct_logit_attribution']) {
      assertAlike(
        await generator.explain(text, { method }),
        natively(folder, `${text}\n`, ['--method', method]),
      );
    }
  });

  test(`the shipped model, ${binary}: every method gives the native answer`, async () => {
    const classifier = await load(sentiment, { binary, compute: 'f32', explain: true });
    const line = `${pair.text}\n`;
    for (const method of ['rollout', 'value_norms', 'lens', 'direct_logit_attribution']) {
      assertAlike(
        await classifier.explain(pair.text, { method }),
        natively(sentiment, line, ['--method', method]),
      );
    }
    const both = `${pair.text}\t${pair.pair}\n`;
    const sites = ['residual', 'attention', 'feed_forward', 'query', 'key', 'value'];
    for (const [site, ...more] of [...sites.map((site) => [site]), ['head', '--head', '3']]) {
      const head = more.length > 0 ? { head: 3 } : {};
      assertAlike(
        await classifier.explain(pair, { method: 'activation_patching', site, ...head }),
        natively(sentiment, both, ['--method', 'activation_patching', '--site', site, ...more]),
      );
    }
    const { order, random, words } = await classifier.explain(pair.text, {
      method: 'faithfulness',
    });
    const expected = natively(sentiment, line, ['--method', 'faithfulness']);
    assert.deepEqual(words, expected.words);
    assertNear(
      [order.score, random.mean],
      [expected.order.score, expected.random.mean],
      1e-3,
      'score',
    );
    const attention = 'encoder.layers.2.self_attn';
    const options = { method: 'score', attention, head: 1, query: 4, key: 3 };
    const flags = ['--attention', attention, '--head', '1', '--query', '4', '--key', '3'];
    assertAlike(
      await classifier.explain(pair.text, { ...options, reads: true, rival: 1 }),
      natively(sentiment, line, ['--method', 'score', ...flags, '--reads', '--rival', '1']),
    );
    const cut = { layer: 0, head: 0, query: 3, key: 4 };
    assertAlike(
      await classifier.explain(pair.text, { method: 'edges', edges: [cut] }),
      natively(sentiment, line, ['--method', 'edges', '--edges', '0.0.3.4']),
    );
    const circuit = await classifier.explain(pair.text, { method: 'circuit' });
    assertAlike(circuit, natively(sentiment, line, ['--method', 'circuit']));
    assert.ok(circuit.heads.length > 0 && circuit.kept >= 0.8 * circuit.value);
  });
}

test('a score of every class of encoders is explained', async () => {
  const place = {
    method: 'score',
    attention: 'encoder.layers.1.self_attn',
    head: 1,
    query: 1,
    key: 2,
  };
  const inputs = [
    ['bert_embed', Embedder, ['I loved it!']],
    ['bert_masks', MaskFiller, ['The film is [MASK].']],
    ['bert_tokens', TokenClassifier, ['I met Anna in Rome.']],
    ['bert_answer', QuestionAnswerer, ['Who did?', 'My children laughed, and so did I.']],
  ];
  for (const [name, kind, input] of inputs) {
    const model = await load(folderOf(name), { explain: true, compute: 'f32' }, kind);
    const { score, queries, keys, queryTokens, tokens } = await model.explain(...input, place);
    for (const parts of [queries, keys]) {
      const sum = parts.reduce((all, part) => all + part.sum, 0);
      assertNear([sum], [score], tolerance * Math.max(1, Math.abs(score)), name);
    }
    assert.deepEqual(
      queryTokens,
      tokens.map(({ text }) => text),
      name,
    );
    await assertError(model.explain(...input, { method: 'lens' }), 'invalid_option', /^method: /);
    model.dispose();
  }
});

test('"not" is what makes the shipped model call a good plot bad', async () => {
  const classifier = await load(sentiment, { compute: 'f32', explain: true });
  const table = await classifier.explain(pair, { method: 'activation_patching' });
  assert.equal(table.label, 'negative');
  const not = table.tokens.findIndex(({ text }) => text.trim() === 'not');
  assert.equal(table.donorOf[not], null);
  assert.ok(table.cells[not].unpaired);
  const [rows, cells] = table.delta.shape;
  assert.deepEqual([rows, cells], [classifier.info.layers + 1, table.tokens.length]);
  // Without the token from the first layer on, the answer is that of the other text.
  assert.ok(Math.abs(table.share.data[not] - 1) < 0.05);
});

test('given scores are tested like those of a method', async () => {
  const classifier = await load(sentiment, { compute: 'f32', explain: true });
  const text = 'A gripping film with a dreadful ending.';
  const { scores } = await classifier.explain(text, { method: 'rollout' });
  const of = await classifier.explain(text, { method: 'faithfulness', of: 'rollout' });
  const own = { method: 'faithfulness', scores: Float32Array.from(scores) };
  assert.deepEqual((await classifier.explain(text, own)).order, of.order);
  assert.ok(of.leaveOneOut.score >= of.order.score);
});

for (const binary of binaries) {
  for (const name of translationGoldenNames) {
    test(`${name}, ${binary}: one token of a translation, as in PyTorch`, async () => {
      const folder = goldenFolder(name);
      const translator = await load(folder, { binary, explain: true }, Translator);
      const plan = JSON.parse(readFileSync(join(folder, 'explain.json'), 'utf8'));
      const golden = readSafetensors(join(folder, 'explain.safetensors'));
      const check = (tensor, got) => assertNear(got, golden[tensor].data, tolerance, tensor);
      const { position, token, against, columns, value, other } = plan;
      const ask = (options) =>
        translator.explain(readGolden(name).texts[plan.text], {
          ...{ method: 'direct_logit_attribution', position },
          ...options,
        });

      const attribution = await ask({ token, against, effects: true });
      assertNear([attribution.value], [value], tolerance, 'value');
      assert.deepEqual(attribution.columns, columns);
      check('ledger.written', attribution.written.data);
      check('ledger.read', attribution.read.data);
      check('ledger.effects', attribution.effects);
      const chosen = await ask({ token: other.token, against: other.against });
      assertNear([chosen.value], [other.value], tolerance, 'value');
      check('other.written', chosen.written.data);
      check('other.read', chosen.read.data);
    });
  }
}

test('a translation is explained sentence by sentence', async () => {
  const folder = join(root, 'weights/en-de');
  const translator = await load(folder, { compute: 'f32', explain: true }, Translator);
  const text = 'The dog sleeps.';
  for (const method of ['rollout', 'lens', 'decoder_lens']) {
    const { sentences } = await translator.explain(text, { method });
    assertAlike(sentences, natively(folder, `${text}\n`, ['--method', method]).sentences);
  }
  const { sentences } = await translator.explain(text, { method: 'decoder_lens' });
  assert.equal(sentences[0].layers.at(-1).text, (await translator.translate(text)).text);
});

test('one token of a translation is explained by its direct logit attribution', async () => {
  const folder = join(root, 'weights/en-de');
  const text = 'It rains. The film is not good.';
  for (const compute of ['f32', 'int8']) {
    const translator = await load(folder, { compute, explain: true }, Translator);
    const options = { method: 'direct_logit_attribution', sentence: 1, position: 3, effects: true };
    const attribution = await translator.explain(text, options);
    const asked = [
      '--method',
      'direct_logit_attribution',
      '--sentence',
      '1',
      '--position',
      '3',
      '--effects',
    ];
    if (compute === 'f32') assertAlike(attribution, natively(folder, `${text}\n`, asked));
    assert.equal(attribution.text, 'Der Film ist nicht gut.');
    assert.equal(attribution.token.text, ' nicht');
    const [rows, columns] = attribution.read.shape;
    assert.equal(rows, 4 + attribution.sourceTokens.length);
    for (const view of [attribution.written, attribution.read]) {
      const sum = view.data.reduce((total, part) => total + part, 0);
      assert.ok(Math.abs(sum - attribution.value) < 1e-4 * attribution.value);
    }
    // In the view by read tokens, the source's "not" has the largest share.
    const byToken = Array.from({ length: rows }, (_, row) =>
      attribution.read.data.slice(row * columns, (row + 1) * columns).reduce((a, b) => a + b, 0),
    );
    const heaviest = byToken.indexOf(Math.max(...byToken));
    assert.equal(attribution.sourceTokens[heaviest - 4]?.text, ' not');

    const rival = await translator.explain(text, {
      ...{ method: 'direct_logit_attribution', sentence: 1, position: 3 },
      ...{ token: attribution.against.id, against: attribution.token.id },
    });
    assert.ok(Math.abs(rival.value + attribution.value) < 1e-4);
    const beyond = { method: 'direct_logit_attribution', position: 99 };
    await assertError(
      () => translator.explain(text, beyond),
      'invalid_option',
      /position: expected one of the translation's tokens, below \d+, got 99/,
    );
  }
});

test('a worker, and an abort between two steps', async () => {
  const classifier = await Classifier.load(sentiment, {
    worker: true,
    compute: 'f32',
    explain: true,
  });
  try {
    const here = await load(sentiment, { compute: 'f32', explain: true });
    const options = { method: 'activation_patching' };
    assert.deepEqual(await classifier.explain(pair, options), await here.explain(pair, options));
    const controller = new AbortController();
    const search = classifier.explain(pair.text, { method: 'circuit', signal: controller.signal });
    controller.abort();
    await assert.rejects(search, { name: 'AbortError' });
    assert.ok((await classifier.classify('Fine.')).label);
  } finally {
    classifier.dispose();
  }
});

test('the binary for models that read texts refuses to explain and gives the cure', async () => {
  const module = readFileSync(join(dist, 'glassformer.read.wasm'));
  const classifier = await load(goldenFolder(goldens[0]), { module });
  const lens = () => classifier.explain('a', { method: 'lens' });
  await assertError(lens, 'unsupported', /loaded with the option explain/);
  const wrong = () => load(goldenFolder(goldens[0]), { explain: 'yes' });
  await assertError(wrong, 'invalid_option', /explain/);
});

test('wrong input is refused by name', async () => {
  const classifier = await load(goldenFolder(goldens[0]), { explain: true });
  const refused = (text, options, pattern, code = 'invalid_option') =>
    assertError(() => classifier.explain(text, options), code, pattern);
  await refused('a', {}, /method/);
  await refused('a', { method: 'tea leaves' }, /method.*rollout/);
  await refused('a', { method: 'lens', label: 'x' }, /label/);
  await refused('a', { method: 'direct_logit_attribution', label: 'no such label' }, /label/);
  await refused('a', { method: 'rollout', words: 3 }, /unknown option "words"/);
  await refused('a', { method: 'activation_patching' }, /two texts/);
  await refused(pair, { method: 'activation_patching', site: 'head', head: 99 }, /head/);
  await refused('a', { method: 'faithfulness', scores: [1, 2] }, /scores/);
  await refused('a', { method: 'faithfulness', scores: new Float32Array(99) }, /scores/);
  await refused('a', { method: 'edges', edges: [] }, /edges/);
  await refused(
    'a',
    { method: 'edges', edges: [{ layer: 99, head: 0, query: 0, key: 0 }] },
    /layer/,
  );
  await refused('', { method: 'rollout' }, /token/, 'empty_input');
  await refused(3, { method: 'rollout' }, /string/);
  const generator = await load(folderOf('gpt2_generate'), { explain: true }, Generator);
  const next = (options, pattern, code = 'invalid_option') =>
    assertError(() => generator.explain('a', options), code, pattern);
  await next(
    { method: 'edges' },
    /method.*rollout, value_norms, value_zeroing, lens, direct_logit_attribution/,
  );
  await next({ method: 'direct_logit_attribution', label: 'x' }, /unknown option "label"/);
  await next({ method: 'direct_logit_attribution', token: 500 }, /token.*below 500/);
  await next({ method: 'direct_logit_attribution', token: 3, against: 3 }, /against/);
  await next({ method: 'rollout', words: 3 }, /words/);
  const answering = await load(folderOf('t5'), { explain: true }, Generator);
  const rollout = () => answering.explain('a', { method: 'rollout' });
  await assertError(rollout, 'unsupported', /continues texts/);
  const integers = await load(goldenFolder(goldens[0]), { compute: 'int8', explain: true });
  await assertError(
    () => integers.explain('a', { method: 'circuit' }),
    'unsupported',
    /int8|integers/,
  );
});
