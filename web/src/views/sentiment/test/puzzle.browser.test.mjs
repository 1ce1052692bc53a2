// The puzzle of the day: its text is put into the box, and the fewest letters that turn the verdict are
// counted.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testsOnPage } from '../../../../../tests/page/on_page.mjs';
import {
  assertAccessible,
  assertFitsAt,
  faded,
  read,
  until,
} from '../../../../../tests/page/open.mjs';
import { source } from '../../../../../tests/page/source.mjs';

const { dateOf, lettersBetween, textOf } = await source('views/sentiment/puzzle/puzzle');
const { probes } = await source('panels/verdict/probes');

const onPage = testsOnPage();

test('letters between texts are counted, and each day has its text', () => {
  assert.equal(lettersBetween('kitten', 'sitting'), 3);
  assert.equal(lettersBetween('', 'abc'), 3);
  assert.equal(lettersBetween(' good ', 'good'), 0);
  assert.equal(lettersBetween('schön', 'schon'), 1);
  assert.equal(dateOf(new Date(2026, 0, 5, 23, 59)), '2026-01-05');
  assert.notEqual(textOf('2026-11-30'), textOf('2026-12-01'));
  const month = Array.from({ length: 30 }, (_, i) =>
    textOf(`2026-06-${`${i + 1}`.padStart(2, '0')}`),
  );
  assert.deepEqual(new Set(month), new Set(probes));
});

onPage('the puzzle counts the fewest letters that turn the verdict', {}, async (page) => {
  // Its button is part of the desk, not under what follows it.
  const [button, desk] = await Promise.all(
    [page.getByTestId('puzzle'), page.locator('section.desk')].map((each) => each.boundingBox()),
  );
  assert.ok(button.y + button.height <= desk.y + desk.height, JSON.stringify({ button, desk }));
  await page.getByTestId('puzzle').click();
  const input = page.getByTestId('input');
  const text = textOf(dateOf(new Date()));
  await until(
    page,
    () => input.inputValue(),
    (value) => value === text,
  );
  await page.getByText('with as few letters as you can: 0 letters changed').waitFor();
  const before = await page.getByTestId('verdict').textContent();
  const turned = before === 'positive' ? 'A terrible, awful waste.' : 'A wonderful, superb joy.';
  await read(page, turned);
  const best = page.getByTestId('puzzle-best');
  const letters = lettersBetween(text, turned);
  await best.filter({ hasText: `${letters} letters` }).waitFor();
  // The best counts, not the last.
  const longer = `${turned} ${turned} ${turned} ${turned} ${turned}`;
  assert.ok(lettersBetween(text, longer) > letters);
  await read(page, longer);
  assert.equal(await best.textContent(), `${letters} letters`);
  await faded(page);
  await assertAccessible(page);
  await assertFitsAt(page, [320, 1280]);
  await page.getByRole('button', { name: 'Start again' }).click();
  await until(
    page,
    () => input.inputValue(),
    (value) => value === text,
  );
  await page.getByRole('button', { name: 'End the puzzle' }).click();
  await page.getByTestId('puzzle').waitFor();
});
