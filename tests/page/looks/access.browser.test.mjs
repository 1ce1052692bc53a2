// Accessibility with a keyboard, a screen reader or a finger: a way past the masthead, a heading per
// view, names that are announced once, large targets, and nothing that is announced twice.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { viewTable } from '../source.mjs';
import { testsOnPage } from '../on_page.mjs';
import { goTo, read, root, settled } from '../open.mjs';

const onPage = testsOnPage();

const views = await viewTable();

/** Opens all parts of a view that open on request, as its test/open_all.mjs says. */
async function openAll(page, { name }) {
  const own = join(root, 'web/src/views', name, 'test/open_all.mjs');
  if (existsSync(own)) await (await import(own)).openAll(page);
  await settled(page);
  await page.waitForFunction(() => document.querySelectorAll('main [aria-busy=true]').length === 0);
}

onPage('the first tab stop skips the masthead', {}, async (page) => {
  for (const { hash, title } of views) {
    if (hash) {
      await goTo(page, title);
      await page.locator('[data-testid=view-title]', { hasText: title }).waitFor();
      await settled(page).catch(() => undefined);
    }
    await page.evaluate(() => {
      document.activeElement.blur();
      getSelection().removeAllRanges();
      document.body.focus();
    });
    // Starts at the top of the page.
    await page.locator('.skip').evaluate((link) => link.focus());
    assert.equal(await page.evaluate(() => document.activeElement.textContent), 'Skip to the text');
    await page.keyboard.press('Enter');
    const there = await page.evaluate(() => ({
      inMain: document.querySelector('main').contains(document.activeElement),
      box: document.activeElement.tagName,
      boxes: document.querySelectorAll('main textarea').length,
    }));
    assert.ok(there.inMain, title);
    if (there.boxes > 0) assert.equal(there.box, 'TEXTAREA', title);
    assert.doesNotMatch(page.url(), /#view-title/);
  }
});

onPage('the skip link is the first tab stop, and visible when focused', {}, async (page) => {
  await page.keyboard.press('Tab');
  const skip = page.locator('.skip');
  assert.ok(await skip.evaluate((link) => link === document.activeElement));
  const box = await skip.boundingBox();
  assert.ok(box.y >= 0 && box.height >= 24, JSON.stringify(box));
});

onPage('each view has a heading, which gets the focus when the view changes', {}, async (page) => {
  for (const { title } of [...views.slice(1), views[0]]) {
    await goTo(page, title);
    const heading = page
      .locator('main')
      .getByRole('heading', { level: 2, name: title, exact: true });
    await heading.waitFor();
    await page.waitForFunction((name) => document.activeElement.textContent === name, title);
    assert.ok(await heading.evaluate((each) => each === document.activeElement), title);
  }
  await page.goBack();
  await page.waitForFunction(
    (name) => document.activeElement.textContent === name,
    views.at(-1).title,
  );
});

for (const view of views)
  onPage(`no name is announced twice: ${view.title}`, { hash: view.hash }, async (page) => {
    await openAll(page, view);
    const session = await page.context().newCDPSession(page);
    const { nodes } = await session.send('Accessibility.getFullAXTree');
    const twice = [];
    for (const { ignored, role, name, description } of nodes) {
      if (ignored || !name?.value || /StaticText|InlineTextBox/.test(role?.value)) continue;
      // Only names from attributes; names from contents may repeat words of a text.
      const made = name.sources?.some(({ type, superseded, value }) => type === 'attribute' && value && !superseded); // prettier-ignore
      if (made && /\b(\p{L}{2,})[\s,.;:]+\1\b/iu.test(name.value))
        twice.push(`${role.value}: ${name.value}`);
      if (description?.value && description.value === name.value)
        twice.push(`${role.value}, described as it is named: ${name.value}`);
    }
    assert.deepEqual([...new Set(twice)].slice(0, 12), []);
  });

/** The minimum size of a target: WCAG 2.2, 2.5.8. */
const target = 24;
for (const view of views)
  onPage(
    `targets are large enough for a finger: ${view.title}`,
    { hash: view.hash, viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true },
    async (page) => {
      await openAll(page, view);
      const small = await page.evaluate((least) => {
        const wanted =
          'a[href], button, select, textarea, summary, input:not([hidden]), [role=slider], [role=gridcell], [role=button]';
        const found = [];
        for (const element of document.querySelectorAll(wanted)) {
          // Pressing a label presses its input.
          const own = element.closest('label') ?? element;
          const style = getComputedStyle(element);
          if (
            !element.checkVisibility({ checkVisibilityCSS: true }) ||
            style.pointerEvents === 'none'
          )
            continue;
          if (element.classList.contains('skip')) continue;
          // WCAG excepts links within a sentence.
          if (element.matches('p a, li a, .quiet a') && style.display === 'inline') continue;
          const box = own.getBoundingClientRect();
          if (box.width === 0 || box.height === 0) continue;
          if (box.width < least - 0.5 || box.height < least - 0.5)
            found.push(
              `${element.tagName} ${element.dataset.testid ?? element.className}: “${element.textContent.trim().slice(0, 20)}” ${box.width.toFixed(0)} × ${box.height.toFixed(0)}`,
            );
        }
        return found;
      }, target);
      assert.deepEqual([...new Set(small)].slice(0, 30), [], `${small.length} in all`);
    },
  );

/** Counts the changes of each live region during `act`. */
async function announced(page, act) {
  await page.evaluate(() => {
    window.announcements = new Map();
    const live = '[role=status], [role=alert], [role=log], [aria-live=polite], [aria-live=assertive], output'; // prettier-ignore
    new MutationObserver((records) => {
      const regions = new Set(
        records
          .map(({ target: at }) => (at instanceof Element ? at : at.parentElement)?.closest(live))
          .filter((region) => region && !region.closest('[aria-hidden=true]')),
      );
      for (const region of regions) {
        const name = `${region.tagName} ${region.dataset.testid ?? region.className}`;
        const { text, count } = window.announcements.get(name) ?? { count: 0 };
        if (text !== region.textContent)
          window.announcements.set(name, { text: region.textContent, count: count + 1 });
      }
    }).observe(document.querySelector('main'), {
      ...{ subtree: true, childList: true, characterData: true },
    });
  });
  await act();
  return page.evaluate(() => [...window.announcements].map(([name, { count }]) => [name, count]));
}

onPage('writing does not announce every token again', { hash: '#view=writing' }, async (page) => {
  await page.getByRole('button', { name: 'Read every layer' }).click();
  await page.getByTestId('next-so-far').last().waitFor();
  const told = await announced(page, async () => {
    await page.getByRole('button', { name: 'A list' }).click();
    await page.getByTestId('temperature').fill('0');
    await settled(page);
    await page.getByTestId('play').click();
    await page.getByTestId('token').nth(16).waitFor();
    await page.getByTestId('play').click();
    await page.getByTestId('finish').click();
    await page.getByText('can read no more').waitFor();
    await settled(page);
  });
  for (const [name, count] of told) assert.ok(count <= 6, `${name}: ${count} times`);
});

onPage(
  'a growing translation is not announced at every token',
  { hash: '#view=translation' },
  async (page) => {
    const told = await announced(page, async () => {
      await read(
        page,
        'Two children are playing in the snow. It is cold. They want to go home. '.repeat(4),
      );
      assert.ok((await page.getByTestId('target').textContent()).length > 200);
    });
    for (const [name, count] of told) assert.ok(count <= 6, `${name}: ${count} times`);
  },
);
