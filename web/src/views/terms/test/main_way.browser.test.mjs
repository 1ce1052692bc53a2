// The main way through the view Terms: one key opens the search, and its first result the place.
import assert from 'node:assert/strict';
import { mainWay } from '../../../../../tests/page/on_page.mjs';
import { settled } from '../../../../../tests/page/open.mjs';

mainWay('a term is found and seen live', '', async (page) => {
  await settled(page);
  await page.keyboard.press('/');
  const query = page.getByTestId('query');
  await query.and(page.locator(':focus')).waitFor();
  assert.ok((await page.getByTestId('term').count()) > 80);
  await page.keyboard.type('teacher forcing');
  const first = page.getByTestId('term').first();
  await first.filter({ hasText: 'teacher forcing' }).waitFor();
  await page.keyboard.press('Enter');
  await page
    .getByTestId('question')
    .filter({ hasText: /decoder/i })
    .waitFor();
  await page.goBack();
  await query.waitFor();
  await page.waitForURL(/view=terms/);
  // A lesson and a view are found, too.
  await query.fill('softmax');
  await page.getByTestId('term').filter({ hasText: 'Open lesson 5' }).waitFor();
  await query.fill('benchmark nothing');
  await page.getByText('Nothing has these words.').waitFor();
});
