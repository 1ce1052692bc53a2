// The other side of engine.mjs, for engines that run in Node.
import { createInterface } from 'node:readline';

const print = (value) =>
  new Promise((resolve) => process.stdout.write(`${JSON.stringify(value)}\n`, resolve));

/** Returns the milliseconds of calls of `work` for some milliseconds, at least one. */
export async function time(work, milliseconds) {
  const times = [];
  const end = performance.now() + milliseconds;
  while (times.length < 1 || performance.now() < end) {
    const start = performance.now();
    await work();
    times.push(performance.now() - start);
  }
  return times;
}

/** Prints the facts, then answers requests for samples until the input ends. */
export async function serve(facts, sample) {
  await print(facts);
  for await (const line of createInterface({ input: process.stdin }))
    await print(await sample(Number(line)));
  process.exit(0); // without waiting for the engine's threads
}
