// The answers that are shown until a model has loaded. They are computed when the page is built, and
// equal the model's own.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { AttentionMap, Classifier, Generator, Translator } from '../../../dist/index.js';
import { source } from '../source.mjs';
import { launch, open, root, serve, settled } from '../open.mjs';

const { examples: sentences } = await source('panels/alignment/examples');
const { examples: beginnings } = await source('panels/words/examples');
const { allNext, packed, unpacked, examples } = await source(
  'models/beforehand/format',
  'panels/verdict/reviews',
  'panels/words/sampling',
);

// Node may use the other binary, whose sums are rounded differently.
const tolerance = 2e-4;

let browser, server;
before(async () => {
  [browser, server] = await Promise.all([launch(), serve()]);
});
after(async () => {
  await browser?.close();
  await server?.close();
});

function assertClose(actual, expected, what) {
  assert.equal(actual.length, expected.length, `${what}: how many`);
  const worst = actual.reduce((max, value, i) => Math.max(max, Math.abs(value - expected[i])), 0);
  assert.ok(worst <= tolerance, `${what}: ${worst} apart`);
}

const read = (json) => unpacked(json, (map) => new AttentionMap(map));

async function inPage() {
  const html = await readFile(join(root, 'web/dist/index.html'), 'utf8');
  const [, translation, writing, json] =
    /id="beforehand" data-translation="([^"]+)" data-writing="([^"]+)">([^<]*)</.exec(html);
  const inFile = async (file) => read(await readFile(join(root, 'web/dist', file), 'utf8'));
  return {
    sentiment: read(json),
    translation: await inFile(translation),
    writing: await inFile(writing),
  };
}

test('an answer survives the way through its JSON, with weights as 16-bit numbers', () => {
  const data = Float32Array.from({ length: 12 }, (_, i) => i / 11);
  const map = { layers: 1, heads: 2, queries: 2, keys: 3, data };
  const answer = {
    text: '</s>',
    effects: new Float32Array([0.5, -2]),
    attention: map,
    score: -0.25,
  };
  const back = read(packed(answer));
  assert.deepEqual({ ...back, attention: undefined }, { ...answer, attention: undefined });
  assert.ok(back.attention instanceof AttentionMap);
  assert.ok(back.attention.data.every((weight, i) => Math.abs(weight - data[i]) < 1e-5));
});

test('the sentiment view’s first answer equals the model’s', async () => {
  const { text, labels, result, effects } = (await inPage()).sentiment;
  const model = await Classifier.load(join(root, 'weights/sentiment'), { compute: 'f32' });
  const own = await model.classify(text, { attention: true, contributions: true });
  assert.equal(text, examples[0].text);
  assert.deepEqual(labels, model.info.labels);
  assert.deepEqual(result.tokens, own.tokens);
  assert.equal(result.label, own.label);
  assert.equal(result.clipped, own.clipped);
  for (const [i, label] of labels.entries()) {
    assert.equal(result.scores[i].label, label);
    assertClose([result.scores[i].score], [own.scores[i].score], label);
    assertClose([result.scores[i].logit], [own.scores[i].logit], label);
    assertClose(result.contributions[i], own.contributions[i], label);
  }
  assertClose(result.attention.encoder.data, own.attention.encoder.data, 'attention');
  const odds = ({ scores }) => scores[1].logit - scores[0].logit;
  for (const [token, effect] of effects.entries()) {
    const without = await model.classify(text, { maskTokens: [token] });
    assertClose([effect], [odds(own) - odds(without)], `effect of token ${token}`);
  }
  model.dispose();
});

test('the translation view’s first answer equals the model’s', async () => {
  const { text, beams, result, effects } = (await inPage()).translation;
  const model = await Translator.load(join(root, 'weights/en-de'), { compute: 'f32' });
  const own = await model.translate(text, { beams, attention: true, hypotheses: true });
  assert.equal(text, sentences.de[0].text);
  assert.equal(result.text, own.text);
  const [a] = result.sentences;
  const [b] = own.sentences;
  const words = (sentence) => sentence.tree.map((node) => node.text);
  assert.deepEqual(words(a), words(b));
  assert.deepEqual(
    a.hypotheses.map((each) => each.text),
    b.hypotheses.map((each) => each.text),
  );
  for (const part of ['tree', 'tokens'])
    assertClose(
      a[part].map(({ logprob }) => logprob),
      b[part].map(({ logprob }) => logprob),
      part,
    );
  for (const kind of ['encoder', 'decoder', 'cross'])
    assertClose(a.attention[kind].data, b.attention[kind].data, kind);
  const ids = b.tokens.map(({ id }) => id);
  const sumOf = async (maskTokens) => {
    const options = { beams: 1, prefixes: [ids], maxLength: ids.length, maskTokens };
    const { sentences } = await model.translate(text, options);
    return sentences[0].tokens.reduce((sum, { logprob }) => sum + logprob, 0);
  };
  const whole = await sumOf([[]]);
  for (const [token, effect] of effects.entries())
    assertClose([effect], [whole - (await sumOf([[token]]))], `effect of token ${token}`);
  model.dispose();
});

test('the writing view’s first answer equals the model’s', async () => {
  const { text, result, ids, texts, logprobs } = (await inPage()).writing;
  const model = await Generator.load(join(root, 'weights/writer'), { compute: 'f32' });
  const own = await model.next(text, allNext);
  assert.equal(text, beginnings[0].text);
  assert.deepEqual(result.promptTokens, own.promptTokens);
  assertClose(result.attention.decoder.data, own.attention.decoder.data, 'attention');
  const by = new Map(own.next.map((token) => [token.id, token]));
  assert.equal(ids.length, by.size);
  assert.deepEqual(
    texts,
    ids.map((id) => by.get(id).text),
  );
  assertClose(
    logprobs,
    ids.map((id) => by.get(id).logprob),
    'log-probabilities',
  );
  model.dispose();
});

/** Opens the page. Its models are withheld until `release` is called. */
async function withoutModel(hash, body) {
  const { context, page, complaints } = await open(browser, 'about:blank');
  let release;
  const held = new Promise((resolve) => (release = resolve));
  await context.route('**/model.safetensors', async (route) => {
    await held;
    await route.continue();
  });
  try {
    await page.goto(server.url + hash);
    await body(page, release);
    assert.deepEqual(
      complaints.filter((text) => !text.startsWith('request ')),
      [],
    );
  } finally {
    release();
    await context.close();
  }
}

test('the first verdict appears before the model, and can be changed after it has loaded', async () => {
  await withoutModel('', async (page, release) => {
    await page.getByTestId('beforehand').waitFor();
    assert.equal(await page.getByTestId('verdict').textContent(), 'positive');
    const score = await page.getByTestId('score').textContent();
    await page.getByTestId('heatmap').waitFor();
    const colors = page.locator('[data-testid=token][data-value]');
    assert.equal(await colors.count(), 7);
    const aSwitch = page.getByTestId('head-switch').first();
    assert.equal(await aSwitch.isDisabled(), true);
    await page.getByTestId('token').first().click();
    assert.equal(await page.getByTestId('token').first().getAttribute('aria-pressed'), 'false');
    release();
    await settled(page);
    await page.getByTestId('beforehand').waitFor({ state: 'detached' });
    assert.equal(await page.getByTestId('score').textContent(), score);
    await aSwitch.click();
    await page.getByTestId('change').waitFor();
  });
});

test('another text has no answer before the model', async () => {
  await withoutModel('', async (page, release) => {
    await page.getByTestId('beforehand').waitFor();
    await page.getByTestId('input').fill('Terrible.');
    await page.getByTestId('beforehand').waitFor({ state: 'detached' });
    assert.equal(await page.getByTestId('score').count(), 0);
    release();
    await settled(page);
    assert.equal(await page.getByTestId('verdict').textContent(), 'negative');
  });
});

test('the first translation appears before the model, with heads, tokens and the tree', async () => {
  await withoutModel('#view=translation', async (page, release) => {
    await page.getByTestId('beforehand').waitFor();
    const text = 'Ein Mann in einem roten Hemd fährt Fahrrad.';
    assert.equal((await page.getByTestId('target').textContent()).trim(), text);
    await page.getByTestId('heatmap').waitFor();
    await page.getByTestId('tree').waitFor();
    await page.locator('[data-testid=source-tokens] [data-value]').first().waitFor();
    assert.equal(await page.getByTestId('head-switch').first().isDisabled(), true);
    release();
    await page.getByTestId('beforehand').waitFor({ state: 'detached' });
    await settled(page);
    assert.equal((await page.getByTestId('target').textContent()).trim(), text);
    await page.getByTestId('head-switch').first().click();
    await page.getByTestId('change').waitFor();
  });
});

test('the first next tokens appear before the model, and can be chosen after it has loaded', async () => {
  await withoutModel('#view=writing', async (page, release) => {
    await page.getByTestId('beforehand').waitFor();
    const likeliest = page.getByTestId('next').first();
    const shown = await likeliest.textContent();
    assert.equal(await page.getByTestId('token').count(), 3);
    release();
    await page.getByTestId('beforehand').waitFor({ state: 'detached' });
    await settled(page);
    assert.equal(await likeliest.textContent(), shown);
    await likeliest.click();
    await settled(page);
    assert.equal(await page.getByTestId('token').count(), 4);
  });
});
