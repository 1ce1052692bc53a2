// How long the page's own thread is busy at a stretch while something goes on: what a person feels
// as a page that hangs.

const categories = ['toplevel', 'disabled-by-default-devtools.timeline', '__metadata'];

/**
 * Runs `act` and resolves to the tasks of the page's main thread meanwhile, longest first, in
 * milliseconds. They are measured in processor time, not by the clock: when other processes take the
 * processor away, that is no task of the page's.
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
  return events
    .filter(({ name, ph }) => ph === 'X' && /RunTask$/.test(name))
    .filter(({ pid, tid }) => mainThreads.has(`${pid} ${tid}`))
    .map(({ tdur = 0 }) => tdur / 1000)
    .sort((a, b) => b - a);
}
