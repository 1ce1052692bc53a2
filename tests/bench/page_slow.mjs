// `node tests/bench/page_slow.mjs [--bits 1600000] [--delay 150] [--json]`, after `npm run
// build:web`: measures what a visitor with a slow line sees in Chromium, in milliseconds from the
// navigation: the first paint, the first verdict and the first verdict of the model, and for the
// translation view the first translation and the first one of the model. The server simulates the
// line, so that the page's workers share it, and all transfers take turns. It also prints the size
// of the gzipped JavaScript that is loaded before the first verdict.
import { parseArgs } from 'node:util';
import { launch } from '../page/open.mjs';
import { servePage, slowLine } from './page_server.mjs';

const { values } = parseArgs({
  options: {
    bits: { type: 'string', default: '1600000' },
    delay: { type: 'string', default: '150' },
    json: { type: 'boolean' },
  },
});

/**
 * Runs in the page: records when the first answer is painted, and when the model's first answer is.
 */
function watch(answer) {
  const seen = (window.seen = {});
  const note = (what) => {
    if (seen[what] !== undefined) return;
    seen[what] = Infinity;
    requestAnimationFrame(() => setTimeout(() => (seen[what] = performance.now())));
  };
  const look = () => {
    if (!document.querySelector(answer)?.textContent.trim()) return;
    note('first');
    if (document.querySelector('main[aria-busy="false"]')) note('own');
  };
  new MutationObserver(look).observe(document, {
    ...{ childList: true, subtree: true, characterData: true },
    attributes: true,
    attributeFilter: ['aria-busy'],
  });
}

async function visit(browser, hash, answer) {
  const files = [];
  const line = slowLine(Number(values.bits), Number(values.delay));
  const onfile = (name, size) => files.push({ name, size });
  const server = await servePage({ line, onfile });
  const context = await browser.newContext({ serviceWorkers: 'block' });
  try {
    const page = await context.newPage();
    await page.addInitScript(watch, answer);
    await page.goto(`http://127.0.0.1:${server.address().port}/${hash}`, { waitUntil: 'commit' });
    const wait = { timeout: 180_000 };
    await page.waitForFunction(() => Number.isFinite(window.seen.first), undefined, wait);
    const before = [...files];
    await page.waitForFunction(() => Number.isFinite(window.seen.own), undefined, wait);
    const times = await page.evaluate(() => ({
      paint: performance.getEntriesByName('first-contentful-paint')[0]?.startTime,
      ...window.seen,
    }));
    const scripts = before.filter(({ name }) => name.endsWith('.js') && !/worker/.test(name));
    return { ...times, javascript: scripts.reduce((sum, { size }) => sum + size, 0) };
  } finally {
    await context.close();
    server.close();
    server.closeAllConnections();
  }
}

const browser = await launch();
try {
  const sentiment = await visit(browser, '', '[data-testid="score"]');
  const translation = await visit(browser, '#view=translation', '[data-testid="target"]');
  const ms = (value) => `${(value / 1000).toFixed(1)} s`;
  const print = (name, { paint, first, own, javascript }) =>
    console.log(
      `${name}: first paint after ${ms(paint)}, first answer after ${ms(first)}, ` +
        `the model’s first answer after ${ms(own)}; ${(javascript / 1000).toFixed(1)} kB of JavaScript before the first answer.`,
    );
  if (values.json) console.log(JSON.stringify({ sentiment, translation }));
  else {
    console.log(
      `A connection of ${values.bits / 1e6} Mbit/s with a round trip of ${values.delay} ms.`,
    );
    print('Sentiment', sentiment);
    print('Translation', translation);
  }
} finally {
  await browser.close();
}
