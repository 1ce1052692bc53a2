// <glassformer-attention> in an empty page under a strict policy, with the package's results: as
// objects, and as JSON of the command line and the page.
import assert from 'node:assert/strict';
import { dirname } from 'node:path';
import { after, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import {
  companion,
  goldenFolder,
  load,
  loadTranslator,
  readGolden,
  serve,
} from '../../package/support/helpers.mjs';
import { assertAccessible, launch, open, until } from '../open.mjs';

const classifier = await load(goldenFolder('pre_norm_mean'));
const translator = await loadTranslator(goldenFolder('translate_pre_norm_shared'));
const [text] = readGolden('pre_norm_mean').texts.toSorted((a, b) => b.length - a.length);
const [source] = readGolden('translate_pre_norm_shared').texts;
const read = await classifier.classify(text, { attention: true });
const written = await translator.translate(source, { attention: true });
const { encoder } = read.attention;

// Returns a result whose attention weights have another form.
function inForm(result, form) {
  const maps = (attention) =>
    Object.fromEntries(
      Object.entries(attention).map(([kind, map]) => [kind, { ...map, data: form(map.data) }]),
    );
  const { sentences } = result;
  if (!sentences) return { ...result, attention: maps(result.attention) };
  return {
    ...result,
    sentences: sentences.map((each) => ({ ...each, attention: maps(each.attention) })),
  };
}
const base64 = (data) =>
  Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString('base64');
const lineOf = (result) => JSON.stringify(inForm(result, base64)); // as the command line writes it

const policy = "default-src 'none'; script-src 'self'; require-trusted-types-for 'script'";
const page = (body) => (response) =>
  response
    .writeHead(200, { 'content-type': 'text/html', 'content-security-policy': policy })
    .end(`<!doctype html><html lang="en"><title>bare</title><main><h1>A page</h1>${body}</main>`);
const data = (json) =>
  `<script type="application/json">${json.replaceAll('<', '\\u003c')}</script>`;
const script = '<script type="module" src="/element.js"></script>';
const element = 'glassformer-attention';
const { url } = await serve(dirname(companion('element')), {
  '/empty': page(`<${element}></${element}>${script}`),
  '/read': page(`<${element} layer="1" head="1">${data(lineOf(read))}</${element}>${script}`),
  '/written': page(`<${element}>${data(lineOf(written))}</${element}>${script}`),
  '/broken': page(`<${element}>${data('{"tokens": [')}</${element}>${script}`),
});

const browser = await launch();
after(() => browser.close());

// Runs `body` on the page at a path. There must be no complaints.
async function visit(path, body, options) {
  const opened = await open(browser, url + path, options);
  try {
    await body(opened.page, opened.page.locator(element));
    assert.deepEqual(opened.complaints, []);
  } finally {
    await opened.context.close();
  }
}

// Gives the element a result, and waits until it is drawn.
const give = (view, result) =>
  view.evaluate((node, given) => {
    node.result = given;
    return new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
  }, result);
const cellOf = (view) => view.evaluate((node) => node.cell);
const drawn = (view) => view.locator('output').waitFor();
const choose = (view, choice, value) =>
  view.locator(`select[name=${choice}]`).selectOption({ value });
const map = (view) => view.getByRole('application');

// Returns the place and value of a head's largest weight.
function strongest(attention, layer, head) {
  const weights = attention.at(layer, head);
  const at = weights.indexOf(weights.reduce((a, b) => Math.max(a, b)));
  const { keys } = attention;
  return { query: Math.floor(at / keys), key: at % keys, weight: weights[at] };
}

// Returns the heat map's pixels as [red, green, blue, alpha].
const pixelsOf = (view) =>
  view.evaluate((node) => {
    const canvas = node.shadowRoot.querySelector('canvas');
    const { width, height } = canvas;
    const { data } = canvas.getContext('2d').getImageData(0, 0, width, height);
    return Array.from({ length: width * height }, (_, i) => [...data.subarray(4 * i, 4 * i + 4)]);
  });

test('shows the head that the attributes name, with one pixel per weight, from JSON in the page', () =>
  visit('/read', async (page, view) => {
    await drawn(view);
    assert.deepEqual(await cellOf(view), strongest(encoder, 1, 1));
    const weights = encoder.at(1, 1);
    const pixels = await pixelsOf(view);
    assert.equal(pixels.length, weights.length);
    const order = [...weights.keys()].sort((a, b) => weights[a] - weights[b]);
    const light = order.map((at) => pixels[at][1]); // green falls all the way
    for (const [i, value] of light.entries()) {
      if (i > 0) assert.ok(value <= light[i - 1] + 2, `a larger weight is darker: ${i}`);
    }
    assert.ok(light[0] - light.at(-1) > 100);
  }));

test('reads attention weights in all forms', () =>
  visit('/empty', async (_, view) => {
    assert.equal(await cellOf(view), undefined);
    const forms = {
      base64: [base64, (value) => value],
      numbers: [(numbers) => [...numbers], (value) => value],
      'what JSON makes of a Float32Array': [
        (numbers) => numbers,
        (value) => JSON.parse(JSON.stringify(value)),
      ],
      'a line of text': [base64, JSON.stringify],
    };
    for (const [name, [form, packed]] of Object.entries(forms)) {
      await give(view, packed(inForm(read, form)));
      const { weight, ...cell } = strongest(encoder, 0, 0);
      const shown = await cellOf(view);
      assert.deepEqual({ query: shown.query, key: shown.key }, cell, name);
      assert.ok(Math.abs(shown.weight - weight) < 1e-6, name);
      await give(view, undefined);
      assert.equal(await cellOf(view), undefined);
    }
  }));

test('choosing a layer or head sends an event', () =>
  visit('/read', async (page, view) => {
    await drawn(view);
    await view.evaluate((node) => {
      window.told = [];
      node.addEventListener('change', ({ target }) =>
        window.told.push([target.attention, target.layer, target.head]),
      );
    });
    await choose(view, 'layer', '1'); // it already is
    await choose(view, 'head', '0');
    await choose(view, 'layer', '0');
    assert.deepEqual(await page.evaluate(() => window.told), [
      ['encoder', 1, 1],
      ['encoder', 1, 0],
      ['encoder', 0, 0],
    ]);
    assert.equal(await view.getAttribute('layer'), '0');
  }));

test('arrow keys move between weights, which are announced', () =>
  visit('/read', async (page, view) => {
    await drawn(view);
    await map(view).focus();
    await page.keyboard.press('Control+Home');
    const at = (query, key) => ({
      query,
      key,
      weight: encoder.at(1, 1)[query * encoder.keys + key],
    });
    assert.deepEqual(await cellOf(view), at(0, 0));
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowDown');
    assert.deepEqual(await cellOf(view), at(1, 1));
    const said = await view.locator('[aria-live]').textContent();
    assert.ok(said.includes(read.tokens[1].text.trim()), said);
    assert.ok(said.includes(at(1, 1).weight.toFixed(3)), said);
    await page.keyboard.press('Control+End');
    const last = read.tokens.length - 1;
    assert.deepEqual(await cellOf(view), at(last, last));
    await page.keyboard.press('Escape');
    assert.deepEqual(await cellOf(view), strongest(encoder, 1, 1));
  }));

test('the pointer shows weights', () =>
  visit('/read', async (page, view) => {
    await drawn(view);
    const box = await view.locator('canvas').boundingBox();
    const { queries, keys } = encoder;
    const x = box.x + (2.5 * box.width) / keys;
    const y = box.y + (1.5 * box.height) / queries;
    await page.mouse.move(x, y);
    assert.deepEqual(await cellOf(view), { query: 1, key: 2, weight: encoder.at(1, 1)[keys + 2] });
    const said = view.getByText(' looks at ');
    await said.filter({ hasText: read.tokens[2].text.trim() }).first().waitFor();
  }));

test('a translation has three kinds of attention; future tokens are empty', () =>
  visit('/written', async (page, view) => {
    await drawn(view);
    const [{ attention }] = written.sentences;
    for (const kind of ['decoder', 'cross', 'encoder']) {
      await choose(view, 'attention', kind);
      await page.waitForFunction(
        ([name, keys]) =>
          document.querySelector(name).shadowRoot.querySelector('canvas').width === keys,
        [element, attention[kind].keys],
      );
      const best = strongest(attention[kind], 0, 0);
      await until(
        page,
        () => cellOf(view),
        (cell) => isDeepStrictEqual(cell, best),
      );
      const pixels = await pixelsOf(view);
      const { keys } = attention[kind];
      for (const [at, [, , , alpha]] of pixels.entries()) {
        const unseen = kind === 'decoder' && at % keys > Math.floor(at / keys);
        assert.equal(alpha, unseen ? 0 : 255, `${kind} ${at}`);
      }
    }
  }));

test('the table names the token that each token attends to most', () =>
  visit('/read', async (page, view) => {
    await drawn(view);
    await view.getByText('As a table').click();
    const rows = await view.locator('tr').allTextContents();
    assert.equal(rows.length, read.tokens.length);
    for (const [query, row] of rows.entries()) {
      const weights = encoder.at(1, 1).subarray(query * encoder.keys, (query + 1) * encoder.keys);
      const best = weights.reduce((a, b) => Math.max(a, b));
      assert.ok(row.startsWith(read.tokens[query].text.trim()), row);
      assert.ok(row.includes(best.toFixed(3)), row);
    }
  }));

test('invalid results are refused with the reason', () =>
  visit('/empty', async (page, view) => {
    const { tokens } = read;
    const one = tokens.slice(0, 1);
    const map = { layers: 1, heads: 1, queries: 1, keys: 1, data: [1] };
    const cases = [
      [{ tokens }, /attention: expected weights/],
      [{ error: { message: 'The text is empty' } }, /got the error "The text is empty"/],
      ['{', /result: expected JSON/],
      [null, /result: expected an object/],
      [{ tokens: [], attention: { encoder: map } }, /tokens: expected 1 .* got 0/],
      [
        { tokens: one, attention: { encoder: { ...map, heads: 2 } } },
        /data: expected 1 × 2 × 1 × 1/,
      ],
      [{ tokens: one, attention: { encoder: { ...map, heads: 0 } } }, /heads: expected a positive/],
      [
        { tokens: one, attention: { encoder: { ...map, data: '!!!!!!==' } } },
        /data: expected base64/,
      ],
      [
        { tokens: one, attention: { encoder: { ...map, data: 'AAA=' } } },
        /1 × 1 × 1 × 1 numbers, got 0\.5/,
      ],
      [{ tokens: one, attention: { encoder: { ...map, data: ['a'] } } }, /finite numbers/],
      [{ sentences: [] }, /sentences: expected at least one/],
    ];
    await give(view, inForm(read, base64));
    for (const [result, message] of cases) {
      const error = await view.evaluate((node, given) => {
        try {
          node.result = given;
        } catch ({ name, code, message }) {
          return { name, code, message };
        }
      }, result);
      assert.equal(error?.name, 'GlassformerError', JSON.stringify(result));
      assert.equal(error.code, 'invalid_option');
      assert.match(error.message, message);
    }
    assert.deepEqual((await cellOf(view)).query, strongest(encoder, 0, 0).query, 'it stays');
  }));

test('broken JSON in the page is reported where it is', () =>
  visit('/broken', async (page, view) => {
    const alert = view.getByRole('alert');
    await alert.getByText('result: expected JSON of one result').waitFor();
  }));

test('colors follow the system, the attribute and the page', () =>
  visit(
    '/read',
    async (page, view) => {
      await drawn(view);
      const background = () => view.evaluate((node) => getComputedStyle(node).backgroundColor);
      assert.equal(await background(), 'rgb(13, 19, 21)');
      const dark = await pixelsOf(view);
      await view.evaluate((node) => node.setAttribute('theme', 'light'));
      assert.equal(await background(), 'rgb(243, 245, 244)');
      await view.evaluate((node) => {
        node.style.setProperty('--glassformer-page', 'rgb(1 2 3)');
        node.style.setProperty('--glassformer-ramp', 'rgb(0, 0, 0), red');
        node.setAttribute('theme', 'dark');
      });
      assert.equal(await background(), 'rgb(1, 2, 3)');
      await give(view, inForm(read, base64));
      const pixels = await pixelsOf(view);
      assert.ok(pixels.some(([red]) => red > 250));
      assert.ok(pixels.every(([, green, blue]) => green === 0 && blue === 0));
      assert.notDeepEqual(pixels, dark);
    },
    { colorScheme: 'dark' },
  ));

for (const colorScheme of ['light', 'dark']) {
  test(`axe finds no violations: ${colorScheme}`, () =>
    visit(
      '/written',
      async (page, view) => {
        await drawn(view);
        await assertAccessible(page);
        const labels = await view.locator('bdi:not([dir=auto])').count();
        assert.equal(labels, 0, 'a token of either direction is read as it is written');
      },
      { colorScheme },
    ));
}

test('512 tokens: labels stay apart, and the largest weight stays visible', () =>
  visit('/empty', async (page, view) => {
    const count = 512;
    const weights = new Float32Array(count * count).fill(0.001);
    weights[300 * count + 411] = 0.9;
    const map = { layers: 1, heads: 1, queries: count, keys: count, data: base64(weights) };
    const tokens = Array.from({ length: count }, (_, i) => ({
      text: i === 7 ? ' سلام' : ` w${i}`,
    }));
    await page.setViewportSize({ width: 420, height: 800 });
    await give(view, { tokens, attention: { encoder: map } });
    const { query, key } = await cellOf(view);
    assert.deepEqual([query, key], [300, 411]);
    const pixels = await pixelsOf(view);
    assert.ok(pixels.length < count * count, 'fewer pixels than weights');
    const darkest = pixels.filter(([red, green, blue]) => red + green + blue < 200);
    assert.equal(darkest.length, 1);
    const tops = await view
      .locator('.rows bdi:not(.here)')
      .evaluateAll((list) => list.map((label) => label.getBoundingClientRect().top));
    assert.ok(tops.length > 5);
    for (const [i, top] of tops.entries()) {
      if (i > 0) assert.ok(top - tops[i - 1] > 11, `labels ${i - 1} and ${i}`);
    }
  }));
