// The “Your model” view in Chromium, with tiny checkpoints of every family and task. Answers are
// compared with those of the original library or of the package in Node.
import assert from 'node:assert/strict';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { load } from '../../../../../dist/index.js';
import { decodePng } from '../../../../../tests/package/pictures/decode_png.mjs';
import { firefoxModel } from '../../../../../tests/package/support/firefox_model.mjs';
import { testsOnPage } from '../../../../../tests/page/on_page.mjs';
import {
  assertAccessible,
  assertAccessibleToAll,
  assertFits,
  assertFitsAt,
  root,
  settled,
  threadsLeft,
  workersLeft,
} from '../../../../../tests/page/open.mjs';
import { source } from '../../../../../tests/page/source.mjs';

const tolerance = 2e-3;
const checkpoints = join(root, 'tests/fixtures/checkpoints');

const onModelPage = testsOnPage('#view=model');
const onPage = (name, options, body) =>
  onModelPage(name, options, async (page, opened) => {
    await page.getByTestId('drop').waitFor();
    await body(page, opened);
  });

const near = (got, expected, what) =>
  assert.ok(Math.abs(got - expected) <= tolerance, `${what}: ${got}, not ${expected}`);
const valueOf = (locator) => locator.getAttribute('data-value').then(Number);

/** Chooses a folder and waits for the answer to the example. */
async function choose(page, folder) {
  await page.getByTestId('folder').setInputFiles(folder);
  await page.getByTestId('answer').waitFor();
  await settled(page);
}

async function ask(page, first, second) {
  await page.getByTestId('input').fill(first);
  if (second !== undefined) await page.getByTestId('second').fill(second);
  await settled(page);
}

async function expectedOf(name) {
  const path = join(checkpoints, name, 'expected.json');
  const expected = JSON.parse(await readFile(path, 'utf8'));
  return expected.same_as ? expectedOf(expected.same_as) : expected;
}

/** Compares the last head's heat map with the package; checks that there is one square per head. */
async function assertAttention(page, map) {
  assert.equal(await page.getByTestId('head').count(), map.layers * map.heads);
  await page.getByTestId('head').last().click();
  const matrix = map.at(map.layers - 1, map.heads - 1);
  const cells = await page
    .locator('[data-testid=heatmap] [data-value]')
    .evaluateAll((list) =>
      list.map(({ dataset }) => [dataset.query, dataset.key, dataset.value].map(Number)),
    );
  assert.equal(cells.length, map.queries * map.keys);
  for (const [query, key, got] of cells)
    near(got, matrix[query * map.keys + key], `${query}, ${key}`);
}

const inNode = (name, use) => inNodeAt(join(checkpoints, name), use);

async function inNodeAt(folder, use) {
  const model = await load(folder);
  try {
    return await use(model);
  } finally {
    model.dispose();
  }
}

const classifiers = [
  'bert_sequence',
  'bert_shards',
  'bert_many_labels',
  'bert_one_label',
  'distilbert_sequence',
  'roberta_sequence',
  'xlm_roberta_sequence',
  'camembert_sequence',
  'modernbert_sequence',
  'bart_sequence',
];
for (const name of classifiers) {
  onPage(`${name} classifies a text`, {}, async (page) => {
    await choose(page, join(checkpoints, name));
    const { texts, labels } = await expectedOf(name);
    const { text, pair, scores } = texts.find((each) => !each.pair) ?? texts[0];
    await ask(page, text, pair ?? '');
    const shown = await page
      .getByTestId('class')
      .evaluateAll((list) => list.map(({ dataset }) => [dataset.label, Number(dataset.value)]));
    const expected = new Map(labels.map((label, i) => [label, scores[i]]));
    for (const [label, score] of shown) near(score, expected.get(label), label);
    assert.equal(shown.length, labels.length > 1 ? Math.min(labels.length, 8) : 0);
    near(await valueOf(page.getByTestId('score')), Math.max(...scores), 'score');
    const { attention } = await inNode(name, (model) =>
      model.classify(pair ? { text, pair } : text, { attention: true }),
    );
    await assertAttention(page, attention.encoder);
  });
}

onPage('a classifier with a decoder shows all three kinds of attention', {}, async (page) => {
  await choose(page, join(checkpoints, 'bart_sequence'));
  const text = 'The film is good.';
  await ask(page, text, '');
  const call = (ablate) => (model) => model.classify(text, { attention: true, ablate });
  const { attention, score } = await inNode('bart_sequence', call([]));
  for (const kind of ['encoder', 'decoder', 'cross']) {
    await page.getByTestId(`show-${kind}`).check();
    await assertAttention(page, attention[kind]);
  }
  // The decoder's rows are shifted by one token: after the start, the encoder's first.
  await page.locator('[data-testid=heatmap] [data-value]').first().click();
  assert.match(await page.locator('.optics').innerText(), /After ‹start› it attends to <s>/);
  await page.getByTestId('ablate').click();
  await settled(page);
  const { layers, heads } = attention.cross;
  const off = [{ attention: 'cross', layer: layers - 1, head: heads - 1 }];
  const changed = await inNode('bart_sequence', call(off));
  assert.notEqual(changed.score, score);
  near(await valueOf(page.getByTestId('score')), changed.score, 'without a cross head');
});

onPage('a picture is classified, with the attention to its patches', {}, async (page) => {
  const folder = join(root, 'tests/fixtures/pictures/checkpoints/vit');
  await page.getByTestId('folder').setInputFiles(folder);
  await page.getByText('This model classifies pictures.').waitFor();
  await page.getByTestId('choose-picture').waitFor();
  assert.match(await page.locator('main').innerText(), /16 × 16 pixels in patches of/);
  const { labels, pictures } = JSON.parse(await readFile(join(folder, 'expected.json'), 'utf8'));
  for (const { file, scores, size } of pictures.filter(({ file }) => /jpg|webp/.test(file))) {
    if (size) continue;
    await page
      .getByTestId('picture')
      .setInputFiles(join(root, 'tests/fixtures/pictures/files', file));
    await page.getByText(`of ${file}`).waitFor();
    await settled(page);
    for (const [i, label] of labels.entries())
      near(await valueOf(page.locator(`[data-label="${label}"]`)), scores[i], `${file}, ${label}`);
  }
  const { layers, heads } = await inNodeAt(folder, ({ info }) => info);
  assert.equal(await page.getByTestId('head').count(), layers * heads);
  await page.getByTestId('query').nth(2).click();
  assert.match(await page.getByTestId('asker').innerText(), /The patch in row 1, column 3 asks/);
  await page.getByTestId('picture').setInputFiles(join(folder, 'config.json'));
  await page.getByText('This picture could not be read.').waitFor();
});

onPage('CLIP chooses from labels of the visitor', {}, async (page) => {
  await page.getByTestId('folder').setInputFiles(join(root, 'tests/fixtures/pictures/clip/clip'));
  await page.getByText('This model compares pictures with texts.').waitFor();
  const { labels, pictures } = JSON.parse(
    await readFile(join(root, 'tests/fixtures/pictures/clip/clip/expected.json'), 'utf8'),
  );
  await page.getByTestId('labels').fill(`${labels.join('\n')}\n\n${labels[0]}`);
  const { file, label, scores } = pictures[0];
  await page
    .getByTestId('picture')
    .setInputFiles(join(root, 'tests/fixtures/pictures/files', file));
  await page.getByTestId('verdict').filter({ hasText: label }).waitFor();
  const score = Number(await page.getByTestId('score').getAttribute('data-value'));
  assert.ok(Math.abs(score - Math.max(...scores)) < 1e-3, `${score}`);
  await page.getByTestId('labels').fill('something else');
  await page.getByTestId('verdict').filter({ hasText: 'something else' }).waitFor();
});

onPage('a model of drawn digits reads a drawing, and a dropped picture', {}, async (page) => {
  const folder = join(root, 'weights/digits');
  await choose(page, folder);
  const { examples } = await source('panels/pictures/digits');
  const { pictureOf, side, strokesIn } = await source('panels/pictures/drawing');
  const data = pictureOf(strokesIn(examples[3].strokes));
  const expected = await inNodeAt(folder, (model) =>
    model.classify({ width: side, height: side, data }, { attention: true }),
  );
  near(await valueOf(page.getByTestId('score')), expected.score, 'score');
  const { encoder } = expected.attention;
  const shown = await page
    .getByTestId('query')
    .evaluateAll((patches) => patches.map((patch) => patch.ariaLabel.split(', ').at(-1)));
  const weights = encoder.at(encoder.layers - 1, 0).subarray(1, encoder.keys);
  for (const [i, weight] of weights.entries())
    near(Number(shown[i].replace('<', '')), weight, `patch ${i}`);
  await page.getByTestId('clear').click();
  await page.getByText('Choose a picture', { exact: true }).last().waitFor();
  const file = await readFile(join(root, 'tests/fixtures/pictures/files/gray8.png'), 'base64');
  await dropFile(page, 'gray8.png', file);
  await page.getByText('of gray8.png').waitFor();
  assert.equal(await page.getByTestId('found').innerText(), 'ViTForImageClassification');
});

/** Returns what the page shows of the methods and layers that explain an answer. */
async function reasonsOn(page) {
  await page.getByTestId('why').click();
  await page.getByTestId('reasons').waitFor();
  await page.locator('[data-testid=reasons][aria-busy=false]').waitFor();
  return page.evaluate(() => {
    const all = (selector, of = document) => [...of.querySelectorAll(selector)];
    return {
      methods: all('[data-testid=method]').map((method) => ({
        name: method.dataset.name,
        told: method.querySelector('figcaption').textContent,
        scores: all('[data-value]', method).map(({ dataset }) => Number(dataset.value)),
      })),
      layers: all('[data-testid=layer]').map(({ dataset }) => [dataset.label, +dataset.value]),
      refused: all('[data-testid=refused]').map((each) => each.textContent.trim()),
    };
  });
}

const methodNames = {
  'Attention rollout': 'rollout',
  Relevance: 'relevance',
  'Gradient × input': 'gradient_times_input',
};

/** Compares them with what `explain` answers in Node. */
async function assertReasons(page, folder, explain, absent = []) {
  const shown = await reasonsOn(page);
  const model = await load(folder, { compute: 'f32', gradients: true });
  try {
    for (const { name, told, scores } of shown.methods) {
      const expected = await explain(model, methodNames[name]);
      for (const [i, score] of scores.entries()) near(score, expected.scores[i], `${name}, ${i}`);
      const after = expected.grid?.special.length ?? 0;
      if (!expected.grid) assert.equal(scores.length, expected.scores.length);
      const largest = Math.max(...expected.scores.slice(after));
      const rounded = Number(/largest: [+<]?([\d.]+)/.exec(told)[1]);
      assert.ok(Math.abs(rounded - largest) <= 0.0051, `${told}: not ${largest}`);
    }
    assert.deepEqual(
      shown.methods.map(({ name }) => name),
      Object.keys(methodNames).filter((name) => !absent.includes(name)),
    );
    assert.equal(shown.refused.length, absent.length);
    const { layers } = await explain(model, 'lens');
    assert.equal(shown.layers.length, layers.length);
    for (const [i, { label, scores }] of layers.entries()) {
      assert.equal(shown.layers[i][0], label);
      near(shown.layers[i][1], Math.max(...scores.map(({ score }) => score)), `layer ${i}`);
    }
  } finally {
    model.dispose();
  }
  return shown;
}

for (const name of ['bert_sequence', 'bart_sequence', 'bert_regression'])
  onPage(`${name}: methods and layers explain the answer`, {}, async (page) => {
    const folder = join(checkpoints, name);
    await choose(page, folder);
    await ask(page, 'The film is good.', '');
    await assertReasons(page, folder, (model, method) =>
      model.explain('The film is good.', { method }),
    );
    // The next text is explained, too.
    const [first] = await page.getByTestId('method').allTextContents();
    await ask(page, 'The plot is dull and the actors are worse.', '');
    await page.locator('[data-testid=reasons][aria-busy=false]:not(.stale)').waitFor();
    const [next] = await page.getByTestId('method').allTextContents();
    assert.notEqual(next, first);
    await assertAccessible(page, name);
  });

onPage('a method that a model does not have is named', {}, async (page) => {
  const folder = join(root, 'tests/fixtures/golden/linear_attention');
  await choose(page, folder);
  const text = await page.getByTestId('input').inputValue();
  const explain = (model, method) => model.explain(text, { method });
  const { refused } = await assertReasons(page, folder, explain, ['Relevance']);
  assert.match(refused[0], /Relevance cannot be computed .*got linear attention/s);
});

onPage(
  'methods and layers explain what CLIP says of a picture',
  { viewport: { width: 320, height: 800 } },
  async (page) => {
    const folder = join(root, 'tests/fixtures/pictures/clip/clip');
    const file = join(root, 'tests/fixtures/pictures/files/rgb8.png');
    const labels = ['a bird', 'a house', 'a tree'];
    await page.getByTestId('folder').setInputFiles(folder);
    await page.getByTestId('labels').fill(labels.join('\n'));
    await page.getByTestId('picture').setInputFiles(file);
    await page.getByTestId('answer').waitFor();
    await settled(page);
    const pixels = decodePng('rgb8.png');
    await assertReasons(page, folder, (model, method) => model.explain(pixels, labels, { method }));
    await assertFits(page);
    await assertAccessible(page);
  },
);

onPage('labels that look like numbers change no map of a layer', {}, async (page) => {
  const file = join(root, 'tests/fixtures/pictures/files/rgb8.png');
  const folder = await mkdtemp(join(tmpdir(), 'glassformer-'));
  const mapsIn = async (chosen) => {
    await page.getByTestId('folder').setInputFiles(chosen);
    await page.getByTestId('picture').setInputFiles(file);
    await page.getByTestId('answer').waitFor();
    await settled(page);
    await reasonsOn(page);
    const rects = page.locator('[data-testid=layer] rect');
    return rects.evaluateAll((all) => all.map((rect) => rect.getAttribute('fill')));
  };
  try {
    await cp(join(root, 'tests/fixtures/pictures/checkpoints/vit'), folder, { recursive: true });
    const expected = await mapsIn(folder);
    assert.ok(new Set(expected).size > 10);
    const path = join(folder, 'config.json');
    const config = JSON.parse(await readFile(path, 'utf8'));
    // An object of JavaScript has such keys in the order of their numbers.
    const ids = Object.keys(config.id2label).map(Number);
    config.id2label = Object.fromEntries(ids.map((id) => [id, `${ids.length - id}`]));
    config.label2id = Object.fromEntries(ids.map((id) => [`${ids.length - id}`, id]));
    await writeFile(path, JSON.stringify(config));
    await page.getByTestId('another').click();
    assert.deepEqual(await mapsIn(folder), expected);
  } finally {
    await rm(folder, { recursive: true });
  }
});

/** Drops a picture's file on the page. */
async function dropFile(page, name, base64) {
  await page.evaluate(
    ([file, content]) => {
      const bytes = Uint8Array.from(atob(content), (character) => character.charCodeAt(0));
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File([bytes], file, { type: 'image/png' }));
      const event = new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true });
      const entry = {
        isFile: true,
        fullPath: `/${file}`,
        file: (done) => done(dataTransfer.files[0]),
      };
      DataTransferItem.prototype.webkitGetAsEntry = () => entry;
      document.querySelector('main').dispatchEvent(event);
    },
    [name, base64],
  );
}

onPage('a pair of texts is classified', {}, async (page) => {
  await choose(page, join(checkpoints, 'bert_sequence'));
  const { texts, labels } = await expectedOf('bert_sequence');
  const { text, pair, scores } = texts.find((each) => each.pair && !each.truncated);
  await ask(page, text, pair);
  for (const [i, label] of labels.entries())
    near(await valueOf(page.locator(`[data-label="${label}"]`)), scores[i], label);
});

onPage('a regression score is shown as a number', {}, async (page) => {
  await choose(page, join(checkpoints, 'bert_regression'));
  const { texts } = await expectedOf('bert_regression');
  await ask(page, texts[0].text, texts[0].pair);
  near(await valueOf(page.getByTestId('score')), texts[0].scores[0], 'score');
  assert.doesNotMatch(await page.getByTestId('score').textContent(), /%/);
});

const namers = [
  'bert_tokens',
  'distilbert_tokens',
  'roberta_tokens',
  'xlm_roberta_tokens',
  'modernbert_tokens',
];
for (const name of namers) {
  onPage(`${name} marks names in the text`, {}, async (page) => {
    await choose(page, join(checkpoints, name));
    const { texts } = await expectedOf(name);
    const { text, entities } = texts.find((each) => each.entities.simple.length > 0);
    await ask(page, text);
    const marked = await page
      .locator('mark')
      .evaluateAll((list) =>
        list.map(({ firstChild, dataset }) => [firstChild.data, dataset.name]),
      );
    // Two names may share a character, which the first one has.
    let at = 0;
    const expected = [];
    for (const { start, end, entity } of entities.simple) {
      const from = Math.max(start, at);
      if (end > from) expected.push([text.slice(from, end), entity]);
      at = Math.max(at, end);
    }
    assert.deepEqual(
      marked.map(([part, label]) => [part, label.split(' ')[0]]),
      expected,
    );
    const options = { attention: true, window: 'first' }; // like the page
    const { attention } = await inNode(name, (model) => model.classify(text, options));
    await assertAttention(page, attention.encoder);
  });
}

for (const name of ['bert_answer', 'distilbert_answer', 'roberta_answer']) {
  onPage(`${name} answers a question, and the answer is marked`, {}, async (page) => {
    await choose(page, join(checkpoints, name));
    const { texts, max_length: longest } = await expectedOf(name);
    const { question, context, answer, start, end, score } = texts.find(
      ({ options }) => options.max_length === longest && !options.handle_impossible_answer,
    );
    await ask(page, question, context);
    assert.equal(await page.getByTestId('verdict').textContent(), answer);
    near(await valueOf(page.getByTestId('score')), score, 'score');
    assert.equal(await page.locator('mark').textContent(), context.slice(start, end));
    const { attention } = await inNode(name, (model) =>
      model.answer(question, context, { attention: true }),
    );
    await assertAttention(page, attention.encoder);
    await ask(page, question, '');
    await page.getByText('Type a text').waitFor();
  });
}

for (const name of ['bert_masks', 'roberta_masks']) {
  onPage(`${name} fills masks, which are marked`, {}, async (page) => {
    await choose(page, join(checkpoints, name));
    assert.match(await page.getByTestId('task').textContent(), /may stand at a mask/);
    await ask(page, 'A [MASK] film is [MASK].');
    const { masks, attention } = await inNode(name, (model) =>
      model.fill(`A ${model.info.maskToken} film is ${model.info.maskToken}.`, { attention: true }),
    );
    const shown = await page
      .getByTestId('class')
      .evaluateAll((list) => list.map(({ dataset }) => [dataset.label, Number(dataset.value)]));
    const expected = masks.flatMap(({ answers }) => answers);
    assert.deepEqual(
      shown.map(([label]) => label),
      expected.map(({ token }) => token),
    );
    for (const [i, { score }] of expected.entries()) near(shown[i][1], score, `${i}`);
    assert.equal(await page.locator('mark').count(), 2);
    await assertAttention(page, attention.encoder);
  });
}

onPage('a table compares sentences, and each can be chosen', {}, async (page) => {
  await choose(page, join(checkpoints, 'bert_embed'));
  const texts = ['The film is good.', 'A good film', 'no'];
  await ask(page, `${texts[0]}\n\n ${texts[1]}\n${texts[2]}`);
  const { similarity, attention } = await inNode('bert_embed', async (model) => {
    const all = await model.embedBatch(texts, { attention: true });
    return {
      similarity: all.map((a) => all.map((b) => model.similarity(a.embedding, b.embedding))),
      attention: all[1].attention.encoder,
    };
  });
  const shown = page.getByTestId('similarity');
  assert.equal(await shown.count(), 9);
  for (let i = 0; i < 9; i++)
    near(await valueOf(shown.nth(i)), similarity[Math.floor(i / 3)][i % 3], `${i}`);
  await page.getByRole('radio', { name: '2', exact: true }).check();
  await assertAttention(page, attention);
});

/** Compares a translator's words, search and forced tokens with the package. */
async function assertSearch(page, model, text) {
  const asked = { attention: true, hypotheses: true };
  const shown = page.getByTestId('target');
  const hypotheses = page.getByTestId('hypotheses').locator('.text');
  const nodes = page.getByTestId('tree').locator('[data-node]');
  const asIn = async (options) => {
    await settled(page);
    const { text: translation, sentences } = await model.translate(text, { ...asked, ...options });
    assert.equal(await shown.textContent(), translation);
    const [sentence] = sentences;
    assert.deepEqual(
      await hypotheses.allTextContents(),
      sentence.hypotheses.map((each) => each.text),
    );
    assert.equal(await nodes.count(), sentence.tree.length);
    return sentence;
  };
  const { alignment } = await asIn({});

  // The first word of the translation highlights the words aligned with it, with lines to them.
  const words = page.getByTestId('target').locator('[data-word]');
  const { target } = alignment[0];
  assert.equal(await words.first().textContent(), await sliceOf(shown, target));
  await words.first().hover();
  const links = alignment.filter((link) => link.target.start === target.start);
  const lit = await page
    .getByTestId('source')
    .locator('[data-word][data-value]')
    .evaluateAll((list) => list.map((word) => [word.textContent, Number(word.dataset.value)]));
  assert.deepEqual(
    new Map(lit.map(([word]) => [word, true])),
    new Map(links.map(({ source: { start, end } }) => [text.slice(start, end), true])),
  );
  assert.equal(await page.locator('.desk > svg path').count(), links.length);

  // Another number of beams, and a token that the search had not chosen.
  await page.getByTestId('beams').getByRole('radio', { name: '3', exact: true }).check();
  const { tree, tokens } = await asIn({ beams: 3 });
  const other = tree.findIndex(({ parent, id }, i) => i > 0 && parent === 0 && id !== tokens[0].id);
  await page.getByTestId('tree').locator(`[data-node="${other}"]`).click();
  await page.getByTestId('forced').waitFor();
  await asIn({ beams: 3, prefixes: [[tree[other].id]] });
  await page.getByRole('button', { name: 'Let the model choose' }).click();
  await asIn({ beams: 3 });
}
const sliceOf = async (locator, { start, end }) => (await locator.textContent()).slice(start, end);

for (const name of ['marian', 'marian_two_tables']) {
  onPage(`${name} translates, with all three kinds of attention`, {}, async (page) => {
    await choose(page, join(checkpoints, name));
    const { texts } = await expectedOf(name);
    const { text } = texts[0];
    await ask(page, text);
    const { text: translation, sentences } = await inNode(name, (model) =>
      model.translate(text, { attention: true }),
    );
    assert.equal(await page.getByTestId('target').textContent(), translation);
    for (const kind of ['encoder', 'decoder', 'cross']) {
      await page.getByTestId(`show-${kind}`).check();
      await assertAttention(page, sentences[0].attention[kind]);
    }
    await inNode(name, (model) => assertSearch(page, model, text));
  });
}

onPage('a Firefox translator opens with its cross-attention', {}, async (page) => {
  const folder = await mkdtemp(join(tmpdir(), 'glassformer-firefox-'));
  try {
    const files = firefoxModel();
    for (const [name, bytes] of Object.entries(files)) await writeFile(join(folder, name), bytes);
    await choose(page, folder);
    assert.equal(await page.getByTestId('found').textContent(), 'Firefox translator');
    assert.match(await page.getByTestId('tensors').textContent(), /I8/);
    assert.ok(await page.getByTestId('int8').isChecked());
    const text = 'ab ac ad ae';
    await ask(page, text);
    const model = await load(files);
    const { text: translation, sentences } = await model.translate(text, { attention: true });
    assert.equal(await page.getByTestId('target').textContent(), translation);
    assert.equal(await page.getByTestId('show-decoder').count(), 0);
    for (const kind of ['encoder', 'cross']) {
      await page.getByTestId(`show-${kind}`).check();
      await assertAttention(page, sentences[0].attention[kind]);
    }
    await assertSearch(page, model, text);
    model.dispose();
  } finally {
    await rm(folder, { recursive: true });
  }
});

for (const name of ['gpt2_generate', 'gpt2_unscaled', 'llama', 'mistral', 'qwen3']) {
  onPage(`${name} continues a text`, {}, async (page) => {
    await choose(page, join(checkpoints, name));
    await ask(page, 'The film is');
    const { text, attention } = await inNode(name, (model) =>
      model.generate('The film is', { maxNewTokens: 40, attention: true }),
    );
    assert.equal(await page.getByTestId('written').textContent(), text);
    await assertAttention(page, attention.decoder);
  });
}

for (const name of ['t5', 'flan_t5', 'mt5']) {
  onPage(`${name} answers a text, with all three kinds of attention`, {}, async (page) => {
    await choose(page, join(checkpoints, name));
    assert.match(await page.getByTestId('task').textContent(), /a text with a text/);
    const text = 'translate English to German: The film is good.';
    await ask(page, text);
    const { text: written, attention } = await inNode(name, (model) =>
      model.generate(text, { maxNewTokens: 40, attention: true }),
    );
    assert.equal(await page.getByTestId('written').textContent(), written);
    for (const kind of ['encoder', 'decoder', 'cross']) {
      await page.getByTestId(`show-${kind}`).check();
      await assertAttention(page, attention[kind]);
    }
    await page.getByTestId('ablate').click();
    await settled(page);
    assert.match(await page.getByTestId('change').textContent(), /1 head off/);
    await page.getByTestId('show-encoder').check();
    assert.match(await page.getByText(/^Cross, 1 off$/).textContent(), /1 off/);
  });
}

onPage(
  'the view shows what it found and what it ignored, and can compute in integers',
  {},
  async (page) => {
    await choose(page, join(checkpoints, 'roberta_sequence'));
    assert.equal(await page.getByTestId('found').textContent(), 'RobertaForSequenceClassification');
    assert.equal(await page.getByTestId('family').textContent(), 'roberta');
    assert.match(await page.getByTestId('task').textContent(), /classifies texts/);
    assert.match(await page.getByTestId('memory').textContent(), /^about \d+ kB$/);
    assert.match(await page.getByTestId('ignored').textContent(), /expected\.json/);
    const tensors = await page.getByTestId('ignored-tensors').textContent();
    assert.match(tensors, /^8 tensors not needed.*lm_head\.dense\.weight.*roberta\.pooler/s);
    const before = await valueOf(page.getByTestId('score'));
    await page.getByTestId('int8').check();
    await settled(page);
    await page.getByTestId('answer').waitFor();
    const after = await valueOf(page.getByTestId('score'));
    assert.ok(before !== after && Math.abs(before - after) < 0.05, `${before} ${after}`);
    await threadsLeft(page);
    await page.getByTestId('another').click();
    await page.getByTestId('drop').waitFor();
    await workersLeft(page, 0);
  },
);

onPage('tensors that text generation does not need are listed', {}, async (page) => {
  await choose(page, join(checkpoints, 'gpt2_generate'));
  const said = page.getByTestId('ignored-tensors');
  assert.match(await said.textContent(), /^4 tensors not needed/);
  assert.equal(await said.getAttribute('open'), null);
  await said.getByText('4 tensors not needed').click();
  assert.equal(await said.getAttribute('open'), '');
  assert.match(await said.textContent(), /transformer\.h\.1\.attn\.masked_bias/);
});

onPage('a selection in one model is cleared for the next', {}, async (page) => {
  await choose(page, join(checkpoints, 'bert_tokens'));
  await page.locator('[data-testid=heatmap] [data-value]').nth(2).click();
  await page.getByTestId('another').click();
  await choose(page, join(checkpoints, 'gpt2_generate'));
  // In a causal model, a token cannot attend to later tokens.
  assert.equal(await page.getByText('masked', { exact: true }).count(), 0);
});

onPage('switching off heads changes the answer, and undoing it restores it', {}, async (page) => {
  await choose(page, join(checkpoints, 'bert_sequence'));
  await ask(page, 'The film is good.');
  const before = await valueOf(page.getByTestId('score'));
  await page.getByTestId('layer-switch').first().click();
  await settled(page);
  assert.match(await page.getByTestId('change').textContent(), /off/);
  assert.notEqual(await valueOf(page.getByTestId('score')), before);
  await page.getByTestId('reset').click();
  await settled(page);
  assert.equal(await valueOf(page.getByTestId('score')), before);
});

onPage('files can be chosen without their folder', {}, async (page) => {
  const names = ['config.json', 'model.safetensors', 'vocab.txt', 'tokenizer_config.json'];
  await page
    .getByTestId('files')
    .setInputFiles(names.map((file) => join(checkpoints, 'distilbert_answer', file)));
  await page.getByTestId('verdict').waitFor();
  assert.equal(await page.getByTestId('family').textContent(), 'distilbert');
});

/**
 * Drops a folder of tests/fixtures/checkpoints onto an element, with entries like those of a real
 * drop, which scripts cannot make. Resolves to whether the default action was prevented.
 */
async function dropFolder(page, name, files, selector) {
  const folder = join(checkpoints, name);
  const contents = Object.fromEntries(
    await Promise.all(
      files.map(async (file) => [file, (await readFile(join(folder, file))).toString('base64')]),
    ),
  );
  return page.evaluate(
    async ([encoded, onto]) => {
      const storage = await navigator.storage.getDirectory();
      const top = await storage.getDirectoryHandle('bert', { create: true });
      for (const [path, base64] of Object.entries(encoded)) {
        const [name, ...folders] = path.split('/').reverse();
        let at = top;
        for (const each of folders) at = await at.getDirectoryHandle(each, { create: true });
        const handle = await at.getFileHandle(name, { create: true });
        const writable = await handle.createWritable();
        await writable.write(Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0)));
        await writable.close();
      }
      // Imitates the entries that the browser makes for a drop.
      const entryOf = (handle, path) => ({
        fullPath: `${path}/${handle.name}`,
        isFile: handle.kind === 'file',
        file: (resolve, reject) => handle.getFile().then(resolve, reject),
        createReader() {
          let done = false;
          return {
            async readEntries(resolve) {
              const some = [];
              if (!done)
                for await (const each of handle.values())
                  some.push(entryOf(each, `${path}/${handle.name}`));
              done = true;
              resolve(some);
            },
          };
        },
      });
      const dataTransfer = {
        types: ['Files'],
        files: [],
        items: [{ webkitGetAsEntry: () => entryOf(top, '') }],
      };
      const made = (type) => {
        const event = new Event(type, { bubbles: true, cancelable: true });
        return Object.defineProperty(event, 'dataTransfer', { value: dataTransfer });
      };
      const target = document.querySelector(onto);
      target.dispatchEvent(made('dragover'));
      const drop = made('drop');
      target.dispatchEvent(drop);
      return drop.defaultPrevented;
    },
    [contents, selector],
  );
}

onPage('a dropped folder is opened, including subfolders', {}, async (page) => {
  const files = ['config.json', 'model.safetensors', 'tokenizer.json', 'modules.json'];
  const deeper = ['1_Pooling/config.json', 'sentence_bert_config.json'];
  await dropFolder(page, 'bert_embed', [...files, ...deeper], '[data-testid=drop]');
  await page.getByTestId('similarity').first().waitFor();
  assert.equal(await page.getByTestId('ignored').filter({ hasText: 'Pooling' }).count(), 0);
});

// On every view, on its text box if it has one: the browser would open the file there.
for (const [hash, selector] of [
  ['', 'textarea'],
  ['#view=transplant', 'textarea'],
  ['#view=inside', 'footer'],
  ['#view=translation', 'textarea'],
  ['#view=writing', 'textarea'],
  ['#view=bench', 'main'],
  ['#view=model', 'footer'],
])
  onModelPage(
    `a dropped folder is opened on ${hash || 'the first view'}`,
    { hash: hash || '#' },
    async (page) => {
      await page.locator(`main ${selector}, ${selector}`).first().waitFor();
      const files = ['config.json', 'model.safetensors', 'tokenizer.json'];
      assert.equal(await dropFolder(page, 'bert_sequence', files, selector), true);
      const yours = page.locator('nav [aria-current]', { hasText: 'Your model' });
      await yours.waitFor();
      await page.getByTestId('answer').waitFor();
      assert.equal(await page.locator('.dropping').count(), 0);
      if (hash === '#view=model') return;
      await page.goBack();
      await yours.waitFor({ state: 'detached' });
    },
  );

// --- errors ------------------------------------------------------------------------

async function withFolder(name, change, body) {
  const folder = await mkdtemp(join(tmpdir(), 'glassformer-'));
  try {
    await cp(join(checkpoints, name), folder, { recursive: true });
    await change(folder);
    await body(folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}

const changeConfig = (keys) => async (folder) => {
  const path = join(folder, 'config.json');
  const config = JSON.parse(await readFile(path, 'utf8'));
  await writeFile(path, JSON.stringify({ ...config, ...keys }));
};

async function refusal(page, folder) {
  await page.getByTestId('folder').setInputFiles(folder);
  return page.getByRole('alert').textContent();
}

onPage('an unknown family is rejected by name, and another model can follow', {}, async (page) => {
  await withFolder('bert_sequence', changeConfig({ model_type: 'reformer' }), async (folder) => {
    const said = await refusal(page, folder);
    assert.match(said, /cannot be opened.*bert.*got "reformer".*unsupported/s);
  });
  await page.getByTestId('another').click();
  await choose(page, join(checkpoints, 'bert_sequence'));
});

onPage('a folder without a model is reported', {}, async (page) => {
  const said = await refusal(page, join(root, 'web/src/ui/styles'));
  assert.match(said, /config\.json: expected.*Choose the whole folder/s);
  assert.equal(await page.getByTestId('found').textContent(), 'No model');
  assert.equal(await page.getByTestId('memory').count(), 0);
});

onPage('a broken file is rejected by name', {}, async (page) => {
  const spoil = async (folder) => {
    const path = join(folder, 'model.safetensors');
    await writeFile(path, (await readFile(path)).subarray(0, 5000));
  };
  await withFolder('bert_sequence', spoil, async (folder) => {
    const said = await refusal(page, folder);
    assert.match(said, /model\.safetensors.*download all of them again.*invalid_safetensors/s);
  });
});

onPage('the error lists the possible names of a missing file', {}, async (page) => {
  const spoil = (folder) => rm(join(folder, 'tokenizer.json'));
  await withFolder('bert_sequence', spoil, async (folder) => {
    assert.match(await refusal(page, folder), /expected one of tokenizer\.json.*got none of them/s);
  });
});

onPage('the error says how to rename a file', {}, async (page) => {
  const renamed = (from, to) => async (folder) => {
    await cp(join(folder, from), join(folder, to));
    await rm(join(folder, from));
    // Removes the tests' own files: only one weights file may be left.
    for (const name of ['expected', 'expected.explain', 'expected.gradients'])
      await rm(join(folder, `${name}.safetensors`));
  };
  for (const [from, to] of [
    ['model.safetensors', 'bert-base.fp32.safetensors'],
    ['model.safetensors', 'model (1).safetensors'],
    ['config.json', 'config (2).json'],
    ['tokenizer.json', 'tokenizer copy.json'],
  ])
    await withFolder('bert_sequence', renamed(from, to), async (folder) => {
      const said = await refusal(page, folder);
      assert.ok(said.includes(`Rename ${to} to ${from}, then choose the files again.`), said);
      // The switch is hidden if it would not help.
      assert.equal(await page.getByTestId('int8').count(), 0);
      await page.getByTestId('another').click();
    });
  await choose(page, join(checkpoints, 'bert_sequence'));
  assert.equal(await page.getByTestId('int8').count(), 1);
});

onPage('a large model waits for confirmation, with integers preselected', {}, async (page) => {
  // The header also describes half a billion numbers that are not in the file.
  const spoil = async (folder) => {
    const path = join(folder, 'model.safetensors');
    const weights = await readFile(path);
    const size = Number(weights.readBigUInt64LE(0));
    const data = weights.subarray(8 + size);
    const offsets = [data.length, data.length + 2e9];
    const header = JSON.stringify({
      ...JSON.parse(weights.toString('utf8', 8, 8 + size)),
      large: { dtype: 'F32', shape: [500_000, 1000], data_offsets: offsets },
    });
    const length = Buffer.alloc(8);
    length.writeBigUInt64LE(BigInt(header.length));
    await writeFile(path, Buffer.concat([length, Buffer.from(header), data]));
  };
  await withFolder('bert_sequence', spoil, async (folder) => {
    await page.getByTestId('folder').setInputFiles(folder);
    await page.getByTestId('load').waitFor();
    assert.match(await page.getByTestId('task').textContent(), /configuration.*classifies texts/);
    assert.equal(await page.getByTestId('memory').textContent(), 'about 500.0 MB');
    await page.getByTestId('f32').check();
    assert.equal(await page.getByTestId('memory').textContent(), 'about 2.0 GB');
    await page.getByTestId('load').click();
    await page.getByRole('alert').waitFor();
  });
});

// --- layout ----------------------------------------------------------------------------------------

onPage('nothing scrolls sideways', { viewport: { width: 320, height: 800 } }, async (page) => {
  const widths = [390, 1280, 320];
  await assertFitsAt(page, widths, 'empty');
  for (const name of ['bert_many_labels', 'bert_embed', 'bert_answer', 'marian']) {
    await choose(page, join(checkpoints, name));
    await assertFitsAt(page, widths, name);
    await assertAccessible(page, name);
    await page.getByTestId('another').click();
  }
});

onPage('axe finds no violations', {}, async (page) => {
  await assertAccessibleToAll(page, 'empty');
  for (const name of ['bert_tokens', 'bert_answer', 'bert_embed', 'gpt2_generate', 't5']) {
    await choose(page, join(checkpoints, name));
    await assertAccessibleToAll(page, name);
    await page.getByTestId('another').click();
  }
});
