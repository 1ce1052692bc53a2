// The film of a text: it plays, stops and steps, shows the numbers of the run, and leaves as a file.
import assert from 'node:assert/strict';
import { testsOnPage } from '../../../../../../tests/page/on_page.mjs';
import {
  assertAccessibleToAll,
  assertFits,
  savedBy,
  settled,
} from '../../../../../../tests/page/open.mjs';

const onPage = testsOnPage();

const button = (page) => page.getByTestId('film-open');
const film = (page) => page.getByTestId('film');
const caption = (page) => page.getByTestId('film-caption');
const shot = (page) => film(page).locator('[data-shot]');

/** Opens the film of the view's text. */
async function open(page, reducedMotion = 'no-preference') {
  await page.emulateMedia({ reducedMotion });
  await settled(page);
  await page.getByRole('button', { name: /^Follow the (text|picture) through/ }).click();
  await button(page).click();
  await shot(page).waitFor();
}

/** Steps on until the caption says this. */
async function stepTo(page, wanted, steps = 70) {
  for (let i = 0; i < steps; i++) {
    if (wanted.test(await caption(page).textContent())) return;
    const before = await shot(page).getAttribute('data-shot');
    await page.keyboard.press('ArrowRight');
    await film(page).locator(`[data-shot]:not([data-shot="${before}"])`).waitFor();
  }
  assert.fail(`no ${wanted}`);
}

/** The number of colors in the film's picture. */
const colorsOf = (page) =>
  page.getByTestId('film-canvas').evaluate((canvas) => {
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    return new Set(new Uint32Array(data.buffer)).size;
  });

onPage('the film plays, stops with the space bar, steps and closes', {}, async (page) => {
  await open(page);
  await film(page).getByRole('button', { name: 'Pause' }).waitFor();
  await film(page).locator('[data-shot="1"]').waitFor();
  await page.keyboard.press(' ');
  await film(page).getByRole('button', { name: 'Play' }).waitFor();
  assert.equal(await caption(page).getAttribute('aria-live'), 'polite');
  await page.keyboard.press(' ');
  await film(page).getByRole('button', { name: 'Pause' }).waitFor();
  assert.equal(await caption(page).getAttribute('aria-live'), 'off');
  await page.keyboard.press('Home');
  await film(page).getByRole('button', { name: 'Play' }).waitFor();
  await stepTo(page, /^Tokens\. The text is cut into 7 tokens/);
  await stepTo(page, /^Layer 1 of 4 · Multi-head attention\./);
  assert.match(
    await caption(page).textContent(),
    /In head \d, “\w+” gives \d+\.\d% of its attention to “\w+”\./,
  );
  await page.getByRole('button', { name: 'Step back' }).click();
  await page.waitForFunction(() =>
    /^Layer 1 of 4 · Norm\./.test(
      document.querySelector('[data-testid=film-caption]').textContent.trim(),
    ),
  );
  await page.keyboard.press('End');
  await page.getByRole('button', { name: 'Again' }).waitFor();
  assert.match(await caption(page).textContent(), /^The answer\. positive, 9\d\.\d%/);
  await page.keyboard.press('Escape');
  await film(page).waitFor({ state: 'detached' });
  assert.ok(await button(page).evaluate((each) => each === document.activeElement));
});

onPage('it can be used by everybody', {}, async (page) => {
  await open(page, 'reduce');
  await stepTo(page, /Multi-head attention/);
  assert.ok((await colorsOf(page)) > 100);
  await assertAccessibleToAll(page, 'film');
});

for (const width of [320, 390])
  onPage(
    `its controls fit a window of ${width} pixels, and a finger`,
    { viewport: { width, height: 640 } },
    async (page) => {
      await open(page, 'reduce');
      await assertFits(page, 'film');
      for (const control of await film(page).locator('button, select, input').all()) {
        const box = await control.boundingBox();
        const what = await control.evaluate((each) => each.outerHTML);
        assert.ok(box.width >= 24 && box.height >= 24, what);
        assert.ok(box.x >= 0 && box.x + box.width <= width, what);
        assert.ok(box.y >= 0 && box.y + box.height <= 640, what);
      }
    },
  );

onPage('with reduced motion it stands still and is stepped by hand', {}, async (page) => {
  await open(page, 'reduce');
  assert.equal(
    await film(page)
      .getByRole('button', { name: /^(Play|Pause|Again)$/ })
      .count(),
    0,
  );
  const place = page.getByRole('slider', { name: 'Place in the film' });
  const before = await place.inputValue();
  await page.keyboard.press(' ');
  await stepTo(page, /^Embedding/);
  const still = await place.inputValue();
  assert.ok(Number(still) > Number(before));
  await page.getByRole('button', { name: 'Step back' }).click();
  await stepTo(page, /^Embedding/);
  assert.equal(await place.inputValue(), still);
});

/** Saves the part that is on the screen. */
async function savedPart(page, kind) {
  await film(page).getByRole('combobox', { name: 'What to save' }).selectOption({ index: 1 });
  return savedBy(page, film(page).getByRole('button', { name: `Save as ${kind}` }));
}

onPage('it is saved as a GIF and as a WebM video', {}, async (page) => {
  await open(page, 'reduce');
  await stepTo(page, /Layer 2 of 4 · Multi-head attention/);
  const gif = await savedPart(page, 'GIF');
  assert.equal(gif.subarray(0, 6).toString(), 'GIF89a');
  assert.deepEqual([gif.readUInt16LE(6), gif.readUInt16LE(8)], [640, 360]);
  assert.equal(gif.at(-1), 0x3b);
  assert.ok(gif.length > 10_000, `${gif.length}`);
  // The same numbers give the same file.
  const again = await savedPart(page, 'GIF');
  assert.ok(again.equals(gif));
  const webm = await savedPart(page, 'WebM');
  assert.deepEqual([...webm.subarray(0, 4)], [0x1a, 0x45, 0xdf, 0xa3]);
  assert.ok(webm.length > 10_000, `${webm.length}`);
  // With its duration: 2.4 seconds.
  const place = webm.indexOf(Buffer.from([0x44, 0x89, 0x88]));
  assert.ok(place > 0 && place < 200, `${place}`);
  assert.equal(webm.readDoubleBE(place + 3), 2400);
});

onPage('saving can be cancelled, and says why it cannot', {}, async (page) => {
  await open(page, 'reduce');
  await film(page).getByRole('button', { name: 'Save as GIF' }).click();
  await film(page).getByRole('progressbar').waitFor();
  await film(page).getByRole('button', { name: 'Cancel' }).click();
  await film(page).getByRole('button', { name: 'Save as GIF' }).waitFor();
  await page.keyboard.press('Escape');
  await film(page).waitFor({ state: 'detached' });
  await page.evaluate(() => delete window.MediaRecorder);
  await button(page).click();
  await film(page).getByText('can’t record WebM').waitFor();
  assert.equal(await film(page).getByRole('button', { name: 'Save as WebM' }).count(), 0);
});

for (const [view, last] of [
  ['translation', /^The answer\. Ein Mann/],
  ['writing', /^The answer\. \S+, \d+\.\d%/],
  ['digits', /^The answer\. 3, 9\d\.\d%/],
])
  onPage(`a film of ${view}`, { hash: `#view=${view}` }, async (page) => {
    await open(page, 'reduce');
    await stepTo(page, /(Tokens|Patches)\./);
    await stepTo(page, /attention\. .*gives \d+\.\d% of its attention to/i);
    assert.ok((await colorsOf(page)) > 100);
    await page.keyboard.press('End');
    await page.waitForFunction(() =>
      /^The answer/.test(document.querySelector('[data-testid=film-caption]').textContent.trim()),
    );
    assert.match((await caption(page).textContent()).trim(), last);
  });
