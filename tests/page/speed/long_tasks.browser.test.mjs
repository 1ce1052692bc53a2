// The page stays responsive while the longest texts are generated: it paints, can be stopped, and no
// task holds it up for long. The page aims at 50 milliseconds, which tests/bench/page_trace.mjs measures
// on an idle machine. The limits here are four times as high, in processor time: other programs share
// the processor's caches.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { launch, root, serve, settled, visit } from '../open.mjs';
import { rested, tasksDuring } from './tasks.mjs';

const longest = 200;

let browser, server;
before(async () => {
  // A trace covers all pages of a browser.
  [browser, server] = await Promise.all([launch({ shared: false }), serve()]);
});
after(async () => {
  await browser?.close();
  await server?.close();
});

/** Records the number of elements that match `selector` each time it has changed. */
const watch = (page, selector) =>
  page.evaluate((wanted) => {
    window.painted = [];
    const look = () => {
      const count = document.querySelectorAll(wanted).length;
      if (count !== window.painted.at(-1)) window.painted.push(count);
      window.looking = requestAnimationFrame(look);
    };
    look();
  }, selector);
const painted = (page) =>
  page.evaluate(() => {
    cancelAnimationFrame(window.looking);
    return window.painted;
  });

function fluent(name, hash, { prepare, act, selector, least, most: limit = longest }) {
  test(name, async () => {
    await visit(browser, server.url + hash, {}, async (page) => {
      await prepare(page);
      await watch(page, selector);
      const [longestTask] = await tasksDuring(browser, page, () => act(page));
      const counts = await painted(page);
      assert.ok(counts.length >= least, `painted ${counts.length} times: ${counts}`);
      assert.ok(longestTask <= limit, `a task of ${longestTask.toFixed(0)} ms`);
    });
  });
}

fluent('writing to the end, until the model can read no more', '#view=writing', {
  async prepare(page) {
    await page.getByRole('button', { name: 'A list' }).click();
    await page.getByTestId('temperature').fill('0');
    await settled(page);
  },
  async act(page) {
    await Promise.all([rested(page), page.getByTestId('finish').click()]);
    await page.getByText('can read no more').waitFor();
  },
  selector: '[data-testid=token]',
  least: 6,
});

const sentences = 'Two children are playing in the snow, and their dog runs after a red ball. ';
fluent('translating as much as is translated at a time', '#view=translation', {
  prepare: (page) => settled(page),
  async act(page) {
    await Promise.all([rested(page), page.getByTestId('input').fill(sentences.repeat(66))]);
  },
  selector: '[data-testid=target] [data-testid=token]',
  least: 6,
  // The result of all sentences arrives as one message, and a thousand words on each side are updated at
  // once: up to 150 ms.
  most: 600,
});

fluent('a model of one’s own that continues a text', '#view=model', {
  async prepare(page) {
    await page.getByTestId('folder').setInputFiles(join(root, 'weights/writer'));
    await page.getByTestId('answer').waitFor();
    await settled(page);
  },
  async act(page) {
    const text = 'The script, the music, the acting and the';
    await Promise.all([rested(page), page.getByTestId('input').fill(text)]);
  },
  selector: '[data-testid=written]',
  least: 1,
});

test('writing can be stopped at once', async () => {
  await visit(browser, `${server.url}#view=writing`, {}, async (page) => {
    await page.getByRole('button', { name: 'A list' }).click();
    await page.getByTestId('temperature').fill('0');
    await settled(page);
    const resting = rested(page);
    // A script in the page stops it when something is written, because this test may be slow.
    await page.evaluate(() => {
      const tokens = () => document.querySelectorAll('[data-testid=token]').length;
      const finish = document.querySelector('[data-testid=finish]');
      const begun = tokens();
      new MutationObserver((_, observer) => {
        if (tokens() === begun) return;
        observer.disconnect();
        finish.click();
      }).observe(document.querySelector('[data-testid=row]'), { childList: true });
      finish.click();
    });
    await resting;
    const count = await page.getByTestId('token').count();
    assert.ok(count > 6 && count < 500, `${count} tokens`);
    assert.equal(await page.getByTestId('finish').textContent(), 'To the end');
  });
});
