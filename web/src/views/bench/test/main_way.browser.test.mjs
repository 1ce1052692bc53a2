// The main way through the view Speed: every task is timed in every variant.
import assert from 'node:assert/strict';
import { mainWay } from '../../../../../tests/page/on_page.mjs';
import { workersLeft } from '../../../../../tests/page/open.mjs';

mainWay('the benchmark runs', '#view=bench', async (page) => {
  await page.getByRole('radio', { name: 'Quick' }).check();
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await page.getByRole('status').filter({ hasText: 'Done' }).waitFor();
  await workersLeft(page, 0);
  const rows = await page.getByTestId('row').evaluateAll((list) =>
    list.map((row) => ({
      task: row.dataset.task,
      figures: [...row.querySelectorAll('[data-value]')].map(({ dataset }) =>
        Number(dataset.value),
      ),
    })),
  );
  assert.equal(rows.length, await page.getByTestId('elsewhere').count());
  for (const { task, figures } of rows) {
    const [milliseconds, tokensPerSecond, ratio] = figures;
    assert.ok(milliseconds > 0 && tokensPerSecond > 0 && ratio > 0, `${task}: ${figures}`);
    // The number of tokens is a whole one, and the name of a task for reading says which.
    const tokens = (milliseconds * tokensPerSecond) / 1000;
    const expected = Number(/\d+(?= tokens)/.exec(task)?.[0] ?? Math.round(tokens));
    assert.ok(tokens > 1 && Math.abs(tokens - expected) < 1e-6, `${task}: ${tokens} tokens`);
  }
});
