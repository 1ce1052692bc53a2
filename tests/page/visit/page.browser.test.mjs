// Uses the built page as a visitor would, with the real model, and compares it with the package's
// answers in Node.
import assert from 'node:assert/strict';
import { cp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { Classifier } from '../../../dist/index.js';
import {
  kept,
  launch,
  open,
  openMenu,
  read,
  root,
  savedBy,
  serve,
  settled,
  visit,
  visitCopy,
} from '../open.mjs';

const sentence = 'The plot is not good at all, and I would never watch it again.';
// Node may use the other binary, whose sums are rounded differently.
const tolerance = 2e-4;

let browser, server, classifier;
before(async () => {
  [browser, server, classifier] = await Promise.all([
    launch(),
    serve(),
    Classifier.load(join(root, 'weights/sentiment'), { compute: 'f32' }),
  ]);
});
after(async () => {
  await browser?.close();
  await server?.close();
  classifier?.dispose();
});

const onPage = (name, options, body) =>
  test(name, () => visit(browser, server.url + (options.hash ?? ''), options, body));

const number = (locator) => locator.getAttribute('data-value').then(Number);
const numbers = (locator) =>
  locator.evaluateAll((list) => list.map((element) => Number(element.getAttribute('data-value'))));
const cellsOf = (page) => page.getByTestId('heatmap').locator('[data-value]');
const head = (page, layer, index) =>
  page.locator(`[data-testid=head][data-layer="${layer}"][data-head="${index}"]`);
const headSwitch = (page, layer, index) =>
  page.getByRole('switch', { name: `Layer ${layer + 1}, head ${index + 1}`, exact: true });

function assertClose(actual, expected, what, within = tolerance) {
  assert.equal(actual.length, expected.length, `${what}: how many`);
  const worst = actual.reduce((max, value, i) => Math.max(max, Math.abs(value - expected[i])), 0);
  assert.ok(worst <= within, `${what}: ${worst} apart`);
}

onPage('a visitor types a review and reads the verdict', {}, async (page) => {
  for (const [text, label] of [
    ['One of the best films I have ever seen. Wonderful from start to finish!', 'positive'],
    ['A boring, badly written waste of two hours. Avoid it.', 'negative'],
  ]) {
    await page.getByTestId('input').fill('');
    await page.getByTestId('input').pressSequentially(text);
    await settled(page);
    const expected = await classifier.classify(text);
    assert.equal(await page.getByTestId('verdict').textContent(), label);
    assert.equal(expected.label, label);
    assertClose([await number(page.getByTestId('score'))], [expected.score], 'score');
    assert.match(await page.getByTestId('score').textContent(), /^>?\d+\.\d%$/);
  }
});

onPage('each example is classified', {}, async (page) => {
  const examples = page.getByRole('group', { name: 'Examples' }).getByRole('button');
  const seen = new Set();
  const notices = new Set();
  for (let i = 0; i < (await examples.count()); i++) {
    await examples.nth(i).click();
    await settled(page);
    const text = await page.getByTestId('input').inputValue();
    const { label } = await classifier.classify(text);
    assert.equal(await page.getByTestId('verdict').textContent(), label, text);
    seen.add(text);
    notices.add(await page.getByTestId('notice').textContent());
  }
  assert.ok(seen.size >= 5);
  assert.ok(notices.size === seen.size && !notices.has(''));
  await page.getByTestId('input').fill('Another text.');
  assert.equal(await page.getByTestId('notice').textContent(), '');
});

onPage('the heat map shows the head that is chosen by mouse or keyboard', {}, async (page) => {
  await read(page, sentence);
  const { tokens, attention } = await classifier.classify(sentence, { attention: true });
  assert.equal(await page.getByTestId('head').count(), 32);
  await head(page, 2, 5).click();
  assertClose(await numbers(cellsOf(page)), attention.encoder.at(2, 5), 'layer 3, head 6');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowRight');
  assert.equal(await head(page, 3, 6).getAttribute('aria-pressed'), 'true');
  const cells = await numbers(cellsOf(page));
  assertClose(cells, attention.encoder.at(3, 6), 'layer 4, head 7');
  for (let row = 0; row < tokens.length; row++) {
    const sum = cells.slice(row * tokens.length, (row + 1) * tokens.length).reduce((a, b) => a + b);
    assert.ok(Math.abs(sum - 1) < 1e-5, `row ${row} sums to ${sum}`);
  }
});

onPage('arrow keys and the pointer read single weights', {}, async (page) => {
  await read(page, sentence);
  await head(page, 1, 1).click();
  const { tokens, attention } = await classifier.classify(sentence, { attention: true });
  const map = attention.encoder.at(1, 1);
  const readout = page.locator('output');
  await page.getByTestId('heatmap').focus();
  await page.keyboard.press('Control+Home');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('ArrowRight');
  const expected = map[tokens.length + 2];
  assert.equal(await readout.textContent(), expected < 0.0005 ? '<0.001' : expected.toFixed(3));
  await page.locator('[aria-live]', { hasText: 'plot to is: ' }).waitFor();
  const box = await cellsOf(page).last().boundingBox();
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  const last = map[map.length - 1];
  assert.equal(await readout.textContent(), last < 0.0005 ? '<0.001' : last.toFixed(3));
});

onPage('the table has the same contents as the heat map', {}, async (page) => {
  await read(page, 'not good');
  const { attention } = await classifier.classify('not good', { attention: true });
  await page.getByTestId('draw-table').check();
  const table = page.getByTestId('table');
  await table.waitFor();
  const printed = await table.locator('tbody td').allTextContents();
  const values = printed.map((text) => (text === '<0.001' ? 0 : Number(text)));
  const expected = Array.from(attention.encoder.at(0, 0), (value) =>
    value < 0.0005 ? 0 : Number(value.toFixed(3)),
  );
  assertClose(values, expected, 'table', 0.0011);
  assert.deepEqual(await table.locator('tbody th').allTextContents(), ['not', 'good']);
});

onPage('a click switches off a head or a layer, and both can be undone', {}, async (page) => {
  await read(page, sentence);
  const before = await number(page.getByTestId('score'));
  const one = [{ attention: 'encoder', layer: 1, head: 3 }];
  await headSwitch(page, 1, 3).click();
  await settled(page);
  const changed = await classifier.classify(sentence, { ablate: one });
  const whole = await classifier.classify(sentence);
  assert.equal(await headSwitch(page, 1, 3).getAttribute('aria-checked'), 'false');
  assertClose([await number(page.getByTestId('score'))], [changed.score], 'one head off');
  assert.notEqual(changed.score, whole.score);
  const difference = changed.scores[1].score - whole.scores[1].score;
  assertClose([await number(page.getByTestId('difference'))], [difference], 'difference');

  await page.getByRole('switch', { name: 'Layer 1, all heads' }).click();
  await settled(page);
  const layer = Array.from({ length: 8 }, (_, i) => ({ attention: 'encoder', layer: 0, head: i }));
  const without = await classifier.classify(sentence, { ablate: [...one, ...layer] });
  assertClose([await number(page.getByTestId('score'))], [without.score], 'a layer and a head off');
  assert.match(await page.getByTestId('change').textContent(), /9 heads off/);

  await page.getByTestId('reset').click();
  await settled(page);
  assert.equal(await number(page.getByTestId('score')), before);
  assert.equal(await page.getByTestId('change').count(), 0);
  assert.equal(await page.locator('[role=switch][aria-checked=false]').count(), 0);
});

onPage('the keyboard switches off a head', {}, async (page) => {
  await head(page, 0, 0).focus();
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('x');
  await settled(page);
  assert.equal(await headSwitch(page, 0, 1).getAttribute('aria-checked'), 'false');
  assert.match(await page.getByTestId('change').textContent(), /1 head off/);
});

onPage('a click hides a token: no row attends to it, and the verdict changes', {}, async (page) => {
  await read(page, sentence);
  const token = page.getByTestId('token').nth(3);
  assert.equal(await token.textContent(), 'not');
  await token.click();
  await settled(page);
  const masked = await classifier.classify(sentence, { maskTokens: [3], attention: true });
  assertClose([await number(page.getByTestId('score'))], [masked.score], 'without “not”');
  assertClose(await numbers(cellsOf(page)), masked.attention.encoder.at(0, 0), 'attention');
  const column = await numbers(page.getByTestId('heatmap').locator('[data-key="3"]'));
  assert.deepEqual(new Set(column), new Set([0]));
  assert.equal(await token.getAttribute('aria-pressed'), 'true');
  await token.press('Enter');
  await settled(page);
  assert.equal(await page.getByTestId('change').count(), 0);
});

onPage(
  'with every token hidden there is no verdict, and the tokens can be restored',
  {},
  async (page) => {
    await read(page, 'good');
    await page.getByTestId('token').click();
    await settled(page);
    assert.equal(await page.getByTestId('score').count(), 0);
    await page.getByTestId('token').click();
    await settled(page);
    assert.equal(await page.getByTestId('score').count(), 1);
  },
);

onPage('tokens show their effects, or their shares of the log-odds', {}, async (page) => {
  await read(page, sentence);
  const odds = ({ scores }) => scores[1].logit - scores[0].logit;
  const whole = await classifier.classify(sentence, { contributions: true });
  const tokens = page.getByTestId('token');
  const effects = [];
  for (let i = 0; i < whole.tokens.length; i++) {
    const without = await classifier.classify(sentence, { maskTokens: [i] });
    effects.push(odds(whole) - odds(without));
  }
  await page.locator('[role=toolbar][aria-busy=false]').waitFor();
  assertClose(await numbers(tokens), effects, 'with − without');
  // “not” is evidence for negative.
  assert.ok(effects[3] < 0);
  await tokens.nth(3).hover();
  const printed = `effect\\s+−${Math.abs(effects[3]).toFixed(2)}`;
  assert.match(await page.getByTestId('looked').textContent(), new RegExp(printed));

  await page.getByText('share of the sum').click();
  const [negative, positive] = whole.contributions;
  const shares = Array.from(positive, (value, i) => value - negative[i]);
  assertClose(await numbers(tokens), shares, 'shares');
});

onPage('every head is switched off in turn', {}, async (page) => {
  await read(page, sentence);
  await page.getByRole('button', { name: 'Weigh every head' }).click();
  await page.getByTestId('effect').nth(31).waitFor();
  const odds = ({ scores }) => scores[1].logit - scores[0].logit;
  const whole = odds(await classifier.classify(sentence));
  const expected = [];
  for (let i = 0; i < 32; i++) {
    const ablate = [{ attention: 'encoder', layer: Math.floor(i / 8), head: i % 8 }];
    expected.push(whole - odds(await classifier.classify(sentence, { ablate })));
  }
  assertClose(await numbers(page.getByTestId('effect')), expected, 'effects');
});

onPage('a megabyte of text is clipped, which is reported, and drawn', {}, async (page) => {
  const text = 'A slow start, but good. '.repeat(44_000);
  const { tokens, attention, clipped } = await classifier.classify(text, { attention: true });
  assert.ok(clipped);
  await read(page, text);
  assert.equal(await page.getByTestId('token').count(), tokens.length);
  assert.match(
    await page.locator('.clipped').textContent(),
    /512 tokens the model reads: it skipped/,
  );
  // It is painted in bands, down to the last row.
  await page.waitForFunction(() => {
    const canvas = document.querySelector('[data-testid=overview] canvas');
    const { width, height } = canvas;
    const colors = (...part) =>
      new Set(new Uint32Array(canvas.getContext('2d').getImageData(...part).data.buffer)).size;
    return colors(0, 0, width, height) > 16 && colors(0, height - 1, width, 1) > 4;
  });
  // The visible part is the part that the page names.
  await page.getByTestId('heatmap').focus();
  await page.keyboard.press('Control+End');
  const cells = await cellsOf(page).evaluateAll((list) =>
    list.map(({ dataset }) => [dataset.query, dataset.key, dataset.value].map(Number)),
  );
  const map = attention.encoder.at(0, 0);
  assertClose(
    cells.map(([, , value]) => value),
    cells.map(([query, key]) => map[query * tokens.length + key]),
    'the last corner',
  );
  assert.deepEqual(cells.at(-1).slice(0, 2), [511, 511]);
  // They are elements of the described row, and match the drawing under them.
  const greens = await page.getByTestId('heatmap').evaluate(async (heatmap) => {
    for (let i = 0; i < 2; i++) await new Promise(requestAnimationFrame);
    const canvas = heatmap.querySelector('canvas');
    const frame = canvas.getBoundingClientRect();
    const scale = canvas.width / frame.width;
    return [...heatmap.querySelectorAll('[data-value]')]
      .map((cell) => {
        const { x, y, width, height } = cell.getBoundingClientRect();
        const at = [(x + width / 2 - frame.x) * scale, (y + height / 2 - frame.y) * scale];
        const [, green] = canvas.getContext('2d').getImageData(...at, 1, 1).data;
        return { value: Number(cell.dataset.value), green };
      })
      .sort((a, b) => a.value - b.value)
      .map(({ green }) => green);
  });
  assert.ok(greens.length > 20 && greens[0] > greens.at(-1));
  for (const [i, green] of greens.entries()) assert.ok(i === 0 || green <= greens[i - 1], `${i}`);
});

onPage(
  'pointing at a token describes it, and marks the tokens that it attends to',
  {},
  async (page) => {
    await read(page, sentence);
    await head(page, 1, 1).click();
    const { tokens, attention } = await classifier.classify(sentence, { attention: true });
    const row = attention.encoder.at(1, 1).subarray(3 * tokens.length, 4 * tokens.length);
    const strip = page.getByTestId('token');
    await strip.nth(3).hover();
    await page.waitForFunction(() =>
      document.querySelectorAll('[data-testid=token]')[3]?.matches('.query[title]'),
    );
    const title = await strip.nth(3).getAttribute('title');
    assert.ok(title.endsWith(`attention ${row[3] < 0.0005 ? '<0.001' : row[3].toFixed(3)}`), title);
    const lines = await strip.evaluateAll((list) =>
      list.map((token) => Number(getComputedStyle(token).borderBottomColor.match(/\d+/g)[1])),
    );
    const order = [...row.keys()].sort((a, b) => row[a] - row[b]);
    for (const [i, at] of order.entries()) {
      assert.ok(i === 0 || lines[at] <= lines[order[i - 1]], `${i}: ${lines}`);
    }
  },
);

onPage('strange texts are answered, or reported as empty', {}, async (page) => {
  for (const text of [
    '',
    '   \n\t ',
    '\ud800',
    '😀👍🏽',
    'e\u0301\u0323 \u202e abc',
    '电影很好看',
    '\ud83d x \ude00',
  ]) {
    // It is not typed, because keyboards have no lone surrogates.
    await page.getByTestId('input').evaluate((box, value) => {
      box.value = value;
      box.dispatchEvent(new InputEvent('input', { bubbles: true }));
    }, text);
    await settled(page);
    const answer = await classifier.classify(text).catch(({ code }) => code);
    if (answer === 'empty_input') {
      const absent = text.trim() === '' ? 'Type a review above' : 'The model cannot read this text';
      assert.equal((await page.getByTestId('verdict').textContent()).trim(), absent);
      assert.equal(await page.getByTestId('score').count(), 0);
    } else {
      assert.equal(await page.getByTestId('verdict').textContent(), answer.label);
      assert.equal(await page.getByTestId('token').count(), answer.tokens.length);
    }
  }
});

onPage('a link restores text, head and interventions', {}, async (page, { context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await read(page, sentence);
  await head(page, 3, 2).click();
  await headSwitch(page, 3, 2).click();
  await page.getByTestId('token').nth(4).click();
  await settled(page);
  const score = await number(page.getByTestId('score'));
  await openMenu(page);
  await page.getByRole('button', { name: 'Copy link' }).click();
  await page.getByRole('button', { name: 'Copied' }).waitFor();
  const link = await page.evaluate(() => navigator.clipboard.readText());
  const other = await context.newPage();
  await other.goto(link);
  await settled(other);
  assert.equal(await other.getByTestId('input').inputValue(), sentence);
  assert.equal(await head(other, 3, 2).getAttribute('aria-pressed'), 'true');
  assert.equal(await headSwitch(other, 3, 2).getAttribute('aria-checked'), 'false');
  assert.equal(await other.getByTestId('token').nth(4).getAttribute('aria-pressed'), 'true');
  assert.equal(await number(other.getByTestId('score')), score);
});

onPage(
  'the valid parts of a damaged link are used',
  { hash: '#text=good&head=99.1&off=0.1,7.7,x&hide=5,-1,0.5' },
  async (page) => {
    const ablate = [{ attention: 'encoder', layer: 0, head: 1 }];
    const { score } = await classifier.classify('good', { ablate });
    assertClose([await number(page.getByTestId('score'))], [score], 'score');
    assert.equal(await head(page, 0, 0).getAttribute('aria-pressed'), 'true');
    assert.match(await page.getByTestId('change').textContent(), /with 1 head off/);
  },
);

onPage('the picture and the numbers can be saved', {}, async (page) => {
  await read(page, sentence);
  const saved = (name) => savedBy(page, page.getByRole('button', { name, exact: true }));
  const svg = (await saved('SVG')).toString();
  const { tokens, attention } = await classifier.classify(sentence, { attention: true });
  const values = [...svg.matchAll(/data-value="([^"]+)"/g)].map(([, value]) => Number(value));
  assertClose(values, attention.encoder.at(0, 0), 'SVG');
  assert.match(svg, />never<\/text>/);
  const png = await saved('PNG');
  assert.equal(png.subarray(1, 4).toString(), 'PNG');
  const json = JSON.parse(await saved('JSON of all heads'));
  const bytes = Buffer.from(json.attention.encoder.data, 'base64');
  const data = new Float32Array(
    bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length),
  );
  assertClose(data, attention.encoder.data, 'JSON');
  assert.equal(json.tokens.length, tokens.length);
  assert.equal(json.text, sentence);
});

test('progress counts the bytes while the model loads', async () => {
  const { context, page, complaints } = await open(browser, 'about:blank', {});
  try {
    let release;
    const held = new Promise((resolve) => (release = resolve));
    await context.route('**/model.safetensors', async (route) => {
      await held;
      await route.continue();
    });
    await page.goto(server.url);
    const sizeOf = async (file) => (await stat(join(root, 'weights/sentiment', file))).size;
    const loaded = (await sizeOf('config.json')) + (await sizeOf('tokenizer.model'));
    const total = loaded + (await sizeOf('model.safetensors'));
    await page.locator(`progress[value="${loaded}"][max="${total}"]`).waitFor();
    // The text can be edited at the same time.
    await page.getByTestId('input').fill('Terrible.');
    release();
    await settled(page);
    assert.equal(await page.getByTestId('verdict').textContent(), 'negative');
    assert.deepEqual(
      complaints.filter((text) => !text.startsWith('request')),
      [],
    );
  } finally {
    await context.close();
  }
});

test('a missing model is reported, and a retry works', async () => {
  const weights = 'models/sentiment/model.safetensors';
  const spoil = (folder) => rm(join(folder, weights));
  await visitCopy(browser, { spoil, expectErrors: true }, async (page, { folder, complaints }) => {
    const alert = page.getByRole('alert');
    await alert.waitFor();
    assert.match(await alert.textContent(), /not where it should be.*model\.safetensors/s);
    await cp(join(root, 'web/dist', weights), join(folder, weights));
    await page.getByRole('button', { name: 'Try again' }).click();
    await settled(page);
    assert.equal(await page.getByTestId('verdict').textContent(), 'positive');
    assert.deepEqual(complaints, []);
  });
});

test('a missing program is not reported as an error of the model, in any view', async () => {
  const spoil = async (folder) => {
    const assets = join(folder, 'assets');
    for (const name of await readdir(assets))
      if (name.endsWith('.wasm')) await rm(join(assets, name));
  };
  for (const hash of ['', '#view=inside', '#view=translation', '#view=writing', '#view=model'])
    await visitCopy(browser, { hash, spoil, expectErrors: true }, async (page) => {
      if (hash === '#view=model')
        await page
          .getByTestId('folder')
          .setInputFiles(join(root, 'tests/fixtures/checkpoints/bert_sequence'));
      const alert = page.getByRole('alert');
      await alert.waitFor();
      const text = await alert.textContent();
      assert.match(text, /A part of this page is missing.*\.wasm/s, hash);
      assert.doesNotMatch(text, /models\/|download all/, hash);
    });
});

test('without JavaScript the page describes itself, with a picture and links', async () => {
  const context = await browser.newContext({ javaScriptEnabled: false });
  try {
    const page = await context.newPage();
    const missing = [];
    page.on('response', (response) => response.ok() || missing.push(response.url()));
    await page.goto(server.url);
    await page.getByRole('heading', { level: 1, name: 'Glassformer' }).waitFor();
    assert.match(await page.locator('main').innerText(), /A Transformer you can see through/);
    const picture = page.getByRole('img', { name: /attention head/ });
    const box = await picture.boundingBox();
    assert.ok(box.width > 400 && box.height > 300, JSON.stringify(box));
    for (const link of await page.getByRole('link').all()) {
      const href = await link.getAttribute('href');
      if (/^https:/.test(href)) continue;
      assert.equal((await context.request.get(new URL(href, server.url).href)).status(), 200, href);
    }
    assert.ok((await page.getByRole('link').count()) >= 3);
    assert.deepEqual(missing, []);
  } finally {
    await context.close();
  }
});

test('it works under any path, and without a network once loaded', async () => {
  const options = { path: 'some/where/', serviceWorkers: 'allow' };
  await visitCopy(browser, options, async (page, { context, complaints, disconnect, folder }) => {
    await settled(page);
    await kept(page, 'models/sentiment/tokenizer.model');
    await kept(page, 'models/sentiment/model.safetensors');
    // Only the binaries that this browser runs are downloaded.
    const binaries = (names) =>
      names.map((name) => /glassformer.*\.wasm$/.exec(name)?.[0]).filter((name) => name);
    const isolated = await page.evaluate(() => crossOriginIsolated);
    const built = binaries(await readdir(join(folder, 'assets')))
      .filter((name) => name.includes('.relaxed-'))
      .filter((name) => isolated || !name.includes('.threads.'));
    const cached = await page.evaluate(async () => {
      const [name] = await caches.keys();
      return (await (await caches.open(name)).keys()).map(({ url }) => url);
    });
    assert.ok(built.length >= 2, `${built}`);
    assert.deepEqual(binaries(cached).sort(), built.sort());
    await disconnect();
    await context.setOffline(true);
    await read(page, 'Still here, still wonderful.');
    assert.equal(await page.getByTestId('verdict').textContent(), 'positive');
    await page.reload();
    await settled(page);
    await read(page, 'Dull and far too long.');
    assert.equal(await page.getByTestId('verdict').textContent(), 'negative');
    const errors = complaints.filter((text) => !text.includes('ERR_INTERNET_DISCONNECTED'));
    assert.deepEqual(errors, []);
  });
});

test('the policy is in force, in the header and in the page', async () => {
  const { context, page, response } = await open(browser, server.url, { expectErrors: true });
  try {
    const header = response.headers()['content-security-policy'];
    const meta = await page
      .locator('meta[http-equiv="Content-Security-Policy"]')
      .getAttribute('content');
    for (const policy of [header, meta]) {
      assert.match(policy, /default-src 'none'/);
      assert.match(policy, /script-src 'self' 'wasm-unsafe-eval';/);
      assert.match(policy, /style-src 'self';/);
      const hub = 'https://huggingface.co https://*.huggingface.co https://*.hf.co';
      assert.ok(policy.includes(`connect-src 'self' ${hub};`), policy);
    }
    await settled(page);
    const evaluated = await page.evaluate(() => {
      const script = document.createElement('script');
      script.textContent = 'window.inlineRan = true';
      document.body.append(script);
      return window.inlineRan === true;
    });
    assert.equal(evaluated, false);
    assert.equal(await page.locator('[style*="javascript"]').count(), 0);
  } finally {
    await context.close();
  }
});
