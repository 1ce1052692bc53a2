// The inside view of the built page, with the real models: every unfolded number equals the sum of
// its terms and the number that the package traces in Node.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { Classifier, Generator, Translator } from '../../../../../dist/index.js';
import { testsOnPage } from '../../../../../tests/page/on_page.mjs';
import {
  assertAccessibleToAll,
  assertFitsAt,
  openMenu,
  root,
  settled,
  until,
} from '../../../../../tests/page/open.mjs';

/** The view computes in doubles, the model in floats. */
const rounding = 1e-4;
// Node may run the other binary, which rounds sums differently.
const tolerance = 1e-3;

const plain = (shown) => shown.replaceAll('−', '-');

const text = 'The plot is not good.';
const addresses = {
  sentiment: '#view=inside',
  'en-de': '#view=inside&model=en-de&text=The+train+arrives+at+seven.&token=decoder.3',
  writer: '#view=inside&model=writer&text=This+film+is+one+of+the',
};

const onPage = testsOnPage(addresses.sentiment);

const vector = (page, tensor) => page.locator(`.vector[data-tensor="${tensor}"]`);
const slider = (page, tensor) => vector(page, tensor).getByRole('slider').first();
const near = (got, expected, what, bound = tolerance) =>
  assert.ok(
    Math.abs(got - expected) <= bound * Math.max(1, Math.abs(expected)),
    `${what}: ${got}, not ${expected}`,
  );

/** Unfolds one number of every visible vector; resolves to the numbers shown. */
async function unfoldAll(page, index = 1) {
  const tensors = await page
    .locator('.vector[data-tensor]')
    .evaluateAll((list) => list.map(({ dataset }) => dataset.tensor));
  for (const tensor of tensors) {
    await slider(page, tensor).focus();
    for (let i = 0; i < index; i++) await page.keyboard.press('ArrowRight');
    await page.keyboard.press('Enter');
    await vector(page, tensor).getByTestId('unfolded').waitFor();
  }
  await page.getByTestId('answers').getByRole('button').first().click();
  await page.locator('[data-testid=answers] + [data-testid=unfolded]').waitFor();
  const groups = await page.getByTestId('unfolded').evaluateAll((list) =>
    list.map((group) => ({
      tensor: group.closest('[data-tensor]')?.dataset.tensor,
      name: group.dataset.name,
      result: Number(group.dataset.result),
      traced: Number(group.dataset.traced),
      terms: Number(group.dataset.terms),
    })),
  );
  for (const { tensor, name, result, traced } of groups)
    near(result, traced, `${tensor} ${name}`, rounding);
  return groups;
}

/** Compares the numbers with those that the package traces. */
function assertTraced(groups, trace, { token, head, index, keys }) {
  let checked = 0;
  for (const { tensor, traced } of groups) {
    if (!tensor || !trace[tensor]) continue;
    const { shape, data } = trace[tensor];
    const width = shape.slice(1).reduce((product, extent) => product * extent, 1);
    const row = /\.[kv]$/.test(tensor) ? keys : token;
    const at =
      shape.length === 1 ? index : row * width + (shape.length === 3 ? head * shape[2] : 0) + index;
    near(traced, data[at], tensor);
    checked += 1;
  }
  return checked;
}

onPage('every number of the classifier equals the sum of its terms', {}, async (page) => {
  const groups = await unfoldAll(page);
  // One per strip, plus a score, a weight and a logit.
  assert.equal(groups.length, 19);
  const terms = Object.fromEntries(groups.map(({ tensor, terms }) => [tensor, terms]));
  assert.equal(terms['encoder.layers.0.self_attn.q'], 128 + 1);
  assert.equal(terms['encoder.layers.0.fc2'], 512 + 1);
  assert.equal(terms.pooled, 6);
  const classifier = await Classifier.load(join(root, 'weights/sentiment'), { compute: 'f32' });
  const names = ['encoder.*', 'encoder.layers.0.*', 'encoder.layers.0.self_attn.*', 'pooled'];
  const { trace } = await classifier.classify(text, { trace: names });
  classifier.dispose();
  const checked = assertTraced(groups, trace, { token: 4, head: 0, index: 1, keys: 3 });
  assert.equal(checked, 16);
});

onPage('another layer and head unfold as well', { hash: '#view=inside&head=2.5' }, async (page) => {
  const groups = await unfoldAll(page, 2);
  assert.ok(groups.some(({ tensor }) => tensor === 'encoder.layers.2.input'));
});

onPage(
  'the translator’s decoder unfolds, with its mask and its cross-attention',
  { hash: addresses['en-de'] },
  async (page) => {
    const translator = await Translator.load(join(root, 'weights/en-de'), { compute: 'f32' });
    const names = ['decoder.*', 'decoder.layers.0.*', 'decoder.layers.0.*.*'];
    const { sentences } = await translator.translate('The train arrives at seven.', {
      trace: names,
      beams: 1,
    });
    translator.dispose();
    const [{ trace, tokens, sourceTokens }] = sentences;
    const groups = await unfoldAll(page);
    const keys = await page
      .locator('[data-step="decoder.layers.0.encoder_attn.weights"] [aria-pressed=true]')
      .getAttribute('data-key')
      .then(Number);
    const cross = groups.filter(({ tensor }) => tensor?.includes('encoder_attn'));
    assert.ok(assertTraced(cross, trace, { token: 3, head: 0, index: 1, keys }) >= 6);
    const others = groups.filter(({ tensor }) => !/encoder_attn|\.[kv]$/.test(tensor));
    assert.ok(assertTraced(others, trace, { token: 3, head: 0, index: 1, keys: 0 }) >= 10);

    const valuesIn = (step) =>
      page
        .locator(`[data-step="decoder.layers.0.${step}"] [data-key]`)
        .evaluateAll((list) => list.map(({ dataset }) => Number(dataset.value)));
    const seen = await valuesIn('self_attn.mask');
    assert.deepEqual(
      seen.map((value) => value === -Infinity),
      tokens.map((_, i) => i > 3),
    );
    const weights = await valuesIn('encoder_attn.weights');
    assert.equal(weights.length, sourceTokens.length);
    near(
      weights.reduce((sum, value) => sum + value, 0),
      1,
      'the weights’ sum',
    );
    // The row that reads token 2 writes token 3.
    assert.equal((await page.getByTestId('answer').textContent()).trim(), tokens[3].text.trim());
  },
);

onPage(
  'the translator’s encoder unfolds, too',
  { hash: addresses['en-de'].replace('decoder.3', 'encoder.1') },
  async (page) => {
    await slider(page, 'encoder.layers.0.self_attn.v').focus();
    await page.keyboard.press('Enter');
    const unfolded = vector(page, 'encoder.layers.0.self_attn.v').getByTestId('unfolded');
    await unfolded.waitFor();
    const { result, traced } = await unfolded.evaluate(({ dataset }) => ({ ...dataset }));
    near(Number(result), Number(traced), 'v', rounding);
  },
);

onPage(
  'the writer’s ten most likely tokens match the package',
  { hash: addresses.writer },
  async (page) => {
    const writer = await Generator.load(join(root, 'weights/writer'), { compute: 'f32' });
    const { next } = await writer.next('This film is one of the', { count: 10 });
    writer.dispose();
    const shown = await page
      .getByTestId('answers')
      .locator('button')
      .evaluateAll((list) =>
        list.map((each) => [Number(each.dataset.index), each.querySelector('.label').textContent]),
      );
    assert.deepEqual(
      shown,
      next.map(({ id, text }) => [id, text]),
    );
    await unfoldAll(page);
  },
);

onPage('arrow keys step through tokens, layers and heads', {}, async (page) => {
  const chosen = page.locator('[data-testid=piece][aria-pressed=true]');
  assert.equal(await chosen.textContent(), 'good');
  await chosen.focus();
  await page.keyboard.press('ArrowLeft');
  assert.equal(await chosen.textContent(), 'not');
  await page.keyboard.press('Home');
  assert.equal(await chosen.textContent(), 'The');
  await page.locator('input[name=inside-layer]:checked').focus();
  await page.keyboard.press('ArrowRight');
  await settled(page);
  await vector(page, 'encoder.layers.1.fc1').waitFor();
  await page.locator('input[name=inside-head]:checked').focus();
  await page.keyboard.press('ArrowRight');
  assert.equal(await page.locator('input[name=inside-head]:checked').inputValue(), '1');
  const keys = page.locator('[data-step="encoder.layers.1.self_attn.scores"] [role=toolbar]');
  await keys.locator('[tabindex="0"]').focus();
  await page.keyboard.press('End');
  assert.equal(await keys.locator('[aria-pressed=true]').getAttribute('data-key'), '5');
});

onPage(
  'one number is followed from the verdict down to a token, and back',
  { hash: '#text=A+gripping,+beautifully+shot+film.' },
  async (page) => {
    const shown = await page.getByTestId('score').textContent();
    await page.getByTestId('score').getByRole('link').click();
    const trail = page.getByTestId('trail');
    const current = trail.locator('[aria-current=location]');
    /** Waits until the number in view is in the address, so that Back leads to the one before. */
    const arrived = async (tensor) => {
      await page.waitForURL(new RegExp(`number=${tensor.replaceAll('.', '\\.')}[:%]`));
      await trail.locator(`[aria-current=location][data-tensor-of="${tensor}"]`).waitFor();
    };
    await arrived('logits');
    const likeliest = page.locator('[data-testid=answers] .percent').first();
    assert.equal((await likeliest.textContent()).trim(), shown.trim());
    const way = ['pooled', 'encoder.layer_norm', 'encoder.layers.3.output', 'encoder.layers.3.fc2'];
    let before = 'logits';
    for (const tensor of way) {
      const pane = page.locator(`[data-testid=pane]:has([data-tensor="${before}"])`);
      await pane.locator('button.factor').last().click();
      await arrived(tensor);
      // The number of the trail is the one that is unfolded.
      const traced = await vector(page, tensor).getByTestId('unfolded').getAttribute('data-traced');
      const value = plain(await current.locator('b').textContent());
      near(Number(value), Number(traced), tensor, 1e-3);
      before = tensor;
    }
    assert.equal(await trail.getByRole('button').count(), 5);
    await page.goBack();
    await arrived('encoder.layers.3.output');
    await until(
      page,
      () => trail.getByRole('button').count(),
      (count) => count === 4,
    );
    await trail.getByRole('button').first().click();
    await arrived('logits');
    assert.equal(await trail.getByRole('button').count(), 1);
    await assertFitsAt(page, [320, 1280]);
    // A link opens at its number.
    await page.reload();
    await arrived('logits');
    await page.locator('[data-testid=pane] [data-testid=unfolded]').first().waitFor();
  },
);

for (const [view, address] of [
  ['translation', '#view=translation'],
  ['writing', '#view=writing'],
])
  onPage(`a number of ${view} is followed down`, { hash: address }, async (page) => {
    await page.getByRole('link', { name: /first number down/ }).click();
    await page.getByTestId('trail').getByRole('button').first().waitFor();
    await page.locator('[data-testid=answers] [aria-expanded=true]').waitFor();
  });

onPage('a term leads to the step that computed its number', {}, async (page) => {
  await slider(page, 'encoder.layers.0.self_attn.output').focus();
  await page.keyboard.press('Enter');
  const output = vector(page, 'encoder.layers.0.self_attn.output').getByTestId('unfolded');
  const factor = output.locator('button.factor').first();
  const name = await factor.textContent();
  const index = Number(/\[(\d+)\]/.exec(name)[1]);
  await factor.click();
  // The index among eight concatenated heads gives the head and the index in it.
  const context = vector(page, 'encoder.layers.0.self_attn.context').getByTestId('unfolded');
  await context.waitFor();
  assert.equal(await context.getAttribute('data-name'), `context[${index % 16}]`);
  const head = await page.locator('input[name=inside-head]:checked').inputValue();
  assert.equal(Number(head), Math.floor(index / 16));
});

onPage('the same text runs through random weights', {}, async (page) => {
  const answer = () => page.getByTestId('answer').evaluate((each) => each.parentElement.innerText);
  const trained = await answer();
  await page.getByText('random weights').click();
  await page.getByRole('img', { name: /Curves/ }).waitFor();
  await settled(page);
  assert.notEqual(await answer(), trained);
  const loaded = await page
    .getByRole('img', { name: /Curves/ })
    .evaluate(async (image) => (await image.decode(), image.naturalWidth));
  assert.ok(loaded > 0);
  await page.getByText('four heads in each of the first two layers').waitFor();
  const groups = await unfoldAll(page);
  const norm = groups.find(({ tensor }) => tensor === 'encoder.layers.0.self_attn_layer_norm');
  assert.equal(norm.terms, 2);
  await page.getByText('after training').click();
  await settled(page);
  assert.equal(await answer(), trained);
});

onPage('with random weights, the example claims nothing about trained heads', {}, async (page) => {
  const notice = page.getByTestId('notice');
  assert.match(await notice.textContent(), /head 1/);
  await page.getByText('random weights').click();
  await page.getByRole('img', { name: /Curves/ }).waitFor();
  assert.doesNotMatch(await notice.textContent(), /head \d/);
  assert.match(await notice.textContent(), /learned nothing/);
  await page.getByText('after training').click();
  await settled(page);
  assert.match(await notice.textContent(), /head 1/);
});

for (const colorScheme of ['light', 'dark'])
  onPage(
    `the training curves have no white background: ${colorScheme}`,
    { colorScheme },
    async (page) => {
      await page.getByText('random weights').click();
      const curves = page.getByRole('img', { name: /Curves/ });
      await curves.waitFor();
      await settled(page);
      await curves.scrollIntoViewIfNeeded();
      await curves.evaluate((image) => image.decode());
      const box = await curves.boundingBox();
      const clip = { x: box.x - 4, y: box.y + 2, width: 8, height: 2 };
      const shot = (await page.screenshot({ clip })).toString('base64');
      // Half page, half the picture's corner. The page's policy forbids data images: another page
      // decodes it.
      const other = await page.context().browser().newPage();
      const pixels = await other.evaluate(async (png) => {
        const image = new Image();
        image.src = `data:image/png;base64,${png}`;
        await image.decode();
        const canvas = Object.assign(document.createElement('canvas'), { width: 8, height: 2 });
        const context = canvas.getContext('2d');
        context.drawImage(image, 0, 0);
        return [1, 6].map((x) => [...context.getImageData(x, 1, 1, 1).data]);
      }, shot);
      await other.close();
      const [outside, inside] = pixels;
      for (const [i, channel] of outside.entries())
        assert.ok(Math.abs(channel - inside[i]) <= 3, `${outside} and ${inside}`);
    },
  );

onPage('a softmax shows its exponentials', {}, async (page) => {
  const softmax = page.locator('[data-step="encoder.layers.0.self_attn.weights"]');
  const rows = softmax.getByTestId('unfolded').locator('tr');
  const text = (await rows.first().innerText()).replaceAll(/\s+/g, ' ');
  const [, , exponent, power] =
    /exp\( ?s\[(\d+)\] − max ?\) = exp\(([−\d.]+)\) = ([\d.e-]+)/.exec(text) ?? assert.fail(text);
  const number = (printed) => Number(printed.replace('−', '-'));
  const made = Math.exp(number(exponent));
  assert.ok(Math.abs(made / number(power) - 1) < 0.02, text);
  assert.doesNotMatch(await softmax.textContent(), /e to the|largest/);
});

onPage(
  'a link restores model, text, token, layer, head and key',
  { hash: addresses['en-de'] },
  async (page, { context }) => {
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.getByTestId('inside-text').fill('We saw the sea.');
    await settled(page);
    await page.locator('[data-stack=encoder][data-token="3"]').click();
    await settled(page);
    await page.locator('input[name=inside-layer][value="4"]').check();
    await settled(page);
    await page.locator('input[name=inside-head][value="6"]').check();
    await page.locator('[data-step$="self_attn.scores"] [data-key="1"]').click();
    await openMenu(page);
    await page.getByRole('button', { name: 'Copy link' }).click();
    await page.getByRole('button', { name: 'Copied', exact: true }).waitFor();
    const link = await page.evaluate(() => navigator.clipboard.readText());
    const other = await context.newPage();
    await other.goto(link);
    await settled(other);
    assert.equal(await other.getByTestId('inside-text').inputValue(), 'We saw the sea.');
    const chosen = other.locator('[data-testid=piece][aria-pressed=true]');
    assert.equal(await chosen.getAttribute('data-stack'), 'encoder');
    assert.equal(await chosen.getAttribute('data-token'), '3');
    assert.equal(await other.locator('input[name=inside-layer]:checked').inputValue(), '4');
    assert.equal(await other.locator('input[name=inside-head]:checked').inputValue(), '6');
    const key = other.locator('[data-step$="self_attn.scores"] [aria-pressed=true]');
    assert.equal(await key.getAttribute('data-key'), '1');
  },
);

onPage('the view follows typing and handles a text without tokens', {}, async (page) => {
  await page.getByTestId('inside-text').fill('');
  await page.getByText('Type a text above').waitFor();
  assert.equal(await page.getByTestId('way').count(), 0);
  await page.getByTestId('inside-text').fill('Good, good, good. 电影');
  await settled(page);
  assert.match(await page.getByTestId('unknown').textContent(), /电影.*not in the vocabulary/s);
  assert.equal(await page.getByTestId('pane').count(), 16);
});

onPage('nothing scrolls sideways', {}, async (page) => {
  await unfoldAll(page);
  await assertFitsAt(page, [320, 390, 1280]);
  await page.getByTestId('inside-text').fill(`${'x'.repeat(120)} ${'good, not bad; '.repeat(60)}`);
  await settled(page);
  await assertFitsAt(page, [320, 390, 1280], 'a long text');
});

onPage('axe finds no violations', {}, async (page) => {
  await unfoldAll(page);
  await assertAccessibleToAll(page);
});

onPage('with forced colors and in print, the selection is visible', {}, async (page) => {
  await page.emulateMedia({ forcedColors: 'active' });
  const style = (selector, property) =>
    page
      .locator(selector)
      .evaluateAll((list, name) => list.map((one) => getComputedStyle(one)[name]), property);
  const outlines = await style('[data-testid=piece]', 'outlineWidth');
  assert.notEqual(outlines[4], outlines[0]);
  const boxes = await style('[data-step$="self_attn.weights"] .box', 'backgroundColor');
  assert.ok(new Set(boxes).size > 1);
  await page.emulateMedia({ forcedColors: 'none', media: 'print' });
  for (const what of ['piece', 'strip', 'unfolded'])
    assert.equal(await page.getByTestId(what).first().isVisible(), true, what);
});
