// The view Teach in Chromium: real trainings, in the tab.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Classifier, ImageClassifier, load } from '../../../../../dist/index.js';
import { testsOnPage } from '../../../../../tests/page/on_page.mjs';
import {
  assertAccessibleToAll,
  assertFitsAt,
  root,
  savedBy,
  settled,
  until,
} from '../../../../../tests/page/open.mjs';
import { source } from '../../../../../tests/page/source.mjs';
import { openAll } from './open_all.mjs';

const onPage = testsOnPage('#view=teach');

const phase = (page, name) => page.locator(`[data-testid=learning][data-phase=${name}]`).waitFor();
const valueOf = (locator) => locator.getAttribute('data-value').then(Number);

/** Opens the page's lesson of this name. */
async function choose(page, lesson) {
  await page.getByTestId(`lesson-${lesson}`).check();
  await page.locator(`[data-testid=lesson-${lesson}]:checked`).waitFor({ state: 'attached' });
}

/** Returns the files of a zip archive without compression, by name. */
function unzip(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const files = {};
  const end = bytes.lastIndexOf(Buffer.from('PK\x05\x06'));
  let at = view.getUint32(end + 16, true);
  for (let i = 0; i < view.getUint16(end + 10, true); i++) {
    assert.equal(view.getUint16(at + 10, true), 0, 'stored without compression');
    const size = view.getUint32(at + 24, true);
    const [nameSize, more, comment] = [28, 30, 32].map((by) => view.getUint16(at + by, true));
    const name = bytes.toString('utf8', at + 46, at + 46 + nameSize);
    const local = view.getUint32(at + 42, true);
    const start = local + 30 + view.getUint16(local + 26, true) + view.getUint16(local + 28, true);
    files[name] = new Uint8Array(bytes.subarray(start, start + size));
    at += 46 + nameSize + more + comment;
  }
  return files;
}

onPage('sentences that the model gets wrong are learned', {}, async (page) => {
  await openAll(page);
  const { firstSentences } = await rowsOf(page);
  const classifier = await Classifier.load(join(root, 'weights/sentiment'), { compute: 'f32' });
  try {
    for (const [i, { text, wanted, change }] of firstSentences.entries()) {
      const { label, score } = await classifier.classify(text);
      assert.notEqual(label, wanted, `the shipped model gets “${text}” wrong`);
      const [, before, percent, after] = /before: (\w+) ([\d.]+)%; ?after: (\w+)/.exec(change);
      assert.deepEqual([before, after], [label, wanted], `sentence ${i + 1}`);
      assert.ok(Math.abs(Number(percent) - 100 * score) < 0.2, `${percent}, not ${score}`);
    }
  } finally {
    classifier.dispose();
  }
  assert.match(await page.getByTestId('result').innerText(), /gets 5 of 5 sentences right/);
  assert.equal(await page.getByTestId('probe').count(), 30);
});

/** Returns the rows of the first lesson: text, wanted label and what changed. */
async function rowsOf(page) {
  const firstSentences = await page.getByTestId('taught').evaluateAll((rows) =>
    rows.map((row) => ({
      text: row.querySelector('input').value,
      wanted: row.querySelector('select').value,
      change: row.querySelector('[data-testid=change]')?.textContent.replace(/\s+/g, ' ').trim(),
    })),
  );
  return { firstSentences };
}

onPage('sentences are in the link', {}, async (page) => {
  await page.getByLabel('Remove sentence 1').click();
  await page.getByLabel('Sentence 1', { exact: true }).fill('Mind-numbing.');
  await page.getByLabel('Meaning of sentence 1').selectOption('negative');
  await page.waitForFunction(() => location.hash.includes('Mind-numbing'));
  await page.reload();
  assert.equal(await page.getByLabel('Sentence 1', { exact: true }).inputValue(), 'Mind-numbing.');
  assert.equal(await page.getByTestId('taught').count(), 4);
});

onPage(
  'digits that the model misreads are learned, and the folder keeps them',
  {},
  async (page) => {
    await choose(page, 'digits');
    const rows = () =>
      page.getByTestId('taught').evaluateAll((items) =>
        items.map((item) => ({
          label: item.querySelector('select').value,
          change: item
            .querySelector('[data-testid=change]')
            .textContent.replace(/\s+/g, ' ')
            .trim(),
        })),
      );
    const read = await until(
      page,
      rows,
      (all) => all.length === 4 && all.every(({ change }) => change !== ''),
    );
    const classifier = await ImageClassifier.load(join(root, 'weights/digits'), { compute: 'f32' });
    const { pictures, pixelsOf } = await drawnDigits();
    for (const [i, { label, change }] of read.entries()) {
      const verdict = await classifier.classify(pictures[i]);
      assert.notEqual(verdict.label, label, `the shipped model reads drawing ${i + 1} wrong`);
      assert.ok(change.startsWith(`before: ${verdict.label},`), change);
    }
    classifier.dispose();
    await page.getByTestId('teach').click();
    await phase(page, 'done');
    for (const { label, change } of await rows()) {
      assert.equal(/after: (\d),/.exec(change)?.[1], label, change);
    }
    assert.match(await page.getByTestId('result').innerText(), /reads 4 of 4 drawings right/);
    await page.locator('[data-testid=result] summary').click();
    assert.equal(await page.getByTestId('probe').count(), 50);

    const files = unzip(await savedBy(page, page.getByTestId('keep')));
    const model = await load(
      Object.fromEntries(
        Object.entries(files).map(([name, bytes]) => [name.replace('my-digits/', ''), bytes]),
      ),
    );
    assert.equal(model.task, 'image-classification');
    for (const [i, { label }] of read.entries()) {
      assert.equal((await model.classify(pictures[i])).label, label);
    }
    // Your model draws the page's three with it.
    const { strokes } = (await drawnDigits()).examples[3];
    const expected = await model.classify(pixelsOf(strokes));
    model.dispose();
    await page.getByTestId('open-learned').click();
    await page.getByTestId('answer').waitFor();
    await settled(page);
    assert.equal(await page.getByTestId('verdict').innerText(), expected.label);
    assert.ok(Math.abs((await valueOf(page.getByTestId('score'))) - expected.score) < 2e-3);
  },
);

onPage('Digits opens the model that was taught, and returns to its own', {}, async (page) => {
  await choose(page, 'digits');
  await page.getByTestId('teach').click();
  await phase(page, 'done');
  await page.getByTestId('open-digits').click();
  await page.getByText('This is the model that you taught.').waitFor();
  const { firstDrawn } = await source('views/teach/handwriting/drawn');
  const { strokesText } = await source('panels/pictures/drawing');
  const drawing = strokesText(firstDrawn[0].strokes);
  await page.evaluate((text) => (location.hash = `#view=digits&drawing=${text}`), drawing);
  await page.getByTestId('verdict').filter({ hasText: '1' }).waitFor();
  await page.getByTestId('decide').click();
  await page.locator('[data-testid=layer][data-label="1"]').last().waitFor();
  await page.getByRole('button', { name: 'Back to the page’s own' }).click();
  await page.getByTestId('verdict').filter({ hasText: '9' }).waitFor();
});

/** Returns the drawings that the lesson begins with, as pixels. */
async function drawnDigits() {
  const { firstDrawn, pixelsOf } = await source('views/teach/handwriting/drawn');
  const { examples } = await source('panels/pictures/digits');
  const { strokesIn } = await source('panels/pictures/drawing');
  return {
    examples,
    pixelsOf: (strokes) => pixelsOf(strokesIn(strokes)),
    pictures: firstDrawn.map(({ strokes }) => pixelsOf(strokes)),
  };
}

onPage('a digit is drawn, named, added and in the link', {}, async (page) => {
  await choose(page, 'digits');
  await page.getByRole('button', { name: 'Remove all' }).click();
  assert.ok(await page.getByTestId('teach').isDisabled());
  const { x, y, width } = await page.getByTestId('pad').boundingBox();
  await page.mouse.move(x + 0.5 * width, y + 0.15 * width);
  await page.mouse.down();
  for (const at of [0.3, 0.5, 0.7, 0.85]) await page.mouse.move(x + 0.5 * width, y + at * width);
  await page.mouse.up();
  await page.getByText('The model reads 1').waitFor();
  await page.getByLabel('The digit on the pad').selectOption('7');
  await page.getByTestId('add').click();
  // From the keyboard: an example is put on the pad.
  await page.getByRole('button', { name: '4', exact: true }).press('Enter');
  await page.getByText('The model reads 4').waitFor();
  await page.getByTestId('add').press('Enter');
  await page.getByLabel('Digit of drawing 2').selectOption('9');
  await page.waitForFunction(() => /digits=7.*9/.test(decodeURIComponent(location.hash)));
  await page.reload();
  await page.getByTestId('change').last().filter({ hasText: 'before: 4' }).waitFor();
  assert.equal(await page.getByLabel('Digit of drawing 1').inputValue(), '7');
  await page.getByTestId('teach').click();
  await phase(page, 'done');
  assert.match(await page.getByTestId('result').innerText(), /reads 2 of 2 drawings right/);
  // Both models read the pad.
  await page.getByRole('button', { name: '3', exact: true }).click();
  await page.getByText(/The model reads 3.*with your lesson/).waitFor();
});

onPage('a Transformer learns from scratch, and its attention is kept', {}, async (page) => {
  await choose(page, 'spam');
  await page.getByTestId('teach').click();
  await phase(page, 'done');
  const score = /([\d.]+)% of 1,000 messages/.exec(
    await page.getByTestId('test-score').innerText(),
  );
  assert.ok(Number(score[1]) >= 97.5, `${score[1]} % right`);
  const loss = page.getByTestId('loss').locator('path[data-name="held out"]');
  assert.match(await loss.getAttribute('d'), /^M[\d.,L]+$/);
  assert.ok((await page.locator('[data-testid=flow] [data-part]').count()) >= 5);

  const watched = page.getByTestId('watched');
  const last = Number(await watched.getAttribute('data-step'));
  assert.match(await watched.innerText(), /spam, 9\d\.\d%/);
  const slider = page.getByTestId('time');
  assert.ok(Number(await slider.getAttribute('max')) >= 20);
  const weightsOfRow = async () => {
    const cells = page.locator('[data-testid=heatmap] [data-query="0"]');
    return cells.evaluateAll((all) => all.map(({ dataset }) => Number(dataset.value)));
  };
  const trained = await weightsOfRow();
  await slider.fill('0');
  assert.equal(await watched.getAttribute('data-step'), '0');
  assert.match(await watched.innerText(), /before the training/);
  const random = await weightsOfRow();
  assert.notDeepEqual(random, trained);
  for (const row of [random, trained]) {
    assert.ok(Math.abs(row.reduce((sum, weight) => sum + weight, 0) - 1) < 1e-3);
  }
  await slider.fill(await slider.getAttribute('max'));
  assert.equal(Number(await watched.getAttribute('data-step')), last);

  // The saved folder gives the page's answer, in Node and in “Your model”.
  const files = unzip(await savedBy(page, page.getByTestId('keep')));
  const folder = Object.fromEntries(
    Object.entries(files).map(([name, bytes]) => [name.replace('sms-spam/', ''), bytes]),
  );
  const model = await load(folder);
  const text = await page.getByTestId('watch').inputValue();
  const { label, score: sure } = await model.classify(text);
  model.dispose();
  assert.equal(label, 'spam');
  const shown = /spam, ([\d.]+)%/.exec(await watched.innerText());
  assert.ok(Math.abs(Number(shown[1]) - 100 * sure) < 0.2);
  await page.getByTestId('open-learned').click();
  await page.getByTestId('answer').waitFor();
  assert.match(await page.getByTestId('answer').innerText(), /ham|spam/);
});

onPage('a training pauses, goes on, and stops with what it learned', {}, async (page) => {
  await choose(page, 'spam');
  await page.getByTestId('teach').click();
  // A training that stops before its first step has learned nothing.
  await page
    .getByTestId('status')
    .filter({ hasText: / steps?,/ })
    .waitFor();
  await page.getByRole('button', { name: 'Pause' }).click();
  await phase(page, 'paused');
  const steps = async () =>
    Number(/(\d+) steps?,/.exec(await page.getByTestId('status').innerText())[1]);
  // The step that was under way ends first.
  let before = -1;
  await until(
    page,
    async () => {
      const same = (await steps()) === before;
      before = await steps();
      await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 300)));
      return same;
    },
    (same) => same,
  );
  await page.getByRole('button', { name: 'Go on' }).click();
  await phase(page, 'learning');
  await page.getByTestId('teach').click();
  await phase(page, 'stopped');
  await page.getByTestId('keep').waitFor();
});

onPage('a new sentence is typed at once', {}, async (page) => {
  const boxes = page.getByTestId('taught').getByRole('textbox');
  const before = await boxes.count();
  await page.getByRole('button', { name: 'Add a sentence' }).click();
  await boxes.nth(before).and(page.locator(':focus')).waitFor();
  await page.keyboard.type('So good.');
  assert.equal(await boxes.nth(before).inputValue(), 'So good.');
  assert.equal(await boxes.count(), before + 1);
});

onPage('pausing keeps the focus, and a training is not lost unasked', {}, async (page) => {
  await choose(page, 'spam');
  await page.getByTestId('teach').click();
  await phase(page, 'learning');
  await page.getByRole('button', { name: 'Pause' }).click();
  await phase(page, 'paused');
  const goOn = page.getByRole('button', { name: 'Go on' });
  assert.ok(await goOn.evaluate((button) => button === document.activeElement));
  const asked = page.waitForEvent('dialog');
  const leaving = page.reload();
  const dialog = await asked;
  assert.equal(dialog.type(), 'beforeunload');
  await dialog.accept();
  await leaving;
  await page.getByTestId('learning').waitFor();
});

onPage('an own file is learned, and a broken one is refused with its line', {}, async (page) => {
  await choose(page, 'file');
  assert.ok(await page.getByTestId('teach').isDisabled());
  const file = (text) => ({
    name: 'own.tsv',
    mimeType: 'text/tab-separated-values',
    buffer: Buffer.from(text),
  });
  await page.getByTestId('tsv').setInputFiles(file('a\tone\nb\n'));
  await page.getByTestId('held').filter({ hasText: 'Line 2 has no tab' }).waitFor();
  assert.ok(await page.getByTestId('teach').isDisabled());

  const messages = await readFile(join(root, 'web/src/views/teach/data/sms.test.tsv'), 'utf8');
  await page.getByTestId('tsv').setInputFiles(file(messages));
  await page.getByTestId('held').filter({ hasText: '1,000 lines, 2 labels: “ham”' }).waitFor();
  await page.getByTestId('teach').click();
  await phase(page, 'learning');
  await page.getByTestId('loss').waitFor();
  await page.getByTestId('teach').click();
  await phase(page, 'stopped');
});

onPage('an experiment ends in a sentence that says what was measured', {}, async (page) => {
  await choose(page, 'spam');
  await page.getByTestId('experiment-3').check();
  await page.getByTestId('run-experiment').click();
  const conclusion = page.getByTestId('conclusion');
  await conclusion.waitFor();
  const said = await conclusion.innerText();
  assert.match(said, /In this run the claim /);
  assert.match(
    said,
    /Seed 1, .*: divided: loss 0\.\d+, \d\d\.\d% right, sure to .*; not divided: loss/,
  );
  const norms = page.locator('[data-testid=flow] [data-part="encoder.layers.0"]');
  assert.equal(await norms.count(), 2);
  assert.ok((await valueOf(norms.first())) > 0);
});

onPage('nothing scrolls sideways', {}, async (page) => {
  const widths = [320, 390, 1280];
  await openAll(page);
  await assertFitsAt(page, widths, 'sentences');
  await choose(page, 'digits');
  await page.getByTestId('teach').click();
  await page.locator('[data-testid=result] summary').click();
  await assertFitsAt(page, widths, 'digits');
  await choose(page, 'spam');
  await page.getByTestId('teach').click();
  await page.getByTestId('watched').waitFor();
  await page.getByTestId('loss').waitFor();
  await assertFitsAt(page, widths, 'from scratch');
  await page.getByTestId('teach').click();
  await choose(page, 'file');
  await assertFitsAt(page, widths, 'file');
});

onPage('axe finds no violations', {}, async (page) => {
  await openAll(page);
  await assertAccessibleToAll(page, 'sentences');
  await choose(page, 'digits');
  await page.getByTestId('teach').click();
  await page.locator('[data-testid=result] summary').click();
  await assertAccessibleToAll(page, 'digits');
  await choose(page, 'spam');
  await page.getByTestId('teach').click();
  await page.getByTestId('watched').waitFor();
  await page.getByTestId('loss').waitFor();
  await page.getByTestId('teach').click();
  await phase(page, 'stopped');
  await settled(page);
  await assertAccessibleToAll(page, 'from scratch');
  await choose(page, 'file');
  await assertAccessibleToAll(page, 'file');
});
