// How long the page's own thread is busy at a stretch while something goes on: what a person feels
// as a page that hangs.

const categories = ['toplevel', 'mojom', 'disabled-by-default-devtools.timeline', '__metadata'];

/**
 * Runs `act` and resolves to the tasks of the page's main thread meanwhile, longest first, in
 * milliseconds. They are measured in processor time, not by the clock: when other processes take the
 * processor away, that is no task of the page's. Nor is what the browser does for this test.
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
  // Messages of the protocol that this test drives the browser by.
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

/** Until the page has worked and rests again. It is asked once: asking again and again takes time. */
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
          // What waits for a frame is drawn by then.
          let frames = 30;
          const wait = () => (frames-- > 0 ? requestAnimationFrame(wait) : resolve());
          wait();
        };
        const observer = new MutationObserver(look);
        observer.observe(main, { attributeFilter: ['aria-busy'] });
        look();
      }),
  );
