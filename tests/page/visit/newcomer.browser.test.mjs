// A newcomer sees the answer, one picture and one thing to press. All else is one press away.
import assert from 'node:assert/strict';
import { testsOnPage } from '../on_page.mjs';
import { assertAccessibleToAll, assertFits, goTo, settled, until } from '../open.mjs';

const onPage = testsOnPage();

/** Counts the visible controls and words of the view, without the masthead and the footer. */
const counts = (page) =>
  page.evaluate(() => {
    const main = document.querySelector('main');
    const wanted =
      'a[href], button, select, textarea, input, summary, [role=slider], [role=button]';
    const controls = [...main.querySelectorAll(wanted)].filter((each) => each.checkVisibility());
    return { controls: controls.length, words: main.innerText.split(/\s+/).length };
  });

for (const [title, most] of Object.entries({
  Sentiment: { controls: 40, words: 200 },
  Translation: { controls: 40, words: 220 },
  Writing: { controls: 40, words: 240 },
  Digits: { controls: 140, words: 150 }, // 98 of them are patches of pictures
  Transplant: { controls: 42, words: 200 }, // 30 of them are cells of the table
  Inside: { controls: 85, words: 700 }, // the steps of attention, with their formulas and numbers
})) {
  for (const viewport of [
    { width: 1280, height: 800 },
    { width: 390, height: 844 },
  ]) {
    onPage(
      `${title} opens with little at ${viewport.width}`,
      { newcomer: true, viewport },
      async (page) => {
        if (title !== 'Sentiment') await goTo(page, title);
        await settled(page);
        const found = await until(
          page,
          () => counts(page),
          ({ words }) => words > 40,
        );
        assert.ok(found.controls <= most.controls, JSON.stringify(found));
        assert.ok(found.words <= most.words, JSON.stringify(found));
        await assertFits(page);
        // Nothing is removed.
        await page.getByTestId('details').click();
        await until(
          page,
          () => counts(page),
          ({ controls }) => controls > found.controls,
        );
        await page.getByTestId('details').click();
        await until(
          page,
          () => counts(page),
          ({ controls }) => controls <= most.controls,
        );
      },
    );
  }
}

onPage('the head that a newcomer sees is the strongest', { newcomer: true }, async (page) => {
  await settled(page);
  const title = page.locator('#head-title');
  await title.filter({ hasText: 'Layer 4, head 3' }).waitFor();
  await page.getByText('The verdict depends on this head most: effect ').waitFor();
  // The choice of all details is kept.
  await page.getByTestId('all-heads').click();
  await page.getByTestId('head').nth(31).waitFor();
  await page.reload();
  await page.getByTestId('head').nth(31).waitFor();
});

onPage(
  'a link to a part shows it to a newcomer',
  { newcomer: true, hash: '#part=circuits' },
  async (page) => {
    await page.getByTestId('circuit-told').waitFor();
  },
);

onPage('axe finds no violations in what a newcomer sees', { newcomer: true }, async (page) => {
  await settled(page);
  await page.getByTestId('all-heads').waitFor();
  await assertAccessibleToAll(page);
});

onPage(
  'Inside opens with attention, and its other steps when asked',
  { newcomer: true },
  async (page) => {
    await goTo(page, 'Inside');
    const panes = page.getByTestId('pane');
    await panes.first().waitFor();
    const few = await panes.count();
    const folded = page.getByTestId('steps');
    assert.equal(await folded.count(), 3, 'into the model, feed-forward, out of the model');
    await folded.nth(1).click();
    assert.equal(await folded.count(), 2);
    const more = await panes.count();
    assert.ok(more > few);
    // A part that was opened stays open in every layer.
    await page.locator('input[name=inside-layer][value="2"]').check();
    await settled(page);
    assert.deepEqual([await folded.count(), await panes.count()], [2, more + 1]); // what comes in
    // A part of the figure leads to a step that is folded.
    await page.getByTestId('figure').getByText('Positional encoding').click();
    await page.getByText('Add the positional encoding', { exact: true }).waitFor();
    assert.equal(await folded.count(), 0);
  },
);
