// `node tests/bench/page_start.mjs [--rounds N] [--json]`, after `npm run build:web`: measures the
// milliseconds from the navigation to the first verdict on the page, in Chromium, from localhost,
// as medians over rounds. Each round opens a tab of a new profile, so nothing is cached, and waits
// until the browser is idle, as it is when a user follows a link. Files are served compressed, as
// by a static host. It also measures a verdict with only the package: right after loading, and half
// a second later, after the worker's warm-up.
import { parseArgs } from 'node:util';
import { launch } from '../page/open.mjs';
import { servePage } from './page_server.mjs';

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '7' }, json: { type: 'boolean' } },
});

/** Runs in the page: records when the model's first verdict is painted, not a stored one. */
function watch() {
  const note = () => {
    if (window.verdictAt || !document.querySelector('[data-testid="score"]')) return;
    if (document.querySelector('[data-testid="beforehand"]')) return;
    observer.disconnect();
    requestAnimationFrame(() => setTimeout(() => (window.verdictAt = performance.now())));
  };
  const observer = new MutationObserver(note);
  observer.observe(document, { childList: true, subtree: true });
}

const settle = () => new Promise((resolve) => setTimeout(resolve, 700));

async function inFreshProfile(browser, body) {
  const context = await browser.newContext({ serviceWorkers: 'block' });
  try {
    const page = await context.newPage();
    await settle();
    return await body(page);
  } finally {
    await context.close();
  }
}

const pageStart = (browser, url) =>
  inFreshProfile(browser, async (page) => {
    await page.addInitScript(watch);
    await page.goto(url);
    await page.waitForFunction(() => window.verdictAt);
    return { page_to_verdict: await page.evaluate(() => window.verdictAt) };
  });

const packageStart = (browser, url) =>
  inFreshProfile(browser, async (page) => {
    await page.goto(`${url}licenses.txt`); // any document
    await settle();
    return await page.evaluate(async () => {
      let last = performance.now();
      const lap = () => -last + (last = performance.now());
      const { Classifier } = await import('/package/index.js');
      const classifier = await Classifier.load('/models/sentiment');
      const load = lap();
      await classifier.classify('A gripping, beautifully shot film.');
      const first = lap();
      await new Promise((resolve) => setTimeout(resolve, 500));
      lap();
      await classifier.classify('A gripping, beautifully shot film.');
      return { load, first_verdict: first, warm_verdict: lap() };
    });
  });

const median = (numbers) => numbers.toSorted((a, b) => a - b)[numbers.length >> 1];

const server = await servePage();
const browser = await launch();
try {
  const url = `http://127.0.0.1:${server.address().port}/`;
  await pageStart(browser, url); // the browser starts, and the server reads its files
  const rounds = [];
  for (let round = 0; round < Number(values.rounds); ++round) {
    rounds.push({ ...(await pageStart(browser, url)), ...(await packageStart(browser, url)) });
  }
  const result = Object.fromEntries(
    Object.keys(rounds[0]).map((key) => [key, median(rounds.map((round) => round[key]))]),
  );
  const ms = (key) => `${result[key].toFixed(1)} ms`;
  console.log(
    values.json
      ? JSON.stringify(result)
      : `Chromium, from navigation to the first verdict: ${ms('page_to_verdict')}.\n` +
          `The package: loaded in ${ms('load')}, first verdict in ${ms('first_verdict')}, ` +
          `after the warm-up in ${ms('warm_verdict')}.`,
  );
} finally {
  await browser.close();
  server.close();
}
