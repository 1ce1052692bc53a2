// The page on a phone, in the dark theme, with a keyboard and with a screen reader.
import assert from 'node:assert/strict';
import { testsOnPage } from '../on_page.mjs';
import {
  assertAccessibleToAll,
  assertFits,
  assertFitsAt,
  emulate,
  openMenu,
  read,
  settled,
} from '../open.mjs';

const onPage = testsOnPage();

const background = (page) =>
  page.evaluate(() => getComputedStyle(document.body).backgroundColor.match(/\d+/g).map(Number));

onPage('nothing scrolls sideways', {}, async (page) => {
  for (const text of ['Meh.', 'good, not bad; '.repeat(300), 'x'.repeat(400), '']) {
    await read(page, text);
    await assertFitsAt(page, [320, 360, 390, 768, 1280], `with ${text.slice(0, 12)}`);
  }
});

onPage(
  'the theme follows the system, then the reader, and is remembered',
  { colorScheme: 'dark' },
  async (page) => {
    const dark = await background(page);
    assert.ok(Math.max(...dark) < 60, `${dark}`);
    await openMenu(page);
    await page.getByRole('button', { name: 'Use the light theme' }).click();
    const light = await background(page);
    assert.ok(Math.min(...light) > 200, `${light}`);
    await page.reload();
    await settled(page);
    assert.deepEqual(await background(page), light);
  },
);

onPage('colors of the heat map are ordered by weight in both themes', {}, async (page) => {
  await read(page, 'not good at all');
  for (const scheme of ['light', 'dark']) {
    await emulate(page, { colorScheme: scheme });
    const cells = await page.locator('[data-testid=heatmap] [data-value]').evaluateAll((list) =>
      list.map((cell) => {
        const [r, g, b] = cell.getAttribute('fill').match(/\d+/g).map(Number);
        return { value: Number(cell.dataset.value), light: 0.21 * r + 0.72 * g + 0.07 * b };
      }),
    );
    cells.sort((a, b) => a.value - b.value);
    const sign = scheme === 'light' ? -1 : 1;
    for (let i = 1; i < cells.length; i++) {
      assert.ok(sign * (cells[i].light - cells[i - 1].light) > -1.5, `${scheme} ${i}`);
    }
  }
});

onPage('everything can be reached and used with the keyboard', {}, async (page) => {
  await read(page, 'not good');
  await page.getByTestId('input').focus();
  const reached = new Set();
  for (let i = 0; i < 40; i++) {
    await page.keyboard.press('Tab');
    reached.add(
      await page.evaluate(() => {
        const { testid } = document.activeElement.dataset;
        return testid ?? (document.activeElement.textContent.trim() || document.activeElement.type);
      }),
    );
  }
  for (const what of [
    'Praise',
    'token',
    'layer-switch',
    'head',
    'head-switch',
    'ablate',
    'heatmap',
    'weigh',
    'Hide it',
    'radio',
  ]) {
    assert.ok(reached.has(what), `${what} among ${[...reached]}`);
  }
});

onPage('axe finds no violations', {}, async (page) => {
  await read(page, 'A great cast, but the script is dreadful.');
  await page.getByTestId('token').nth(1).click();
  await page.getByTestId('head-switch').nth(4).click();
  await page.getByRole('button', { name: 'Weigh every head' }).click();
  await page.getByTestId('effect').nth(30).waitFor();
  await settled(page);
  await assertAccessibleToAll(page);
  await page.getByTestId('draw-table').check();
  await page.getByTestId('table').waitFor();
  await assertAccessibleToAll(page);
});

onPage(
  'there is no motion if the reader prefers reduced motion',
  { reducedMotion: 'reduce' },
  async (page) => {
    const moving = await page.evaluate(
      () =>
        [...document.querySelectorAll('*')].filter(
          (element) => parseFloat(getComputedStyle(element).transitionDuration) > 0,
        ).length,
    );
    assert.equal(moving, 0);
  },
);

// Forced colors replace those of the page. Distinctions must not depend on the page's colors.
onPage('switches, choices and scales are visible with forced colors', {}, async (page) => {
  await read(page, 'A great cast, but the script is dreadful.');
  await page.getByTestId('head-switch').nth(4).click();
  await settled(page);
  await page.locator('[role=toolbar][aria-busy=false]').waitFor();
  await page.emulateMedia({ forcedColors: 'active' });
  const style = (selector, property) =>
    page
      .locator(selector)
      .evaluateAll((list, name) => list.map((one) => getComputedStyle(one)[name]), property);
  const canvas = await page.evaluate(() => {
    document.body.insertAdjacentHTML('beforeend', '<i id="canvas"></i>');
    const probe = document.getElementById('canvas');
    probe.style.setProperty('background-color', 'Canvas');
    const color = getComputedStyle(probe).backgroundColor;
    probe.remove();
    return color;
  });

  const switches = await style('[data-testid=head-switch] i', 'backgroundColor');
  assert.equal(switches[4], canvas);
  assert.ok(switches.every((color, i) => i === 4 || color !== canvas));

  const heads = await style('[data-testid=head]', 'outlineWidth');
  assert.notEqual(heads[0], heads[1]);
  const nav = await style('nav a', 'borderBottomColor');
  assert.notEqual(nav[0], nav[1]);
  assert.equal(nav[1], canvas);

  for (const scale of ['.tube span', '.legend i', '[data-testid=token]']) {
    const colors = new Set(await style(scale, 'backgroundColor'));
    assert.ok(colors.size > 1, `${scale}: ${[...colors]}`);
  }
});

onPage('print is light, without controls', { colorScheme: 'dark' }, async (page) => {
  await read(page, 'A great cast, but the script is dreadful.');
  await emulate(page, { media: 'print' }, 'light');
  for (const what of [
    'nav',
    'footer',
    '[data-testid=head-switch]',
    '.examples',
    '[aria-pressed].boxed',
  ])
    assert.equal(await page.locator(what).first().isVisible(), false, what);
  for (const what of ['verdict', 'token', 'head', 'heatmap'])
    assert.equal(await page.getByTestId(what).first().isVisible(), true, what);
  assert.ok(Math.min(...(await background(page))) > 200);
  await page.setViewportSize({ width: 680, height: 960 });
  await assertFits(page);
});

for (const [width, height, name, index] of [
  [1280, 900, 'head', 8],
  [390, 844, 'verdict', 0],
]) {
  onPage(
    `the ${name} is in sight at first at ${width} pixels`,
    { viewport: { width, height } },
    async (page) => {
      assert.ok(await page.getByTestId('figure').isVisible());
      const box = await page.getByTestId(name).nth(index).boundingBox();
      assert.ok(box.y + box.height < height, `it ends at ${box.y + box.height}`);
    },
  );
}

onPage('the heads stay visible while a long heat map scrolls', {}, async (page) => {
  await read(page, 'good, not bad; '.repeat(40));
  await page.mouse.wheel(0, 900);
  await page.waitForFunction(() => window.scrollY > 500);
  const box = await page.getByTestId('head').first().boundingBox();
  assert.ok(box.y > 0 && box.y < 450, `${box.y}`);
});
