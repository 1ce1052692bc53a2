// Runs the page's benchmark. Speed depends on the machine, so the tests check that all figures are
// there and consistent, and that nothing is left running.
import assert from 'node:assert/strict';
import { testsOnPage } from '../../../../../tests/page/on_page.mjs';
import {
  assertAccessibleToAll,
  assertFits,
  goTo,
  workersLeft,
} from '../../../../../tests/page/open.mjs';

const view = '#view=bench';
const tasks = [
  'Sentiment, 16 tokens',
  'Sentiment, 64 tokens',
  'Sentiment, 256 tokens',
  'Translation, greedy',
  'Translation, 4 beams',
];
const ways = ['f32 simd', 'f32 relaxed', 'int8 simd', 'int8 relaxed'];

const onPage = testsOnPage(view);

const button = (page, name) => page.getByRole('button', { name, exact: true });

async function runQuickly(page) {
  await page.getByRole('radio', { name: 'Quick' }).check();
  await button(page, 'Run').click();
}

const ended = (page, how) => page.getByRole('status').filter({ hasText: how }).waitFor();

const rowsOf = (page) =>
  page.getByTestId('row').evaluateAll((rows) =>
    rows.map((row) => ({
      task: row.dataset.task,
      way: `${row.dataset.compute} ${row.dataset.binary}`,
      figures: [...row.querySelectorAll('[data-value]')].map(({ dataset }) =>
        Number(dataset.value),
      ),
    })),
  );

onPage(
  'every task is timed in every variant, and figures can be copied as JSON',
  { viewport: { width: 390, height: 844 } },
  async (page, { context }) => {
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await runQuickly(page);
    await ended(page, 'Done');
    await workersLeft(page, 0);
    const rows = await rowsOf(page);
    assert.deepEqual(
      rows.map(({ task, way }) => `${task}, ${way}`),
      tasks.flatMap((task) => ways.map((way) => `${task}, ${way}`)),
    );
    for (const { task, way, figures } of rows) {
      const [milliseconds, tokensPerSecond, ratio] = figures;
      assert.ok(milliseconds > 0 && Number.isFinite(milliseconds), `${task}, ${way}`);
      const tokens = (milliseconds * tokensPerSecond) / 1000;
      assert.ok(Math.abs(tokens - Math.round(tokens)) < 1e-6, `${task}, ${way}: ${tokens} tokens`);
      const expected = Number(/\d+(?= tokens)/.exec(task)?.[0] ?? Math.round(tokens));
      assert.equal(Math.round(tokens), expected, `${task}, ${way}`);
      const base = rows.find((row) => row.task === task).figures[1];
      assert.ok(Math.abs(ratio - tokensPerSecond / base) < 1e-6, `${task}, ${way}`);
    }

    await button(page, 'Copy as JSON').click();
    await button(page, 'Copied').waitFor();
    const copy = JSON.parse(await page.evaluate(() => navigator.clipboard.readText()));
    assert.deepEqual(
      copy.results.map(({ milliseconds, tokensPerSecond, ratio }) => [
        milliseconds,
        tokensPerSecond,
        ratio,
      ]),
      rows.map(({ figures }) => figures),
    );
    assert.equal(copy.userAgent, await page.evaluate(() => navigator.userAgent));
    assert.ok(copy.hardwareConcurrency > 0);

    await assertFits(page);
    await assertAccessibleToAll(page);
  },
);

onPage('the server’s figures are there from the start', {}, async (page) => {
  const elsewhere = page.getByTestId('elsewhere');
  assert.equal(await elsewhere.count(), tasks.length * ways.length);
  for (const figure of await elsewhere.allTextContents())
    assert.ok(Number(figure.replaceAll(',', '')) > 100, figure);
  assert.equal(await page.getByTestId('row').count(), 0);
  await page.getByText('Zen 4').waitFor();
});

onPage('the benchmark can be stopped and run again', {}, async (page) => {
  await button(page, 'Run').click();
  await page.getByTestId('row').first().waitFor();
  await button(page, 'Stop').click();
  await ended(page, 'Stopped');
  await workersLeft(page, 0);
  const rows = await rowsOf(page);
  assert.ok(rows.length > 0 && rows.length < tasks.length * ways.length);
  await runQuickly(page);
  await page.getByTestId('row').first().waitFor();
  await button(page, 'Stop').click();
  await ended(page, 'Stopped');
});

onPage(
  'the code is fetched when the view opens; leaving it stops the benchmark and keeps the figures',
  { hash: '' },
  async (page) => {
    const code = () =>
      page.evaluate(
        () =>
          performance.getEntriesByType('resource').filter(({ name }) => /\/bench-.*js$/.test(name))
            .length,
      );
    const models = [];
    // Weights: a small file of the first view's model may still be on its way.
    const isModel = (request) => /\/models\/.*\.safetensors$/.test(request.url());
    page.on('request', (request) => isModel(request) && models.push(request));
    assert.equal(await code(), 0);
    await goTo(page, 'Speed');
    await button(page, 'Run').waitFor();
    assert.ok((await code()) > 0);
    assert.equal(models.length, 0, 'a model is fetched before it runs');
    await runQuickly(page);
    await page.getByTestId('row').first().waitFor();
    await goTo(page, 'Sentiment');
    await page.getByTestId('verdict').waitFor();
    await page.goBack();
    await ended(page, 'Stopped');
    assert.ok((await page.getByTestId('row').count()) > 0);
    assert.ok(models.length > 0);
    // The sentiment view's model stays.
    await workersLeft(page, 1);
  },
);
