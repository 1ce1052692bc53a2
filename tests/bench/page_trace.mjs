// `node tests/bench/page_trace.mjs [--folder web/dist] [--only NAME,…] [--json]`, after `npm run
// build:web`: measures how long the page's thread is blocked while a user works with a text of 512
// tokens, from Chromium's trace. It prints, for each activity: the tasks of more than 50 ms; the
// longest task, in wall time and in processor time (which does not depend on other programs); and
// the time from an interaction to the next frame, at the 95th percentile.
import { parseArgs } from 'node:util';
import { launch, open, serve, settled } from '../page/open.mjs';

const { values } = parseArgs({
  options: { folder: { type: 'string' }, only: { type: 'string' }, json: { type: 'boolean' } },
});

const long = 50; // ms
const categories = ['devtools.timeline', 'disabled-by-default-devtools.timeline'];
const text =
  'A gripping, beautifully shot film, though the plot is not that good and nobody cares. '.repeat(
    60,
  );

const middle = ({ x, y, width, height }) => [x + width / 2, y + height / 2];

/** The activities of a user, in order. */
const deeds = {
  async typing(page) {
    await page.getByTestId('input').focus();
    await page.keyboard.press('Control+Home');
    for (const character of 'Not so bad. ') {
      await page.keyboard.press(character);
      await page.waitForTimeout(120);
    }
    await settled(page);
  },
  async 'hovering 40 tokens'(page) {
    await page.getByTestId('token').first().scrollIntoViewIfNeeded();
    const boxes = await page
      .getByTestId('token')
      .evaluateAll((list) =>
        list.slice(0, 40).map((token) => token.getBoundingClientRect().toJSON()),
      );
    for (const box of boxes) {
      await page.mouse.move(...middle(box));
      await page.waitForTimeout(40);
    }
  },
  async 'hovering 40 cells'(page) {
    const map = page.getByTestId('heatmap').locator('svg, canvas').first();
    await map.scrollIntoViewIfNeeded();
    const { x, y, width, height } = await map.boundingBox();
    for (let i = 0; i < 40; i++) {
      await page.mouse.move(x + width * (0.4 + i / 100), y + height * (0.4 + i / 100));
      await page.waitForTimeout(40);
    }
  },
  async 'scrubbing all heads'(page) {
    const heads = page.getByTestId('head');
    for (let i = 0; i < (await heads.count()); i++) {
      await heads.nth(i).click();
      await page.waitForTimeout(60);
    }
  },
  async 'dragging the frame'(page) {
    const overview = page.getByTestId('overview');
    await overview.scrollIntoViewIfNeeded();
    const { x, y, width, height } = await overview.boundingBox();
    await page.mouse.move(x + 10, y + 10);
    await page.mouse.down();
    for (let i = 1; i <= 30; i++) {
      await page.mouse.move(x + (width * i) / 31, y + (height * i) / 31);
      await page.waitForTimeout(40);
    }
    await page.mouse.up();
  },
  'saving a PNG': (page) => saving(page, 'PNG'),
  'saving JSON': (page) => saving(page, 'JSON of all heads'),
};

async function saving(page, name) {
  const saved = page.waitForEvent('download', { timeout: 120_000 });
  await page.getByRole('button', { name, exact: true }).click();
  await (await saved).path();
}

/** Returns the tasks of the page's thread: the busiest main thread of all processes. */
function tasksIn({ traceEvents }) {
  const threads = new Map();
  for (const { name, pid, tid, args } of traceEvents) {
    if (name === 'thread_name' && args.name === 'CrRendererMain') threads.set(`${pid}.${tid}`, []);
  }
  for (const event of traceEvents) {
    if (event.name === 'RunTask') threads.get(`${event.pid}.${event.tid}`)?.push(event);
  }
  const busy = (tasks) => tasks.reduce((sum, { dur = 0 }) => sum + dur, 0);
  return [...threads.values()].reduce((a, b) => (busy(b) > busy(a) ? b : a), []);
}

/** Runs in the page: records the time from each event to the frame that shows its effect. */
function watch() {
  window.waits = [];
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) window.waits.push(duration);
  }).observe({ type: 'event', durationThreshold: 16, buffered: false });
}

async function measure(browser, page, deed) {
  await page.evaluate(() => (window.waits = []));
  await browser.startTracing(page, { categories });
  await deed(page);
  await page.waitForTimeout(300);
  const tasks = tasksIn(JSON.parse(await browser.stopTracing()));
  const milliseconds = (key) => tasks.map((task) => (task[key] ?? 0) / 1000);
  const clock = milliseconds('dur');
  const processor = milliseconds('tdur');
  const waits = (await page.evaluate(() => window.waits)).sort((a, b) => a - b);
  return {
    long_tasks: clock.filter((time) => time > long).length,
    long_tasks_processor: processor.filter((time) => time > long).length,
    longest_ms: Math.max(0, ...clock),
    longest_processor_ms: Math.max(0, ...processor),
    interaction_p95_ms: waits[Math.ceil(waits.length * 0.95) - 1] ?? 0,
  };
}

const server = await serve(values.folder);
const browser = await launch();
try {
  const { page } = await open(browser, server.url);
  await settled(page);
  await page.getByTestId('input').fill(text);
  await settled(page);
  await page.getByTestId('overview').waitFor();
  await page.waitForTimeout(500);
  await page.evaluate(watch);
  const results = [];
  const wanted = values.only?.split(',') ?? Object.keys(deeds);
  for (const name of wanted) {
    const result = { name, ...(await measure(browser, page, deeds[name])) };
    results.push(result);
    if (values.json) continue;
    const ms = (key) => `${result[key].toFixed(0)} ms`;
    console.log(
      `${name.padEnd(22)} ${String(result.long_tasks).padStart(3)} tasks over ${long} ms ` +
        `(${result.long_tasks_processor} by processor time), longest ${ms('longest_ms')} ` +
        `(${ms('longest_processor_ms')}); to the next frame ${ms('interaction_p95_ms')} at p95`,
    );
  }
  if (values.json) console.log(JSON.stringify(results));
} finally {
  await browser.close();
  await server.close();
}
