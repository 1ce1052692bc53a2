// The measurements of heads over many texts, and the orders by them.
import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import {
  assertAccessible,
  assertFits,
  frames,
  launch,
  root,
  settled,
  visitCopy,
} from '../../../../../tests/page/open.mjs';

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser?.close());

// The first head attends back, the second ahead; the later a head, the larger the loss without it.
const even = { previous: 0.1, same: 0.1, next: 0.1, first: 0.1, last: 0.1, punctuation: 0.1 };
const measured = (layers, heads) => ({
  texts: 1234,
  compute: 'int8',
  heads: Array.from({ length: layers * heads }, (_, i) => ({
    ...{ attention: 'encoder', layer: Math.floor(i / heads), head: i % heads },
    share: { ...even, ...[{ previous: 0.81 }, { next: 0.5 }][i] },
    ...{ even, withoutSpecials: even, entropy: i % 2 === 0 ? 0.9 : 0.4 },
    zero: { mean: i / 100, low: i / 100 - 0.1, high: i / 100 + 0.1 },
    mean: { mean: 0, low: 0, high: 0 },
    accuracyLost: i / 10,
  })),
});

const withHeads = (json) => async (folder) =>
  writeFile(join(folder, 'models/sentiment/heads.json'), json);

async function onCopy(options, body) {
  await visitCopy(browser, options, async (page, opened) => {
    await settled(page);
    await page.getByTestId('head').first().waitFor();
    await body(page, opened);
    assert.deepEqual(opened.complaints, []);
  });
}

const placesOf = (locator) =>
  locator.evaluateAll((list) => list.map(({ dataset }) => `${dataset.layer}.${dataset.head}`));

test('each head has a badge, a legend explains the measurement, and heads can be sorted', async () => {
  const spoil = withHeads(JSON.stringify(measured(4, 8)));
  await onCopy({ spoil }, async (page) => {
    const roles = page.getByTestId('role');
    await roles.first().waitFor();
    const words = (await roles.allTextContents()).map((text) => text.trim());
    assert.deepEqual(words.slice(0, 4), ['prev', 'next', 'broad', 'other']);
    assert.equal(await roles.locator('svg path').count(), 32, 'one shape per head');
    assert.match(await page.getByTestId('measured').textContent(), /1,234 texts.*before: 81%/s);

    await page.getByText('The badges explained').click();
    const legend = page.getByTestId('roles');
    assert.match(await legend.textContent(), /1,234 texts that the model was not trained on/);
    const counts = await legend
      .locator('li')
      .evaluateAll((list) => list.map(({ dataset }) => [dataset.role, Number(dataset.heads)]));
    assert.deepEqual(counts, [
      ['previous', 1],
      ['next', 1],
      ['broad', 15],
      ['other', 15],
    ]);
    await assertAccessible(page);

    const layered = await placesOf(page.getByTestId('head'));
    await page.getByTestId('order').selectOption('lost');
    const lost = await placesOf(page.getByTestId('head'));
    assert.deepEqual(lost, [...layered].reverse());
    assert.equal((await roles.first().textContent()).trim(), '+0.310');
    assert.equal((await roles.last().textContent()).trim(), '≈ 0');
    await assertAccessible(page);

    // Arrow keys move through the heads in their shown order.
    await page.getByTestId('head').first().click();
    await page.keyboard.press('ArrowRight');
    const focused = page.locator('[data-testid=head]:focus');
    assert.deepEqual(await placesOf(focused), [lost[1]]);
    assert.equal(await page.locator('#head-title').textContent(), 'Layer 4, head 7');

    await page.getByTestId('order').selectOption('next');
    assert.deepEqual((await placesOf(page.getByTestId('head')))[0], '0.1');
    assert.equal((await roles.first().textContent()).trim(), '50%');
    await page.getByTestId('order').selectOption('layer');
    assert.deepEqual(await placesOf(page.getByTestId('head')), layered);
  });
});

test('a set that all heads have in common gets no badge', async () => {
  const { heads, ...more } = measured(4, 8);
  const all = heads.map((head) => ({
    ...head,
    share: { ...head.share, sameWord: 0.9 },
    even: { ...head.even, sameWord: 0.1 },
  }));
  const spoil = withHeads(JSON.stringify({ ...more, heads: all }));
  await onCopy({ spoil }, async (page) => {
    const roles = page.getByTestId('role');
    await roles.first().waitFor();
    const words = (await roles.allTextContents()).map((text) => text.trim());
    assert.deepEqual(words.slice(0, 4), ['prev', 'next', 'broad', 'other']);
    assert.ok(!words.includes('again'));
    // The selected head still shows its measurements.
    assert.match(await page.getByTestId('measured').textContent(), /same word elsewhere: 90%/);
  });
  // If all heads do the same, none has a badge.
  const same = all.map((head) => ({ ...head, share: all[5].share, entropy: 0.4 }));
  await onCopy({ spoil: withHeads(JSON.stringify({ ...more, heads: same })) }, async (page) => {
    await page.getByTestId('order').waitFor();
    assert.equal(await page.getByTestId('role').count(), 0);
  });
});

for (const [model, kind, hash] of [
  ['sentiment', 'encoder', ''],
  ['en-de', 'cross', '#view=translation'],
  ['en-fr', 'cross', '#view=translation&to=fr'],
  ['writer', 'decoder', '#view=writing'],
])
  test(`badges distinguish the heads of ${model}`, async () => {
    const json = JSON.parse(await readFile(join(root, 'weights', model, 'heads.json'), 'utf8'));
    const own = json.heads.filter(({ attention }) => attention === kind);
    await onCopy({ hash }, async (page) => {
      await page.getByTestId('order').waitFor();
      const words = (await page.getByTestId('role').allTextContents()).map((text) => text.trim());
      assert.ok(words.length === 0 || words.length === own.length);
      assert.notEqual(new Set(words).size, 1, `${words}`);
      assert.ok(!words.includes('again'), 'few words occur again elsewhere');
      // The sentences show the shares over all words, including words without such a set.
      const most = Math.max(...own.map(({ share }) => share.sameWord));
      assert.ok(most < 0.15, `${most} on the same word elsewhere`);
      assert.doesNotMatch(await page.getByTestId('measured').textContent(), /same word/);
      for (const { share, even } of own)
        for (const [set, value] of Object.entries(share)) {
          assert.ok(value >= 0 && value <= 1, `${set} ${value}`);
          assert.ok(even[set] > 0, set);
        }
    });
  });

for (const width of [320, 390]) {
  test(`badges fit at ${width} pixels`, async () => {
    const spoil = withHeads(JSON.stringify(measured(4, 8)));
    await onCopy({ spoil, viewport: { width, height: 800 } }, async (page) => {
      await page.getByTestId('role').first().waitFor();
      for (const order of ['layer', 'lost', 'punctuation']) {
        await page.getByTestId('order').selectOption(order);
        await assertFits(page);
        const over = await page
          .getByTestId('role')
          .evaluateAll((list) => list.filter((one) => one.scrollWidth > one.clientWidth).length);
        assert.equal(over, 0, order);
      }
    });
  });
}

test('heads without measurements, or with only some, show none', async () => {
  for (const json of ['null\n', JSON.stringify(measured(3, 8))]) {
    await onCopy({ spoil: withHeads(json) }, async (page, { context }) => {
      const asked = context.waitForEvent('response', (it) => it.url().endsWith('heads.json'));
      await page.reload();
      await (await asked).finished();
      await settled(page);
      await page.getByTestId('head').first().waitFor();
      assert.equal(await page.getByTestId('role').count(), 0);
      assert.equal(await page.getByTestId('order').count(), 0);
      assert.equal(await page.getByTestId('measured').count(), 0);
    });
  }
});

for (const [view, width] of [
  ['', 1280],
  ['', 390],
  ['#view=translation', 1280],
  ['#view=translation', 390],
  ['#view=writing', 1280],
])
  test(`nothing moves when the measurements come (${view || 'sentiment'}, ${width} pixels)`, async () => {
    const viewport = { width, height: 900 };
    await onCopy({ hash: view, viewport }, async (page, { context }) => {
      let send;
      const asked = new Promise((resolve) => (send = resolve));
      await context.route('**/heads.json', (route) => asked.then(() => route.continue()));
      await page.reload();
      await settled(page);
      await page.evaluate(() => {
        window.tops = [];
        const note = () => {
          const found = ['head', 'draw-map', 'roles', 'measured'].map((id) => {
            const top = document.querySelector(`[data-testid=${id}]`)?.getBoundingClientRect().top;
            return top === undefined ? id : Math.round(top + window.scrollY);
          });
          if (document.querySelector('[data-testid=head]')) window.tops.push(`${found}`);
          requestAnimationFrame(note);
        };
        note();
      });
      send();
      await page.getByTestId('order').waitFor();
      await page.waitForFunction(() => window.tops.length >= 10);
      const tops = await page.evaluate(() => [...new Set(window.tops)]);
      assert.equal(tops.length, 1, tops.join(' '));
      assert.match(tops[0], /^[0-9,]+$/);
    });
  });

test('a link to a part finds it, even if the measurements come late', async () => {
  await onCopy({}, async (page, { context }) => {
    let send;
    const asked = new Promise((resolve) => (send = resolve));
    await context.route('**/heads.json', (route) => asked.then(() => route.continue()));
    // Not reloaded: the page takes the part out of its address as soon as it is ready.
    const { origin } = new URL(page.url());
    await page.goto('about:blank');
    await page.goto(`${origin}/#part=circuits`);
    await settled(page);
    assert.equal(await page.getByTestId('head').count(), 0);
    await frames(page, 20); // in which a part could be looked for too early
    send();
    await page.locator('[data-part=circuits]:focus').waitFor();
  });
});
