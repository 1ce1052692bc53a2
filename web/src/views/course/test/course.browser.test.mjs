// The course in Chromium: every lesson of the table is opened by its address, predicted, changed and run.
import assert from 'node:assert/strict';
import { testsOnPage } from '../../../../../tests/page/on_page.mjs';
import {
  assertAccessibleToAll,
  assertFits,
  frames,
  settled,
  until,
} from '../../../../../tests/page/open.mjs';
import { source } from '../../../../../tests/page/source.mjs';

const { hashFor } = await source('ui/link');
const { lessons } = await source('views/course/lessons');
const { firstText } = await source('views/course/link');

const other = 'A great cast, but the script is dreadful.';
const addressOf = (lesson, text) => hashFor('course', { lesson, ...(text && { text }) });

const onPage = testsOnPage('#view=course');

/** Text and attributes of the picture, which tell whether anything changed. */
const drawn = async (page) => {
  await settled(page);
  return page.getByTestId('picture').evaluate((picture) =>
    [...picture.querySelectorAll('canvas')]
      .map((canvas) => canvas.toDataURL())
      .concat(picture.innerHTML)
      .join(),
  );
};
const changed = (page, before) =>
  until(
    page,
    () => drawn(page),
    (now) => now !== before,
  );
/** Returns the targets that are too small for a finger: WCAG 2.2, 2.5.8. */
const tooSmall = (page) =>
  page.evaluate(() =>
    [...document.querySelectorAll('main :is(button, textarea, [role=slider], input)')]
      .map((each) => [each, (each.closest('label') ?? each).getBoundingClientRect()])
      .filter(([each]) => each.checkVisibility({ checkVisibilityCSS: true }))
      .filter(([, { width, height }]) => width < 23.5 || height < 23.5)
      .map(([{ outerHTML }]) => outerHTML.slice(0, 120)),
  );
const plain = (text) => text.replaceAll('−', '-');

async function assertShows(page, { question }) {
  await page.getByTestId('question').filter({ hasText: question }).waitFor(); // it is fetched
  await page.getByTestId('picture').waitFor();
  await settled(page);
  assert.equal(await page.locator('.failure, [role=alert]').count(), 0);
}

/** At the widths of telephones nothing overflows, and targets are large enough. */
async function assertUsableOnPhone(page, what) {
  for (const width of [390, 320]) {
    await page.setViewportSize({ width, height: 800 });
    await frames(page, 2); // for what is drawn to the new width
    await assertFits(page, `${width}: ${what}`);
    assert.deepEqual(await tooSmall(page), [], `${width}: ${what}`);
  }
}

for (const entry of lessons) {
  onPage(`lesson ${entry.name}`, { hash: addressOf(entry.name) }, async (page) => {
    await assertShows(page, entry);
    assert.equal(await page.getByTestId('course-text').inputValue(), firstText);
    const current = page.getByTestId('lessons').locator('[aria-current]');
    assert.match(await current.textContent(), new RegExp(`${entry.title}$`));

    // The prediction reveals an answer.
    const choices = page.getByTestId('choice');
    const input = page.getByTestId('prediction').getByRole('textbox');
    assert.equal(await page.getByTestId('answer').textContent(), '');
    if (await input.count()) await input.fill('1');
    else assert.ok((await choices.count()) >= 2);
    await choices.first().click();
    assert.match(
      await page.getByTestId('answer').textContent(),
      /(Right|Close enough|Not quite)\..{20}/,
    );
    if (await choices.nth(1).count())
      assert.match(await page.getByTestId('class-code').textContent(), /^[A-Z]1[A-Z]$/);

    // Symbols light up in the formula and in the picture.
    const symbols = page.getByTestId('formula').locator('button[data-symbol]');
    assert.ok((await symbols.count()) >= 2);
    const dark = [];
    for (const symbol of await symbols.all()) {
      await symbol.click();
      await page.getByTestId('formula').locator('math .lit, button.lit').first().waitFor();
      if ((await page.getByTestId('picture').locator('.lit').count()) === 0)
        dark.push(await symbol.getAttribute('data-symbol'));
      await symbol.click();
    }
    assert.deepEqual(dark, []);

    await assertAccessibleToAll(page, entry.name);

    // The code: PyTorch, C++ with its place, and JavaScript that prints a number of the picture.
    const panel = page.getByTestId('code-panel');
    assert.match(await panel.textContent(), /import .*torch|from torch/);
    await assertUsableOnPhone(page, 'PyTorch');
    await page.getByRole('tab', { name: 'C++' }).click();
    await assertUsableOnPhone(page, 'C++');
    assert.match(await panel.textContent(), /src\/[\w/]+\.[ch]pp, lines \d+–\d+/);
    assert.match(await panel.locator('pre').first().textContent(), /[\w:]+\(.*[^]*\{[^]*\}/);
    await page.getByRole('tab', { name: 'JavaScript' }).click();
    assert.match(await panel.textContent(), /export async function run\(model, text\)/);
    await assertUsableOnPhone(page, 'JavaScript');
    await page.setViewportSize({ width: 1280, height: 900 });
    await page.getByTestId('run').click();
    await page.getByTestId('output').locator('pre').waitFor();
    const printed = plain(await page.getByTestId('output').textContent());
    const numbers = await page.locator('[data-testid=picture] [data-printed]').allTextContents();
    assert.ok(numbers.length > 0);
    const digits = (text) => /-?\d+(?:\.\d+)?/.exec(plain(text).replaceAll(',', ''))[0];
    assert.ok(
      numbers.some((number) => printed.includes(digits(number))),
      `none of ${numbers} in ${printed}`,
    );

    // Another sentence changes the picture, and so does the control.
    const before = await drawn(page);
    await page.getByTestId('course-text').fill(other);
    const next = await changed(page, before);
    await page.waitForURL(/text=A\+great/);
    const told = await page.getByTestId('told').textContent();
    assert.ok(told.length > 10, told);
    const control = page.getByTestId('control');
    const kind = await control.first().getAttribute('type');
    if (kind === 'checkbox') await control.click();
    else if (kind === 'range') {
      await control.focus();
      await page.keyboard.press('Home');
    } else await control.last().evaluate((radio) => radio.click());
    await changed(page, next);
    await assertShows(page, entry);
    await until(
      page,
      () => page.getByTestId('told').textContent(),
      (now) => now !== told,
    );

    await page.getByTestId('course-text').fill('uncharacteristically '.repeat(12));
    await settled(page);
    await assertUsableOnPhone(page, 'with a long text');
  });
}

onPage('a term is explained on hover, focus and tap', {}, async (page) => {
  await page.getByTestId('picture').waitFor();
  const term = page.getByRole('button', { name: 'tokens', exact: true }).first();
  const note = page.getByRole('tooltip');
  assert.equal(await note.count(), 0);
  await term.hover();
  await note.waitFor();
  await page.mouse.move(0, 0);
  await note.waitFor({ state: 'detached' });
  await term.focus();
  assert.match(await note.textContent(), /reads as one unit/);
  await page.keyboard.press('Escape');
  await note.waitFor({ state: 'detached' });
  await term.click();
  await note.waitFor();
});

onPage('the lessons lead to each other, and Back returns', {}, async (page) => {
  await page.getByTestId('picture').waitFor();
  await page.getByTestId('course-text').fill(other);
  await settled(page);
  const [first, second] = lessons;
  await page.getByRole('link', { name: second.question }).click();
  await assertShows(page, second);
  assert.equal(await page.getByTestId('course-text').inputValue(), other);
  assert.ok(await page.getByTestId('question').evaluate((each) => each === document.activeElement));
  await page.goBack();
  await assertShows(page, first);
  await page.goForward();
  await assertShows(page, second);
});

onPage(
  'an embedded lesson has its sentence, and no masthead',
  { hash: `#embed=1&view=course&lesson=softmax&text=Dull.` },
  async (page) => {
    await page.getByTestId('picture').waitFor();
    assert.equal(await page.getByTestId('course-text').inputValue(), 'Dull.');
    assert.equal(await page.getByRole('navigation', { name: 'Views' }).count(), 0);
    await page.getByTestId('control').first().focus();
    await page.keyboard.press('Home');
    await page.waitForURL(/#embed=1&view=course&lesson=softmax&text=Dull\.&set=1$/);
  },
);

onPage(
  'on a projector a lesson is its question and its picture, which fills the first screen',
  { hash: addressOf('attention'), viewport: { width: 1280, height: 800 } },
  async (page) => {
    await page.getByTestId('picture').waitFor();
    // The link to a lesson opens at its question, with the picture below it.
    const question = await page.getByTestId('question').boundingBox();
    assert.ok(question.y >= 0 && question.y < 100, `question at ${question.y}`);
    const { y } = await page.getByTestId('picture').boundingBox();
    assert.ok(y < 600, `picture at ${y}`);
    const ordinary = await page.getByTestId('picture').locator('canvas').first().boundingBox();
    const [projected] = await Promise.all([
      page.context().waitForEvent('page'),
      page.getByRole('link', { name: 'On a projector' }).click(),
    ]);
    const picture = projected.getByTestId('picture');
    await picture.waitFor();
    await settled(projected);
    assert.ok((await picture.boundingBox()).y < 200);
    const large = await picture.locator('canvas').first().boundingBox();
    assert.ok(large.width > 1.3 * ordinary.width, `${large.width}, before ${ordinary.width}`);
    assert.equal(await projected.getByTestId('prediction').count(), 0);
    await assertFits(projected);
    await projected.getByRole('link', { name: /^Next/ }).click();
    await projected
      .getByRole('heading', { name: 'Why divide by √d before the softmax?' })
      .waitFor();
    assert.equal(await projected.getByTestId('prediction').count(), 0);
    await projected.getByRole('button', { name: 'The whole lesson' }).click();
    await projected.getByTestId('prediction').waitFor();
  },
);

onPage('an empty sentence is asked for', {}, async (page) => {
  await page.getByTestId('picture').waitFor();
  await page.getByTestId('course-text').fill('  ');
  await page.getByText('Type a sentence above.').waitFor();
  await page.getByTestId('course-text').fill('Good.');
  await page.getByTestId('picture').waitFor();
});

onPage(
  'teachers get links, frames and exercises',
  { hash: addressOf('teachers') },
  async (page) => {
    const teachers = page.getByTestId('teachers');
    await teachers.getByTestId('exercise').first().waitFor();
    assert.equal(await teachers.getByTestId('exercise').count(), lessons.length);
    assert.equal(await teachers.getByTestId('solution').count(), 0);
    await teachers.getByTestId('codes').fill('D1 xyz');
    await teachers.getByText('Not codes for this sentence: D1, XYZ').waitFor();
    assert.match(await teachers.locator('pre').textContent(), /<iframe[^]*view=course[^]*lesson=/);
    const buttons = teachers.getByTestId('exercise').locator('[aria-expanded]');
    for (const button of await buttons.all()) await button.click();
    assert.equal(await teachers.getByTestId('solution').count(), lessons.length);
    await assertAccessibleToAll(page);
    await page.setViewportSize({ width: 320, height: 800 });
    await assertFits(page);
    // The sheet: exercises without solutions, then the solutions.
    await page.emulateMedia({ media: 'print' });
    assert.equal(await teachers.getByTestId('solution').first().isVisible(), false);
    assert.equal(await teachers.locator('.on-paper').isVisible(), true);
    assert.equal(await page.getByTestId('lessons').isVisible(), false);
  },
);
