// The main way through the course: a lesson is predicted, and its code prints the picture's number.
import assert from 'node:assert/strict';
import { mainWay } from '../../../../../tests/page/on_page.mjs';
import { settled, until } from '../../../../../tests/page/open.mjs';
import { source } from '../../../../../tests/page/source.mjs';

const { lessons } = await source('views/course/lessons');
const other = 'A great cast, but the script is dreadful.';
const digitsIn = (text) => /-?\d+(?:\.\d+)?/.exec(text.replaceAll('−', '-').replaceAll(',', ''))[0];

mainWay('a lesson is predicted, run and changed', '#view=course', async (page) => {
  await page.getByTestId('picture').waitFor();
  await settled(page);
  assert.equal(await page.getByTestId('question').textContent(), lessons[0].question);
  const prediction = page.getByTestId('prediction').getByRole('textbox');
  if (await prediction.count()) await prediction.fill('1');
  await page.getByTestId('choice').first().click();
  assert.match(await page.getByTestId('answer').textContent(), /(Right|Close enough|Not quite)\./);

  const printed = page.locator('[data-testid=picture] [data-printed]');
  /** Runs the code of the lesson, which computes a number of the picture. Returns the numbers. */
  const assertRuns = async () => {
    await page.getByRole('tab', { name: 'JavaScript' }).click();
    await page.getByTestId('run').click();
    await page.getByTestId('output').locator('pre').waitFor();
    const output = (await page.getByTestId('output').textContent()).replaceAll('−', '-');
    const numbers = (await printed.allTextContents()).map(digitsIn);
    assert.ok(
      numbers.some((number) => output.includes(number)),
      `none of ${numbers} in ${output}`,
    );
    return numbers;
  };
  const before = await assertRuns();
  await page.getByTestId('course-text').fill(other);
  await settled(page);
  await until(
    page,
    () => printed.allTextContents(),
    (now) => `${now.map(digitsIn)}` !== `${before}`,
  );
  await assertRuns();
});
