// Studies on the page: the mean effect is that of the package, and the view serves everybody.
import assert from 'node:assert/strict';
import { Classifier, Generator, Translator } from '../../../../../dist/index.js';
import { testsOnPage } from '../../../../../tests/page/on_page.mjs';
import { assertAccessibleToAll, assertFits } from '../../../../../tests/page/open.mjs';

const onPage = testsOnPage('#view=study&heads=3.2');

const textsOf = async (page) =>
  (await page.getByTestId('study-texts').inputValue()).split('\n').map((line) => {
    const [label, text] = line.split('\t');
    return { label, text };
  });

async function run(page) {
  await page.getByTestId('study-run').click();
  await page.getByRole('button', { name: 'Stop', exact: true }).waitFor({ state: 'detached' });
  await page.getByTestId('study-result').waitFor();
  await page.getByTestId('study-run').waitFor();
  return Number(await page.getByTestId('study-delta').getAttribute('data-value'));
}

onPage('the mean change without a head is the package’s', {}, async (page) => {
  const delta = await run(page);
  const model = await Classifier.load('weights/sentiment', { compute: 'f32' });
  const logOdds = ({ scores }) => scores[1].logit - scores[0].logit;
  const texts = await textsOf(page);
  assert.equal(texts.length, 30);
  let sum = 0;
  let right = 0;
  for (const { label, text } of texts) {
    const ablate = [{ attention: 'encoder', layer: 3, head: 2 }];
    const before = await model.classify(text);
    const after = await model.classify(text, { ablate });
    sum += logOdds(after) - logOdds(before);
    right += Number(before.label === label);
  }
  assert.ok(Math.abs(delta - sum / texts.length) < 1e-4, `${delta}, ${sum / texts.length}`);
  // The labels of the probes are the model's answers, nearly always.
  assert.ok(right >= 27, `${right} of 30`);
  assert.equal(await page.getByTestId('study-row').count(), 30);
  await page.getByTestId('study-mean').check();
  assert.notEqual(await run(page), delta);
  model.dispose();
});

onPage(
  'what a head asks with and looks for is the package’s',
  { hash: '#view=study&heads=1.5' },
  async (page) => {
    await page.getByTestId('study-ask').click();
    await page.getByTestId('study-asked').waitFor();
    const shown = await page
      .locator('[data-testid=study-answers] tr[data-column]')
      .evaluateAll((rows) => rows.map(({ dataset }) => [dataset.column, Number(dataset.mean)]));
    const model = await Classifier.load('weights/sentiment', { compute: 'f32', explain: true });
    const [attention, layer, head] = ['encoder.layers.1.self_attn', 1, 5];
    let leads = 0;
    const sums = new Map();
    for (const { text } of await textsOf(page)) {
      const map = (await model.classify(text, { attention: true })).attention.encoder;
      const weights = map.at(layer, head);
      const best = weights.indexOf(Math.max(...weights));
      const [query, key] = [Math.floor(best / map.keys), best % map.keys];
      const options = { method: 'score', attention, head, query, key, contrast: true };
      const { weight, lead, keys } = await model.explain(text, options);
      leads += lead / (1 - weight);
      for (const { name, contrast } of keys)
        sums.set(name, (sums.get(name) ?? 0) + contrast / (1 - weight));
    }
    model.dispose();
    assert.ok(shown.length >= 5);
    for (const [column, mean] of shown)
      assert.ok(Math.abs(mean - sums.get(column) / leads) < 1e-3, `${column}: ${mean}`);
    // Not for several heads at once.
    await page.getByTestId('study-head').first().click();
    await page.getByTestId('study-ask').waitFor({ state: 'detached' });
  },
);

onPage('hidden units, with the tokens that activate them, and files', {}, async (page) => {
  await page.getByTestId('study-units').check();
  await page.getByTestId('study-layer').selectOption('2');
  await page.getByTestId('study-numbers').fill('1-40');
  assert.notEqual(await run(page), 0);
  await page.waitForURL(/units=1-40/);
  const downloads = page.waitForEvent('download');
  await page.getByTestId('files-study').getByRole('button', { name: 'CSV' }).click();
  assert.equal((await downloads).suggestedFilename(), 'study.csv');
});

onPage('nothing to object to, and it fits', {}, async (page) => {
  await run(page);
  await assertAccessibleToAll(page, 'study');
  for (const width of [320, 390, 1280]) {
    await page.setViewportSize({ width, height: 800 });
    await assertFits(page, `${width}`);
  }
});

onPage('the writer: the lead of one word over another, and promoted tokens', {}, async (page) => {
  await page.getByTestId('study-writer').check();
  const line = 'I loved this film. The acting was\tgreat\tterrible';
  await page.getByTestId('study-texts').fill(line);
  await page.getByTestId('study-head').first().waitFor();
  await page.locator('[data-testid=study-run]:enabled').waitFor();
  const delta = await run(page);
  const model = await Generator.load('weights/writer', { compute: 'f32' });
  const text = line.split('\t')[0];
  const idOf = async (word) => (await model.next(`${text} ${word}`)).promptTokens.at(-1).id;
  const [good, bad] = [await idOf('great'), await idOf('terrible')];
  const leadOf = async (options) => {
    const { logits } = (await model.next(text, { ...options, trace: ['logits'] })).trace;
    const last = logits.data.subarray(-logits.shape[1]);
    return last[good] - last[bad];
  };
  const without = await leadOf({ ablate: [{ attention: 'decoder', layer: 0, head: 0 }] });
  assert.ok(Math.abs(delta - (without - (await leadOf({})))) < 1e-3, `${delta}`);

  await page.getByTestId('study-units').check();
  await page.getByTestId('study-layer').selectOption({ value: '4' });
  await page.getByTestId('study-numbers').fill('6');
  await run(page);
  const [most, least] = await Promise.all(
    [0, 1].map((at) => page.getByTestId('promoted').locator('dd').nth(at).textContent()),
  );
  const column = await Promise.all(
    Array.from({ length: 256 }, async (_, row) => {
      const [gain] = await model.weights.row('decoder.layer_norm.weight', row);
      return { gain, value: (await model.weights.row('decoder.layers.4.fc2.weight', row))[5] };
    }),
  );
  const mean = column.reduce((sum, { value }) => sum + value, 0) / column.length;
  const vocabulary = await model.vocabulary();
  let [high, low] = [
    { sum: -Infinity, piece: '' },
    { sum: Infinity, piece: '' },
  ];
  for (const [id, piece] of vocabulary.entries()) {
    const row = await model.weights.row('decoder.embed_tokens.weight', id);
    const sum = column.reduce((all, { gain, value }, i) => all + gain * (value - mean) * row[i], 0);
    if (sum > high.sum) high = { sum, piece };
    if (sum < low.sum) low = { sum, piece };
  }
  assert.ok(most.trim().startsWith(high.piece), `${most}, not ${high.piece}`);
  assert.ok(least.trim().startsWith(low.piece), `${least}, not ${low.piece}`);
  model.dispose();
});

onPage(
  'the translator: the log-probability of a translation',
  { hash: '#view=study&model=en-de&attention=cross&heads=1.3' },
  async (page) => {
    await page.getByTestId('study-texts').fill('The dog sleeps.\tDer Hund schläft.');
    const delta = await run(page);
    const model = await Translator.load('weights/en-de', { compute: 'f32' });
    const ids = (await model.translate('Der Hund schläft.')).sentences[0].sourceTokens.map(
      ({ id }) => id,
    );
    const sumOf = async (options) => {
      const forced = { beams: 1, prefixes: [ids], maxLength: ids.length };
      const { sentences } = await model.translate('The dog sleeps.', { ...options, ...forced });
      return sentences[0].tokens.reduce((sum, { logprob }) => sum + logprob, 0);
    };
    const without = await sumOf({ ablate: [{ attention: 'cross', layer: 1, head: 3 }] });
    assert.ok(Math.abs(delta - (without - (await sumOf({})))) < 1e-3, `${delta}`);
    await page.getByTestId('study-mean').check();
    assert.notEqual(await run(page), delta);
    await page.getByTestId('study-units').check();
    assert.ok(Number.isFinite(await run(page)));
    model.dispose();
  },
);
