// A newcomer sees the answer, one picture and one thing to press. All else is one press away.
import assert from 'node:assert/strict';
import { testsOnPage } from '../on_page.mjs';
import { assertAccessibleToAll, assertFits, goTo, settled, until } from '../open.mjs';

const onPage = testsOnPage();

/**
 * Counts the visible controls and words of the view, without the masthead and the footer. Words for
 * screen readers only, options of a list and the copy behind a text box are not visible.
 */
const counts = (page) =>
  page.evaluate(() => {
    const main = document.querySelector('main');
    const wanted =
      'a[href], button, select, textarea, input, summary, [role=slider], [role=button]';
    const seen = (selector) =>
      [...main.querySelectorAll(selector)].filter((each) => each.checkVisibility());
    const words = (element) => element.innerText.split(/\s+/).filter(Boolean).length;
    const unseen = seen('.unseen, select, [data-testid=source]').reduce(
      (sum, each) => sum + words(each),
      0,
    );
    return { controls: seen(wanted).length, words: words(main) - unseen };
  });

for (const [title, most] of Object.entries({
  Sentiment: { controls: 40, words: 155 },
  Translation: { controls: 40, words: 160 },
  Writing: { controls: 40, words: 155 },
  Course: { controls: 40, words: 195 }, // the tokens of the picture, and a question with its choices
  Heads: { controls: 40, words: 150 },
  Digits: { controls: 140, words: 150 }, // 98 of them are patches of pictures
  Transplant: { controls: 42, words: 200 }, // 30 of them are cells of the table
  Inside: { controls: 40, words: 170 }, // 50 of them are tokens, numbers and a formula
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
  'Inside opens with attention weights, and its other steps when asked',
  { newcomer: true },
  async (page) => {
    await goTo(page, 'Inside');
    const panes = page.getByTestId('pane');
    await panes.first().waitFor();
    assert.equal(await panes.count(), 1);
    const folded = page.getByTestId('steps');
    assert.equal(await folded.count(), 4, 'into the model, attention, feed-forward, out');
    await folded.nth(2).click();
    assert.equal(await folded.count(), 3);
    const more = await panes.count();
    assert.ok(more > 1);
    // A part that was opened stays open in every layer.
    await page.locator('input[name=inside-layer][value="2"]').check();
    await settled(page);
    assert.deepEqual([await folded.count(), await panes.count()], [4, more]); // what comes in
    // “Try” unfolds a weight.
    await page.getByTestId('try').click();
    await page.getByTestId('unfolded').waitFor();
    // A part of the figure leads to a step that is folded.
    await page.getByTestId('figure').getByText('Positional encoding').click();
    await page.getByText('Add the positional encoding', { exact: true }).waitFor();
    assert.equal(await folded.count(), 0);
  },
);

onPage(
  'the parts of a lesson open when asked',
  { newcomer: true, hash: '#view=course&lesson=softmax' },
  async (page) => {
    await page.getByTestId('picture').waitFor();
    for (const [button, part] of [
      ['all-lessons', 'lessons'],
      ['show-formula', 'formula'],
      ['show-code', 'code'],
    ]) {
      assert.equal(await page.getByTestId(part).count(), 0);
      await page.getByTestId(button).click();
      await page.getByTestId(part).waitFor();
      assert.equal(await page.getByTestId(button).count(), 0);
      // The focus is where the part is.
      await page.locator(`:focus [data-testid=${part}]`).waitFor();
    }
  },
);

onPage(
  'Heads opens with the strongest, and one head alone',
  { newcomer: true, hash: '#view=heads' },
  async (page) => {
    const cards = page.getByTestId('card');
    await cards.nth(7).waitFor();
    assert.equal(await cards.count(), 8);
    await page.getByTestId('all-cards').click();
    await cards.nth(31).waitFor();
    await page.getByTestId('try').click();
    await page.getByTestId('one-head').waitFor();
    assert.equal(await cards.count(), 0);
    await page.getByRole('link', { name: 'All heads' }).click();
    await cards.nth(31).waitFor();
  },
);
