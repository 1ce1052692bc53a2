// The figure above a view: shapes of the run, the way of the text through it, files, and the parts for
// researchers in the menu.
import assert from 'node:assert/strict';
import { testsOnPage } from '../on_page.mjs';
import { assertAccessibleToAll, goTo, savedBy, settled } from '../open.mjs';

const onPage = testsOnPage();

const figure = (page) => page.getByTestId('figure');
const slider = (page) => page.getByRole('slider', { name: 'Part of the model' });

async function follow(page) {
  await settled(page);
  await page.getByRole('button', { name: 'Follow the text through' }).click();
  await slider(page).waitFor();
}

onPage('boxes show the shapes of the run, and mark where the view is', {}, async (page) => {
  await settled(page);
  const text = await figure(page).innerText();
  for (const shape of ['7 × 128', '8 × 7 × 7', '7 × 512']) assert.ok(text.includes(shape), shape);
  assert.match(text, /Layer 1 of 4/);
  assert.match(text, /positive 9\d/);
  assert.match(text, /Pre-norm/);
  const marked = figure(page).locator('[aria-current=location]');
  assert.deepEqual(await marked.allInnerTexts(), ['Multi-head attention\n8 × 7 × 7']);
  await page.getByTestId('head').nth(17).click();
  await figure(page).getByText('Layer 3 of 4').waitFor();
});

onPage('the text passes through the figure, part by part, with its numbers', {}, async (page) => {
  await follow(page);
  await slider(page).fill('4');
  const player = page.getByTestId('figure-player');
  await player.getByText('8 × 7 × 7').waitFor();
  assert.match(await player.innerText(), /Layer 1\s+Multi-head attention/);
  assert.equal(await player.getByRole('img').count(), 8);
  await page.getByRole('button', { name: 'On', exact: true }).click();
  await player.getByText('The residual connection').waitFor();
  const bytes = await savedBy(page, player.getByRole('button', { name: /safetensors/ }));
  const header = JSON.parse(bytes.subarray(8, 8 + Number(bytes.readBigUInt64LE())).toString());
  assert.deepEqual(header['encoder.layers.3.self_attn.weights'].shape, [8, 7, 7]);
  const names = JSON.parse(header.__metadata__.transformer_lens);
  assert.equal(names['encoder.layers.3.self_attn.weights'], 'blocks.3.attn.hook_pattern');
  assert.equal(header.__metadata__.text, 'A gripping, beautifully shot film.');
  await assertAccessibleToAll(page, 'figure');
  await player.getByRole('button', { name: 'Close' }).click();
  assert.equal(await slider(page).count(), 0);
});

onPage('it plays to its end, but not with reduced motion', {}, async (page) => {
  await page.emulateMedia({ reducedMotion: 'no-preference' });
  await follow(page);
  await page.getByRole('button', { name: 'Pause' }).waitFor();
  await page.waitForFunction(() => Number(document.querySelector('input[type=range]').value) > 1);
  await page.getByRole('button', { name: 'Close' }).click();
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await follow(page);
  assert.equal(await page.getByRole('button', { name: /Play|Pause/ }).count(), 0);
});

onPage('the menu opens the parts for researchers', {}, async (page) => {
  await settled(page);
  await goTo(page, 'Transplant');
  await page.getByTestId('transplant').waitFor();
  await goTo(page, 'Ledger');
  await page.getByTestId('ledger-sum').waitFor();
  for (const [name, part] of [
    ['Methods', 'methods'],
    ['Circuits', 'circuits'],
  ]) {
    await goTo(page, name);
    await page.waitForFunction(
      (wanted) => document.activeElement?.getAttribute('data-part') === wanted,
      part,
    );
  }
});

onPage('a text that was typed follows into the other views', {}, async (page) => {
  await settled(page);
  await page.getByTestId('input').fill('What a lovely day.');
  await settled(page);
  await goTo(page, 'Inside');
  await page.getByTestId('inside-text').waitFor();
  assert.equal(await page.getByTestId('inside-text').inputValue(), 'What a lovely day.');
  await goTo(page, 'Course');
  await page.locator('#course-text').waitFor();
  assert.equal(await page.locator('#course-text').inputValue(), 'What a lovely day.');
});
