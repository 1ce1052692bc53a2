// Drives the translation view with its shipped model and compares what it shows with the package's
// results in Node.
import assert from 'node:assert/strict';
import { cp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { Translator } from '../../../../../dist/index.js';
import {
  assertAccessible,
  assertAccessibleToAll,
  assertFitsAt,
  goTo,
  kept,
  launch,
  openMenu,
  read,
  root,
  serve,
  settled,
  threadsLeft,
  visit,
  visitCopy,
} from '../../../../../tests/page/open.mjs';

const sentence = 'I have not seen him since Monday.';
const view = '#view=translation';
// Node may run the other binary, which rounds sums differently.
const tolerance = 5e-4;

const load = (name) => Translator.load(join(root, 'web/dist/models', name), { compute: 'f32' });

let browser, server, translator;
before(async () => {
  translator = await load('en-de');
  server = await serve();
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await server?.close();
  translator?.dispose();
});

const onPage = (name, options, body) =>
  test(name, () => visit(browser, server.url + (options.hash ?? view), options, body));

const translate = (text, options) =>
  translator.translate(text, { beams: 4, attention: true, hypotheses: true, ...options });

const number = (locator) => locator.getAttribute('data-value').then(Number);
const numbers = (locator) =>
  locator.evaluateAll((list) => list.map((element) => Number(element.getAttribute('data-value'))));
const cellsOf = (page) => page.getByTestId('heatmap').locator('[data-value]');
const wordsOf = (page, side) => page.getByTestId(side).locator('[data-word]');
const language = (page, name) => page.getByRole('radio', { name, exact: true });
const choose = (page, name) => language(page, name).check();
const pick = (page, kind) => page.getByTestId(`show-${kind}`).check();

// Text and weight of each highlighted word.
const lit = (page, side) =>
  page
    .getByTestId(side)
    .locator('[data-word][data-value]')
    .evaluateAll((list) => list.map((word) => [word.textContent, Number(word.dataset.value)]));

function assertClose(actual, expected, what) {
  assert.equal(actual.length, expected.length, `${what}: how many`);
  const worst = actual.reduce((max, value, i) => Math.max(max, Math.abs(value - expected[i])), 0);
  assert.ok(worst <= tolerance, `${what}: ${worst} apart`);
}

function assertLit(actual, expected, what) {
  assert.deepEqual(
    actual.map(([word]) => word),
    expected.map(([word]) => word),
    what,
  );
  assertClose(
    actual.map(([, weight]) => weight),
    expected.map(([, weight]) => weight),
    what,
  );
}

// Records every state of the translation, and the position of the heads at that time.
const watch = (page) =>
  page.evaluate(() => {
    window.seen = [];
    const target = document.querySelector('[data-testid=target]');
    const below = document.querySelector('[data-testid=head]');
    const note = () =>
      window.seen.push({
        text: target.textContent,
        top: below.getBoundingClientRect().top + window.scrollY,
        busy: document.querySelector('[data-testid=stop]') !== null,
      });
    new MutationObserver(note).observe(target, {
      subtree: true,
      childList: true,
      characterData: true,
    });
  });
const seen = (page) => page.evaluate(() => window.seen);

onPage('the German grows token by token while English is typed', {}, async (page) => {
  await read(page, '');
  await watch(page);
  await page.getByTestId('input').pressSequentially(sentence);
  await settled(page);
  const { text, score } = await translate(sentence);
  assert.equal(await page.getByTestId('target').textContent(), text);
  assertClose([await number(page.getByTestId('score'))], [score], 'score');

  // With a longer text: tokens that arrive within one frame are drawn together.
  const long = `${sentence} The train to Berlin leaves at seven in the morning. `.repeat(4).trim();
  await read(page, '');
  await watch(page);
  await read(page, long);
  const greedy = await translator.translate(long, { beams: 1 });
  const states = (await seen(page)).filter(({ busy }) => busy).map((state) => state.text);
  const growing = new Set(states.filter((state) => greedy.text.startsWith(state)));
  assert.ok(growing.size >= 3, `${[...growing].map((state) => JSON.stringify(state))}`);
});

onPage('nothing moves while the translation grows', {}, async (page) => {
  let tops = [];
  // Tokens that arrive within one frame are drawn together: then another text is tried.
  for (const hour of ['seven', 'eight', 'nine', 'ten', 'eleven']) {
    await watch(page);
    await read(page, `${sentence} The train to Berlin leaves at ${hour} in the morning.`);
    const growing = (await seen(page)).filter(({ busy }) => busy);
    tops = growing.slice(1).map(({ top }) => Math.round(top));
    if (tops.length > 0) break;
  }
  assert.equal(new Set(tops).size, 1, `${tops}`);
});

onPage('a word of either side highlights the words aligned with it', {}, async (page) => {
  await read(page, sentence);
  const { text, sentences } = await translate(sentence);
  const { alignment } = sentences[0];
  const spans = (side) => [
    ...new Map(alignment.map((link) => [link[side].start, link[side]])).values(),
  ];
  const targets = spans('target');
  assert.deepEqual(
    await wordsOf(page, 'target').allTextContents(),
    targets.map(({ start, end }) => text.slice(start, end)),
  );

  const expectedFor = ({ start }) =>
    alignment
      .filter((link) => link.target.start === start)
      .map(({ source, weight }) => [sentence.slice(source.start, source.end), weight]);
  for (const word of [0, 2]) {
    await wordsOf(page, 'target').nth(word).hover();
    assertLit(await lit(page, 'source'), expectedFor(targets[word]), `word ${word}`);
  }
  assert.match(await page.getByTestId('found').textContent(), /attends most to/);
  assert.ok((await page.locator('section svg path[stroke-width]').count()) > 0, 'lines');
  await page.mouse.move(0, 0);
  assert.deepEqual(await lit(page, 'source'), []);

  await wordsOf(page, 'target').first().focus();
  await page.keyboard.press('ArrowRight');
  assertLit(await lit(page, 'source'), expectedFor(targets[1]), 'by keyboard');
  await page.keyboard.press('Shift+Tab');

  const { source } = alignment[0];
  const made = alignment
    .filter((link) => link.source.start === source.start)
    .map(({ target, weight }) => [text.slice(target.start, target.end), weight]);
  const word = wordsOf(page, 'source').filter({
    hasText: new RegExp(`^${sentence.slice(source.start, source.end)}$`),
  });
  const box = await word.first().boundingBox();
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  assertLit(await lit(page, 'target'), made, 'from the source');
  await page.mouse.move(0, 0);

  // The caret selects a word, too.
  await page.getByTestId('input').focus();
  await page.keyboard.press('Control+Home');
  await page.keyboard.press('ArrowRight');
  assert.match(await page.getByTestId('found').textContent(), /I.*(attends|attention)/s);
});

onPage('the grid and the heat map show all three kinds of attention', {}, async (page) => {
  await read(page, sentence);
  const [{ attention }] = (await translate(sentence)).sentences;
  for (const kind of ['encoder', 'decoder', 'cross']) {
    await pick(page, kind);
    const map = attention[kind];
    assert.equal(await page.getByTestId('head').count(), map.layers * map.heads, kind);
    const last = [map.layers - 1, map.heads - 1];
    await page.getByTestId('head').last().click();
    const cells = await numbers(cellsOf(page));
    assertClose(cells, map.at(...last), kind);
    for (let row = 0; row < map.queries; row++) {
      const sum = cells.slice(row * map.keys, (row + 1) * map.keys).reduce((a, b) => a + b);
      assert.ok(Math.abs(sum - 1) < 1e-4, `${kind}: row ${row} sums to ${sum}`);
    }
    const empty = await cellsOf(page).evaluateAll((list) =>
      list
        .filter((cell) => cell.getAttribute('fill') === 'none')
        .map(({ dataset }) => [dataset.query, dataset.key, dataset.value].map(Number)),
    );
    const count = (map.queries * (map.queries - 1)) / 2;
    assert.equal(empty.length, kind === 'decoder' ? count : 0, kind);
    for (const [query, key, value] of empty) assert.ok(key > query && value === 0);
  }
});

onPage('a head that is switched off changes the translation, until undone', {}, async (page) => {
  await read(page, sentence);
  const before = await page.getByTestId('target').textContent();
  for (const layer of [0, 1]) {
    await page.getByRole('switch', { name: `Layer ${layer + 1}, all heads` }).click();
    await settled(page);
  }
  const heads = await page.getByTestId('head').count();
  const ablate = Array.from({ length: heads }, (_, i) => ({
    attention: 'cross',
    layer: Math.floor((2 * i) / heads),
    head: i % (heads / 2),
  }));
  const changed = await translate(sentence, { ablate });
  assert.equal(await page.getByTestId('target').textContent(), changed.text);
  assertClose([await number(page.getByTestId('score'))], [changed.score], 'without');
  assert.match(
    await page.getByTestId('change').textContent(),
    new RegExp(`With ${heads}\\s+heads off`),
  );
  await page.getByTestId('reset').click();
  await settled(page);
  assert.equal(await page.getByTestId('target').textContent(), before);
  assert.equal(await page.getByTestId('change').count(), 0);
});

onPage('each attention says how many of its heads are off', {}, async (page) => {
  await read(page, sentence);
  await page.getByTestId('head-switch').nth(3).click();
  await pick(page, 'encoder');
  await page.getByRole('switch', { name: 'Layer 2, all heads' }).click();
  await settled(page);
  const said = async (kind) =>
    (await page.locator(`label:has([data-testid=show-${kind}])`).textContent()).trim();
  assert.deepEqual(
    [await said('encoder'), await said('decoder'), await said('cross')],
    ['Encoder, 8 off', 'Decoder', 'Cross, 1 off'],
  );
});

onPage(
  'pressing a token of the tree forces the translation to continue from it',
  {},
  async (page) => {
    await read(page, sentence);
    const { sentences } = await translate(sentence);
    const [{ tree }] = sentences;
    // The first token that was considered and not chosen.
    const taken = sentences[0].tokens[0].id;
    const other = tree.findIndex(({ parent, id }, i) => i > 0 && parent === 0 && id !== taken);
    assert.ok(other > 0);
    await page.getByTestId('tree').locator(`[data-node="${other}"]`).click();
    await page.getByTestId('forced').waitFor();
    await settled(page);
    const forced = await translate(sentence, { prefixes: [[tree[other].id]] });
    assert.equal(await page.getByTestId('target').textContent(), forced.text);
    assert.match(
      await page.getByText(/^import \{ Translator/).textContent(),
      /prefixes: \[\[\d+\]\]/,
    );
    await page.getByRole('button', { name: 'Let the model choose' }).click();
    await settled(page);
    assert.equal(await page.getByTestId('target').textContent(), sentences[0].text);
  },
);

onPage('with a head off, a word still shows the words aligned with it', {}, async (page) => {
  await read(page, sentence);
  await page.getByTestId('head-switch').first().click();
  await settled(page);
  await page.getByTestId('change').waitFor();
  await wordsOf(page, 'target').first().hover();
  assert.match(await page.getByTestId('found').textContent(), /attends most to/);
  assert.equal(await page.getByTestId('reset').count(), 1);
  await page.mouse.move(0, 0);
  await page.getByTestId('change').waitFor();
});

onPage('source tokens can be hidden, and each shows its effect', {}, async (page) => {
  const text = await page.getByTestId('input').inputValue();
  const tokens = page.getByTestId('source-tokens').getByTestId('token');
  await page.waitForFunction(
    (selector) => document.querySelector(selector)?.getAttribute('aria-busy') === 'false',
    '[data-testid="source-tokens"] [role="toolbar"]',
  );
  const whole = await translate(text);
  const [{ sourceTokens, tokens: written }] = whole.sentences;
  const ids = written.map(({ id }) => id);
  const own = { beams: 1, prefixes: [ids], maxLength: ids.length, hypotheses: false };
  const sum = (result) => result.sentences[0].tokens.reduce((all, { logprob }) => all + logprob, 0);
  const shown = await numbers(tokens);
  assert.equal(shown.length, sourceTokens.length);
  const full = sum(await translate(text, own));
  for (const [token, value] of shown.entries()) {
    const without = sum(await translate(text, { ...own, maskTokens: [[token]] }));
    assert.ok(Math.abs(value - (full - without)) < 20 * tolerance, `${token}: ${value}`);
  }
  const heaviest = shown.indexOf(Math.max(...shown));
  // The label says each thing once.
  const name = await tokens.nth(heaviest).getAttribute('aria-label');
  assert.match(name, /, effect \+\d+\.\d\d: for the translation$/);
  await tokens.nth(heaviest).click();
  await settled(page);
  const hidden = await translate(text, { maskTokens: [[heaviest]] });
  assert.notEqual(hidden.sentences[0].score, whole.sentences[0].score);
  assert.equal(await page.getByTestId('target').textContent(), hidden.text);
  assert.match(await page.getByTestId('change').textContent(), /With 1 token hidden/);
  await page.waitForURL(new RegExp(`hide=${heaviest}`));
  await page.reload();
  await settled(page);
  assert.equal(await page.getByTestId('target').textContent(), hidden.text);
  await page.getByTestId('input').press('End');
  await page.getByTestId('input').press('!');
  await settled(page);
  assert.match(await page.getByTestId('unhidden').textContent(), /changed 1 hidden token/);
  await page.waitForURL((url) => !/hide=/.test(url.href));
});

onPage('weighing switches off every head and shows its effect', {}, async (page) => {
  await page.getByRole('button', { name: 'Weigh every head' }).click();
  await page.getByText(/has the largest effect, [+−]\d/).waitFor();
  const text = await page.getByTestId('input').inputValue();
  const [{ tokens }] = (await translate(text)).sentences;
  const ids = tokens.map(({ id }) => id);
  const own = { beams: 1, prefixes: [ids], maxLength: ids.length, hypotheses: false };
  const sum = (result) => result.sentences[0].tokens.reduce((all, { logprob }) => all + logprob, 0);
  const ablate = [{ attention: 'cross', layer: 1, head: 2 }];
  const effect = sum(await translate(text, own)) - sum(await translate(text, { ...own, ablate }));
  const { heads } = translator.info;
  const shown = await numbers(page.getByTestId('effect'));
  assert.equal(shown.length, translator.info.decoderLayers * heads);
  assert.ok(Math.abs(shown[heads + 2] - effect) < 20 * tolerance, `${shown[heads + 2]}, ${effect}`);
});

onPage('the model’s card and license are pages, with their pictures', {}, async (page) => {
  for (const [link, heading] of [
    ['model card', 'en-de'],
    ['license', 'en-de: license of the weights'],
  ]) {
    const href = await page.getByRole('link', { name: link, exact: true }).getAttribute('href');
    await page.goto(href);
    assert.equal(await page.getByRole('heading', { level: 1 }).textContent(), heading);
    assert.equal(await page.evaluate(() => document.characterSet), 'UTF-8');
    const broken = await page.evaluate(() =>
      [...document.images].filter(({ naturalWidth }) => naturalWidth === 0).map(({ src }) => src),
    );
    assert.deepEqual(broken, []);
    await assertAccessible(page);
    await page.goBack();
    await settled(page);
  }
});

onPage('emoji and letters that the vocabulary lacks are marked', {}, async (page) => {
  await read(page, 'The 电影 is good 🙂.');
  assert.match(await page.getByTestId('unknown').textContent(), /电.*🙂.*not in the vocabulary/s);
  await page.getByTestId('source-tokens').locator('.unknown').first().waitFor();
  await read(page, sentence);
  await page
    .getByTestId('source-tokens')
    .locator('.unknown')
    .first()
    .waitFor({ state: 'detached' });
  assert.equal(await page.getByTestId('unknown').count(), 0);
});

onPage(
  'on a phone, the translation is visible at first',
  { viewport: { width: 390, height: 844 } },
  async (page) => {
    const box = await page.getByTestId('target').boundingBox();
    assert.ok(box.y + box.height < 844, `it ends at ${box.y + box.height}`);
  },
);

onPage('beams give alternative translations, and the tree shows the search', {}, async (page) => {
  await read(page, sentence);
  for (const beams of [1, 6]) {
    await page
      .getByTestId('beams')
      .getByRole('radio')
      .nth(beams - 1)
      .check();
    await settled(page);
    const { text, sentences } = await translate(sentence, { beams });
    const [{ hypotheses, tree }] = sentences;
    assert.equal(await page.getByTestId('target').textContent(), text);
    const list = page.getByTestId('hypotheses');
    assertClose(
      await numbers(list.locator('[data-value]')),
      hypotheses.map(({ score }) => score),
      'scores',
    );
    assert.deepEqual(
      await list.locator('[lang]').allTextContents(),
      hypotheses.map((hypothesis) => hypothesis.text),
    );
    const nodes = page.getByTestId('tree').locator('[data-node]');
    assertClose(
      await numbers(nodes),
      tree.map(({ logprob }) => logprob),
      'tree',
    );
    const labels = await nodes.locator('text').allTextContents();
    for (const [i, { text: token }] of tree.entries()) {
      const expected = token.replace(/^(?=\p{L})/u, '-').trim() || '␣';
      if (token.length < 16) assert.equal(labels[i], expected);
    }
    const dropped = tree.filter(({ kept }) => !kept).length;
    assert.equal(await page.getByTestId('tree').locator('[data-kept=false]').count(), dropped);
  }
  await page.getByTestId('tree').focus();
  await page.keyboard.press('Home');
  await page.keyboard.press('ArrowRight');
  await page.locator('[aria-live]', { hasText: 'log-probability' }).waitFor({ state: 'attached' });
});

onPage('one of several sentences can be chosen', {}, async (page) => {
  await page.getByRole('button', { name: 'Several sentences' }).click();
  await settled(page);
  const text = await page.getByTestId('input').inputValue();
  const { sentences, text: whole } = await translate(text);
  assert.equal(await page.getByTestId('target').textContent(), whole);
  const radios = page.getByTestId('sentences').getByRole('radio');
  assert.equal(await radios.count(), sentences.length);
  await radios.nth(1).check();
  assertClose(await numbers(cellsOf(page)), sentences[1].attention.cross.at(0, 0), 'the second');
  const third = wordsOf(page, 'target').last();
  await third.click();
  assert.ok(await radios.nth(sentences.length - 1).isChecked());
});

onPage('a translation can be stopped and continued', {}, async (page) => {
  const text = Array.from({ length: 100 }, (_, i) => `This is sentence number ${i}.`).join(' ');
  await page.getByTestId('input').fill(text);
  await page.locator('[data-testid=target] [data-testid=token]').nth(4).waitFor();
  await page.getByTestId('stop').click();
  await settled(page);
  await page.getByText('Stopped').waitFor();
  const partial = await page.getByTestId('target').textContent();
  // Nothing is written before the address has followed another change.
  await page.getByTestId('head').nth(1).click();
  await page.waitForURL((url) => url.hash.includes('head=cross.0.1'));
  assert.equal(await page.getByTestId('target').textContent(), partial);
  await page.getByTestId('again').click();
  await page.getByTestId('stop').click();
  await read(page, sentence);
  assert.equal(await page.getByTestId('target').textContent(), (await translate(sentence)).text);
});

onPage('strange texts are translated or reported as empty or too long', {}, async (page) => {
  for (const text of [
    '',
    ' \n\t ',
    '\u200b',
    '😀👍🏽',
    '电影很好看',
    '<b>not bold</b>',
    'x'.repeat(5001),
  ]) {
    await read(page, text);
    const target = await page.getByTestId('target').textContent();
    if (text.length > 5000) {
      await page.getByText('At most 5,000 characters').waitFor();
      assert.equal(target, '');
      continue;
    }
    const expected = await translate(text).catch(({ code }) => code);
    assert.equal(target, expected === 'empty_input' ? '' : expected.text, text);
    assert.equal(await page.getByRole('alert').count(), 0);
  }
});

onPage(
  'the model is fetched when the view is opened, and the text follows from view to view',
  { hash: '' },
  async (page) => {
    const fetched = [];
    page.on('request', (request) => fetched.push(new URL(request.url()).pathname));
    await read(page, 'Terrible.');
    assert.ok(!fetched.some((path) => path.includes('en-de')), `${fetched}`);
    await goTo(page, 'Translation');
    await page.getByTestId('target').waitFor();
    await settled(page);
    assert.ok(fetched.some((path) => path.includes('models/en-de/model.safetensors')));
    await read(page, sentence);
    await goTo(page, 'Sentiment');
    await page.getByTestId('verdict').waitFor();
    assert.equal(await page.getByTestId('input').inputValue(), sentence);
    await page.goBack();
    await page.getByTestId('target').waitFor();
    assert.equal(await page.getByTestId('input').inputValue(), sentence);
  },
);

onPage(
  'a link restores text, beams, head and heads that are off',
  {},
  async (page, { context }) => {
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await read(page, sentence);
    await pick(page, 'decoder');
    await page.getByTestId('head').nth(3).click();
    await page.getByTestId('head-switch').nth(3).click();
    await page.getByTestId('beams').getByRole('radio').nth(1).check();
    await settled(page);
    const text = await page.getByTestId('target').textContent();
    await openMenu(page);
    await page.getByRole('button', { name: 'Copy link' }).click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    const link = await page.evaluate(() => navigator.clipboard.readText());
    const other = await context.newPage();
    await other.goto(link);
    await settled(other);
    assert.equal(await other.getByTestId('input').inputValue(), sentence);
    assert.equal(await other.getByTestId('target').textContent(), text);
    assert.ok(await other.getByTestId('show-decoder').isChecked());
    assert.ok(await other.getByTestId('beams').getByRole('radio').nth(1).isChecked());
    assert.equal(await other.getByTestId('head').nth(3).getAttribute('aria-pressed'), 'true');
    assert.equal(
      await other.getByTestId('head-switch').nth(3).getAttribute('aria-checked'),
      'false',
    );
  },
);

onPage(
  'valid parts of a damaged link are used',
  {
    hash: `${view}&text=Hello.&beams=99&head=cross.77.0&off=cross.0.0,other.1.1&sentence=40&to=xx`,
  },
  async (page) => {
    const ablate = [{ attention: 'cross', layer: 0, head: 0 }];
    const { text } = await translate('Hello.', { beams: 8, ablate });
    assert.equal(await page.getByTestId('target').textContent(), text);
    assert.match(await page.getByTestId('change').textContent(), /With 1\s+head off/);
  },
);

onPage('French can be chosen, which loads another model', {}, async (page) => {
  await read(page, sentence);
  const target = page.getByTestId('target');
  const german = await target.textContent();
  await choose(page, 'French');
  await settled(page);
  const french = await load('en-fr');
  const options = { beams: 4, attention: true };
  const { text, score, sentences } = await french.translate(sentence, options);
  french.dispose();
  assert.notEqual(text, '');
  assert.notEqual(text, german);
  assert.equal(await target.textContent(), text);
  assert.equal(await target.getAttribute('lang'), 'fr');
  assertClose([await number(page.getByTestId('score'))], [score], 'score');
  assertClose(await numbers(cellsOf(page)), sentences[0].attention.cross.at(0, 0), 'cells');
  await wordsOf(page, 'target').first().hover();
  assert.ok((await lit(page, 'source')).length > 0, 'words light up');
  assert.ok((await page.locator('section svg path[stroke-width]').count()) > 0, 'lines');
  await page
    .getByText('to write each French token, the decoder attends to the English text')
    .waitFor();
  await page
    .getByText("Translator.load('models/en-fr', { compute: 'f32' })")
    .waitFor({ state: 'attached' });
  const card = await page.getByRole('link', { name: 'model card' }).getAttribute('href');
  assert.match(card, /models\/en-fr\/card\.html$/);
  await threadsLeft(page); // The German one is gone.

  await language(page, 'French').press('ArrowLeft');
  await settled(page);
  assert.ok(await language(page, 'German').isChecked());
  assert.equal(await target.textContent(), german);
  assert.equal(await target.getAttribute('lang'), 'de');
});

onPage('changing the language switches all heads on', {}, async (page) => {
  await page.getByTestId('head-switch').nth(3).click();
  await page.getByTestId('change').waitFor();
  await choose(page, 'French');
  await settled(page);
  assert.equal(await page.getByTestId('change').count(), 0);
  assert.equal(await page.locator('[role=switch][aria-checked=false]').count(), 0);
});

onPage('if languages are chosen quickly, the last one counts', {}, async (page) => {
  for (const name of ['French', 'German', 'French']) await choose(page, name);
  await settled(page);
  const chosen = await page.getByTestId('target').textContent();
  await threadsLeft(page);
  await choose(page, 'German');
  await settled(page);
  await choose(page, 'French');
  await settled(page);
  assert.equal(await page.getByTestId('target').textContent(), chosen);
});

onPage('the address keeps the language, and following a link changes it', {}, async (page) => {
  await choose(page, 'French');
  await settled(page);
  await page.getByRole('button', { name: 'Agreement' }).click();
  await settled(page);
  const text = await page.getByTestId('target').textContent();
  await page.waitForURL(/to=fr.*houses/);
  await page.reload();
  await settled(page);
  assert.ok(await language(page, 'French').isChecked());
  assert.equal(await page.getByTestId('target').textContent(), text);
  await page.evaluate((hash) => (location.hash = hash), `${view}&to=de&text=Hello.`);
  await page.locator('[data-testid=target][lang=de]').waitFor();
  await settled(page);
  assert.ok(await language(page, 'German').isChecked());
  assert.equal(await page.getByTestId('target').textContent(), (await translate('Hello.')).text);
});

onPage('everything can be reached by keyboard', { reducedMotion: 'reduce' }, async (page) => {
  await read(page, `${sentence} How are you?`);
  await page.getByTestId('input').focus();
  const reached = new Set();
  for (let i = 0; i < 50; i++) {
    await page.keyboard.press('Tab');
    reached.add(
      await page.evaluate(() => {
        const { dataset, name, textContent } = document.activeElement;
        return dataset.word ? 'word' : (dataset.testid ?? (name || textContent.trim()));
      }),
    );
  }
  for (const what of ['word', 'A picture', 'sentence', 'head', 'head-switch', 'heatmap', 'tree'])
    assert.ok(reached.has(what), `${what} among ${[...reached]}`);
  for (const what of ['into-de', 'show-cross', 'beams']) assert.ok(reached.has(what), what);
  const moving = await page.evaluate(
    () =>
      [...document.querySelectorAll('*')].filter(
        (element) => parseFloat(getComputedStyle(element).transitionDuration) > 0,
      ).length,
  );
  assert.equal(moving, 0);
});

onPage(
  'nothing scrolls sideways, and a tap highlights words',
  { viewport: { width: 320, height: 800 }, hasTouch: true },
  async (page) => {
    for (const text of [sentence, `${'x'.repeat(40)} ${sentence}`]) {
      await read(page, text);
      await wordsOf(page, 'target').last().tap();
      assert.ok((await lit(page, 'source')).length > 0);
      await assertFitsAt(page, [320, 360, 390, 768]);
    }
  },
);

onPage('axe finds no violations', {}, async (page) => {
  await read(page, `${sentence} How are you?`);
  await page.getByTestId('head-switch').nth(1).click();
  await settled(page);
  await wordsOf(page, 'target').nth(1).hover();
  await assertAccessibleToAll(page);
});

test('a missing model is reported, and trying again works', async () => {
  const weights = 'models/en-de/model.safetensors';
  const spoil = (folder) => rm(join(folder, weights));
  const options = { hash: view, spoil, expectErrors: true };
  await visitCopy(browser, options, async (page, { folder, complaints }) => {
    const alert = page.getByRole('alert');
    await alert.waitFor();
    assert.match(await alert.textContent(), /not where it should be.*models\/en-de/s);
    await cp(join(root, 'web/dist', weights), join(folder, weights));
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByTestId('target').waitFor();
    await settled(page);
    assert.notEqual(await page.getByTestId('target').textContent(), '');
    assert.deepEqual(complaints, []);
  });
});

test('if the French model is missing, the page says so and German still works', async () => {
  const spoil = (folder) => rm(join(folder, 'models/en-fr'), { recursive: true });
  const options = { hash: view, spoil, expectErrors: true };
  await visitCopy(browser, options, async (page, { complaints }) => {
    await settled(page);
    const german = await page.getByTestId('target').textContent();
    await choose(page, 'French');
    const alert = page.getByRole('alert');
    await alert.waitFor();
    assert.match(await alert.textContent(), /not where it should be.*models\/en-fr/s);
    await choose(page, 'German');
    await settled(page);
    assert.equal(await alert.count(), 0);
    assert.equal(await page.getByTestId('target').textContent(), german);
    assert.deepEqual(complaints, []);
  });
});

test('once loaded, it translates offline into every chosen language', async () => {
  const options = { hash: view, serviceWorkers: 'allow' };
  await visitCopy(browser, options, async (page, { context, disconnect }) => {
    await settled(page);
    await choose(page, 'French');
    await settled(page);
    for (const name of ['en-de', 'en-fr'])
      for (const file of ['config.json', 'model.safetensors', 'tokenizer.model'])
        await kept(page, `models/${name}/${file}`);
    await page.waitForURL(/to=fr/);
    await disconnect();
    await context.setOffline(true);
    await page.reload();
    await settled(page);
    await read(page, sentence);
    assert.equal(await page.getByTestId('target').getAttribute('lang'), 'fr');
    assert.notEqual(await page.getByTestId('target').textContent(), '');
    await choose(page, 'German');
    await settled(page);
    assert.equal(await page.getByTestId('target').textContent(), (await translate(sentence)).text);
  });
});
