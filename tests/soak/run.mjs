// `npm run soak`: one classifier and one translator answer random texts, with random options and
// aborts, like a server that runs for days. At the end, it checks that memory was constant, that
// the same work took the same time, and that a fresh instance gives the same answers.
//
//   npm run soak -- [--classifications 100000] [--translations 5000] [--seed 1]
//
// `--translations 0` leaves that part out.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual, parseArgs } from 'node:util';
import v8 from 'node:v8';
import vm from 'node:vm';
import { buildPackage, root, setUp } from '../../tools/build.mjs';

const { values } = parseArgs({
  options: {
    classifications: { type: 'string', default: '100000' },
    translations: { type: 'string', default: '5000' },
    seed: { type: 'string', default: '1' },
  },
});

await setUp('build');
await buildPackage({ release: true });
v8.setFlagsFromString('--expose-gc');
const collectGarbage = vm.runInNewContext('gc');

// The memories of all instances, in order of creation.
const memories = [];
const { instantiate } = WebAssembly;
WebAssembly.instantiate = async (...args) => {
  const result = await instantiate(...args);
  memories.push(new WeakRef((result.instance ?? result).exports.memory));
  return result;
};
const { Classifier, GlassformerError, Translator } = await import('../../dist/index.js');

// Random numbers in 0…1 from a seed: mulberry32.
let state = Number(values.seed) >>> 0;
function random() {
  state = (state + 0x6d2b79f5) | 0;
  let t = Math.imul(state ^ (state >>> 15), 1 | state);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
}
const below = (n) => Math.floor(random() * n);
const one = (list) => list[below(list.length)];
const often = (share) => random() < share;

const words = readFileSync(join(root, 'README.md'), 'utf8')
  .split(/[^A-Za-z.,]+/)
  .filter(Boolean);
const odd = ['\u{1F600}', '漢字', '\u0301', '\uD800', '\u0000', '▁', '\n', 'ﬁ', '\u202E', '½'];

// Returns a text of 1 to `most` words; short texts are as frequent as long ones.
function randomText(most) {
  const count = Math.ceil(Math.exp(random() * Math.log(most)));
  return Array.from({ length: count }, () => (often(0.02) ? one(odd) : one(words))).join(' ');
}

const megabytes = (bytes) => (bytes / 2 ** 20).toFixed(1);
const range = (start, end) =>
  `${megabytes(start)} MB after a tenth of the calls, ${megabytes(end)} MB after all`;
const problems = [];
const expect = (condition, problem) => {
  if (!condition) problems.push(problem);
};

// Tests one model under load. `work` has the requests: random `text()` and `options()`, `largest`,
// the requests that need the most memory, and `like`, a request that is repeated and timed.
async function soak(name, load, method, count, work) {
  if (count === 0) return;
  const model = await load();
  const memory = memories.at(-1).deref();
  const loaded = memory.buffer.byteLength;
  const answer = (text, options) => model[method](text, options);
  for (const [text, options] of work.largest) await answer(text, options);
  for (let i = 0; i < 50; i++) await answer(...work.like); // until V8 has optimized the code

  const used = () => {
    collectGarbage();
    return { wasm: memory.buffer.byteLength, heap: process.memoryUsage().heapUsed };
  };
  const times = { wall: [], cpu: [] };
  const errors = {};
  let aborted = 0;
  let compared = 0;
  let start;
  for (let done = 0; done < count; done++) {
    if (done === Math.floor(count / 10)) start = used();
    if (done % work.every === 0) {
      const wall = performance.now();
      const cpu = process.cpuUsage();
      await answer(...work.like);
      const { user, system } = process.cpuUsage(cpu);
      times.cpu.push((user + system) / 1000);
      times.wall.push(performance.now() - wall);
      continue;
    }
    const text = work.text();
    const options = work.options();
    const controller = often(0.03) ? new AbortController() : undefined;
    const timer = controller && setTimeout(() => controller.abort(), below(10));
    if (controller && often(0.3)) controller.abort();
    try {
      const result = await answer(text, {
        ...options,
        signal: controller?.signal,
      });
      if (often(work.sampled)) {
        const fresh = await load();
        const again = await fresh[method](text, options);
        fresh.dispose();
        compared += 1;
        const same = isDeepStrictEqual(plain(result), plain(again));
        expect(same, `${name}: another answer to ${JSON.stringify({ text, options })}`);
      }
    } catch (error) {
      const code = error instanceof GlassformerError ? error.code : String(error?.stack ?? error);
      if (code === 'aborted' && controller) aborted += 1;
      else errors[code] = (errors[code] ?? 0) + 1;
    } finally {
      clearTimeout(timer);
    }
  }

  const end = used();
  model.dispose();
  console.log(`${name}: ${count} calls, ${aborted} aborted, errors ${JSON.stringify(errors)}`);
  console.log(`  ${compared} answers compared with a fresh instance's`);
  console.log(`  wasm memory: ${megabytes(loaded)} MB loaded, then ${range(start.wasm, end.wasm)}`);
  console.log(`  JavaScript's memory: ${range(start.heap, end.heap)}`);
  const ratio = {};
  for (const [clock, list] of Object.entries(times)) {
    list.sort((a, b) => a - b);
    const [p50, p99] = [0.5, 0.99].map((share) => list[Math.floor(list.length * share)]);
    ratio[clock] = p99 / p50;
    console.log(
      `  like work, ${list.length} times, ${clock} time: ` +
        `p50 ${p50.toFixed(2)} ms, p99 ${p99.toFixed(2)} ms, ratio ${ratio[clock].toFixed(2)}`,
    );
  }
  expect(end.wasm - start.wasm <= 2 ** 20, `${name}: wasm memory grew`);
  expect(end.heap - start.heap <= 4 * 2 ** 20, `${name}: JavaScript's memory grew`);
  // Uses the clock with less noise: other programs disturb the wall clock, and V8's threads disturb
  // the processor time.
  const least = Math.min(ratio.wall, ratio.cpu);
  expect(least <= 3, `${name}: p99 is ${least.toFixed(2)} times p50`);
  expect(aborted > 0 && compared > 0, `${name}: too few calls to abort and to compare some`);
  for (const code of Object.keys(errors)) {
    expect(code === 'empty_input', `${name}: ${errors[code]} × ${code}`);
  }
}

// Results contain functions and typed arrays; their values are compared.
const plain = (result) => JSON.parse(JSON.stringify(result));

const head = (...sites) => ({
  attention: one(sites),
  layer: below(2),
  head: below(8),
});
const maybe = (share, options) => (often(share) ? options() : {});

const sentiment = join(root, 'weights/sentiment');
const long = Array.from({ length: 3000 }, (_, i) => words[i % words.length]).join(' ');
await soak('classifier', () => Classifier.load(sentiment), 'classify', +values.classifications, {
  text: () => randomText(600),
  options: () => ({
    ...maybe(0.05, () => ({ attention: true })),
    ...maybe(0.15, () => ({ contributions: true })),
    ...maybe(0.2, () => ({ ablate: [head('encoder'), head('encoder')] })),
    ...maybe(0.2, () => ({ maskTokens: [0] })),
  }),
  largest: [[long, { attention: true, contributions: true }]],
  like: [words.slice(0, 40).join(' '), {}],
  every: 10,
  sampled: 0.002,
});

const german = join(root, 'weights/en-de');
const most = { beams: 8, attention: true, hypotheses: true };
await soak('translator', () => Translator.load(german), 'translate', +values.translations, {
  text: () => randomText(40),
  options: () => ({
    beams: 1 + below(8),
    ...maybe(0.1, () => ({ attention: true })),
    ...maybe(0.1, () => ({ alignment: true })),
    ...maybe(0.1, () => ({ hypotheses: true })),
    ...maybe(0.2, () => ({ maxLength: 1 + below(40) })),
    ...maybe(0.2, () => ({ lengthPenalty: random() * 2 })),
    ...maybe(0.2, () => ({ ablate: [head('encoder', 'decoder', 'cross')] })),
  }),
  // The longest text that the model reads, and the longest text of 40 words with rare characters.
  largest: [
    [long.slice(0, 2000).replaceAll('.', ','), most],
    [odd.join(' ').repeat(8), most],
  ],
  like: [
    'The train to the old town leaves at seven, and the next one an hour later.',
    { beams: 4 },
  ],
  every: 10,
  sampled: 0.02,
});

for (const problem of problems) console.log(`FAILED ${problem}`);
console.log(problems.length === 0 ? 'soak passed' : 'soak failed');
process.exitCode = problems.length > 0 ? 1 : 0;
