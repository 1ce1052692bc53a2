// Measures the longest tasks of the page's main thread, which visitors notice as a page that hangs.

const categories = ['toplevel', 'mojom', 'disabled-by-default-devtools.timeline', '__metadata'];

/**
 * Runs `act` and resolves to the tasks of the page's main thread during it, longest first, in
 * milliseconds of processor time, so that other processes do not count. The browser's work for this
 * test is excluded.
 */
export async function tasksDuring(browser, page, act) {
  await browser.startTracing(page, { categories });
  let trace;
  try {
    await act();
  } finally {
    trace = await browser.stopTracing();
  }
  const { traceEvents: events } = JSON.parse(trace.toString());
  const mainThreads = new Set(
    events
      .filter(({ name, args }) => name === 'thread_name' && args.name === 'CrRendererMain')
      .map(({ pid, tid }) => `${pid} ${tid}`),
  );
  const own = events.filter(({ ph, pid, tid }) => ph === 'X' && mainThreads.has(`${pid} ${tid}`));
  // Messages of the protocol that controls the browser.
  const ofTest = own.filter(({ args }) =>
    JSON.stringify(args).includes('blink.mojom.DevToolsSession'),
  );
  const within = (inner, outer) =>
    inner.pid === outer.pid &&
    inner.tid === outer.tid &&
    inner.ts >= outer.ts &&
    inner.ts + (inner.dur ?? 0) <= outer.ts + outer.dur;
  return own
    .filter(({ name }) => /RunTask$/.test(name))
    .filter((task) => !ofTest.some((message) => within(message, task)))
    .map(({ tdur = 0 }) => tdur / 1000)
    .sort((a, b) => b - a);
}

/** Waits until the page has worked and is idle again. Asks once, because polling takes time. */
export const rested = (page) =>
  page.evaluate(
    () =>
      new Promise((resolve) => {
        const main = document.querySelector('main');
        let worked = false;
        const look = () => {
          const busy = main.getAttribute('aria-busy') === 'true';
          worked ||= busy;
          if (!worked || busy) return;
          observer.disconnect();
          // Everything that waits for a frame is drawn by then.
          let frames = 30;
          const wait = () => (frames-- > 0 ? requestAnimationFrame(wait) : resolve());
          wait();
        };
        const observer = new MutationObserver(look);
        observer.observe(main, { attributeFilter: ['aria-busy'] });
        look();
      }),
  );

/**
 * Milliseconds that a fixed piece of work takes in the page: text is made and sorted, and a list of
 * 500 elements is filled and laid out. Other processes only make it longer, so the shortest of 15 runs
 * is taken. Limits are multiples of it, as machines differ by a factor of three.
 */
export const pace = (page) =>
  page.evaluate(() => {
    const once = () => {
      const start = performance.now();
      const words = Array.from({ length: 4000 }, (_, i) => ((i * 7919) % 4001).toString(36));
      words.sort((a, b) => a.localeCompare(b));
      const list = document.createElement('ul');
      list.style.cssText = 'position: absolute; width: 300px; visibility: hidden';
      for (const word of words.slice(0, 500)) {
        const item = document.createElement('li');
        item.textContent = word;
        list.append(item);
      }
      document.body.append(list);
      list.getBoundingClientRect();
      list.remove();
      return performance.now() - start;
    };
    return Math.min(...Array.from({ length: 15 }, once));
  });
