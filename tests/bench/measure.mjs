// Times the engines in turn: node measure.mjs MODEL_DIR MODEL_ONNX ROUNDS LENGTH...
// Prints {samples: [{engine, build, tokens, milliseconds: […]}], peak: [{build, chains, tile}],
// versions}. Fails where the engines disagree on a text. Needs a Node with relaxed SIMD.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as ort from 'onnxruntime-web/wasm';
import { Classifier } from '../../dist/index.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const [model, onnx, rounds, ...lengths] = process.argv.slice(2);
const warmUp = 1500; // milliseconds an engine and length: V8 must have optimised every loop
const slice = 250; // milliseconds an engine, length and round

const words =
  `The first hour is gripping and beautifully shot , and the two leads are a joy to watch ,
but the ending drags on for so long that even the most patient viewer will look for the door . I was
ready to love it , and in the end I could not . Still , there is a good film in here somewhere .`
    .replaceAll(',', ' ,')
    .split(/\s+/);

/** A text of exactly `wanted` tokens: words while there is room, then single-token fillers. */
async function textOf(wanted, classifier) {
  const count = async (text) => (await classifier.classify(text)).tokens.length;
  let text = words[0];
  for (let i = 1; (await count(`${text} ${words[i % words.length]}`)) <= wanted; ++i)
    text += ` ${words[i % words.length]}`;
  for (const filler of ['.', 'a', 'the', '!', 'it', 'film'])
    while ((await count(text)) < wanted && (await count(`${text} ${filler}`)) <= wanted)
      text += ` ${filler}`;
  if ((await count(text)) !== wanted) throw new Error(`no text of ${wanted} tokens found`);
  return text;
}

/** Calls `work` for so many milliseconds, twenty times at least; resolves to each call's time. */
async function time(work, milliseconds) {
  const times = [];
  const end = performance.now() + milliseconds;
  while (times.length < 20 || performance.now() < end) {
    const start = performance.now();
    await work();
    times.push(performance.now() - start);
  }
  return times;
}

function probeNatively() {
  return JSON.parse(spawnSync(join(root, 'build/native/peak_probe'), { encoding: 'utf8' }).stdout);
}

function probe(build) {
  const bytes = readFileSync(join(root, 'build', build, 'peak_probe.wasm'));
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(bytes), {});
  exports._initialize();
  const best = (loop) => {
    let rate = 0;
    for (let run = 0; run < 50; ++run) {
      const start = performance.now();
      const operations = loop(1e4); // the first runs let V8 optimise
      rate = Math.max(rate, operations / (performance.now() - start) / 1e6);
    }
    return rate;
  };
  return { chains: best(exports.chains), tile: best(exports.tile) };
}

/** The command line measures itself, for a second. */
function sampleNatively(tokens) {
  const args = ['bench', model, '--lengths', String(tokens), '--json'];
  const result = spawnSync(join(root, 'build/native/glassformer'), args, { encoding: 'utf8' });
  if (result.status !== 0) throw new Error(`glassformer bench failed: ${result.stderr}`);
  const [row] = JSON.parse(result.stdout);
  if (row.tokens !== tokens)
    throw new Error(`glassformer bench: ${row.tokens} tokens, not ${tokens}`);
  return row;
}

const classifiers = {
  'wasm-simd128': await Classifier.load(model, { binary: 'simd' }),
  'wasm-relaxed': await Classifier.load(model, { binary: 'relaxed' }),
};
ort.env.wasm.numThreads = 1;
const session = await ort.InferenceSession.create(readFileSync(onnx), {
  executionProviders: ['wasm'],
  graphOptimizationLevel: 'all',
});
const { labels } = classifiers['wasm-simd128'].info;

const samples = [];
for (const tokens of lengths.map(Number)) {
  const text = await textOf(tokens, classifiers['wasm-simd128']);
  const { tokens: read } = await classifiers['wasm-simd128'].classify(text);
  const ids = BigInt64Array.from(read, ({ id }) => BigInt(id));
  const feeds = { ids: new ort.Tensor('int64', ids, [1, tokens]) };
  const inProcess = (engine, build, work) => ({
    engine,
    build,
    warmUp: () => time(work, warmUp),
    sample: () => time(work, slice),
  });
  const engines = [
    {
      engine: 'glassformer',
      build: sampleNatively(tokens).build,
      warmUp: () => {},
      sample: () => [sampleNatively(tokens).ms_median],
    },
    ...Object.entries(classifiers).map(([build, classifier]) =>
      inProcess('glassformer', build, () => classifier.classify(text)),
    ),
    inProcess('onnxruntime-web', 'wasm', () => session.run(feeds)),
  ].map((engine) => ({ ...engine, milliseconds: [] }));

  const theirs = (await session.run(feeds)).scores.data;
  for (const [build, classifier] of Object.entries(classifiers)) {
    const { scores } = await classifier.classify(text);
    labels.forEach((label, i) => {
      if (!(Math.abs(scores[label] - theirs[i]) < 1e-5))
        throw new Error(
          `${tokens} tokens: ${build} ${scores[label]}, onnxruntime-web ${theirs[i]}`,
        );
    });
  }
  for (const engine of engines) await engine.warmUp();
  for (let round = 0; round < Number(rounds); ++round)
    for (let i = 0; i < engines.length; ++i) {
      const { milliseconds, sample } = engines[(i + round) % engines.length]; // each goes first
      milliseconds.push(...(await sample()));
    }
  for (const { engine, build, milliseconds } of engines)
    samples.push({ engine, build, tokens, milliseconds });
}

const { isa, ...native } = probeNatively();
const peak = [
  { build: `native-${isa}`, ...native },
  { build: 'wasm-simd128', ...probe('wasm') },
  { build: 'wasm-relaxed', ...probe('wasm-relaxed') },
];
const versions = { node: process.versions.node, onnxruntime: ort.env.versions.web };
console.log(JSON.stringify({ samples, peak, versions }));
