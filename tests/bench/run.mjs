// `npm run bench [-- --json] [--model DIR]… [--precision f32|int8]… [--rounds N]`: measures the
// time from text to verdict and from text to translation, with one thread, in f32 and in 8-bit
// integers, of
//
//   glassformer natively, and as wasm in Node 24 with plain and with relaxed SIMD,
//   onnxruntime-web (wasm) in the same process, on an ONNX export of the same weights: a decoder with
//   cached keys and values for translation,
//   Bergamot's translator (wasm, int8), with random weights of the same depth, width and vocabulary,
//   and the ceiling: the time at the machine's peak (peak.cpp) in the same run.
//
// Models are our own, and published ones with random weights, by name (--model MiniLM-L6). GPT-2
// continues a text greedily: 64 tokens after 64. ViT-B/16 reads a picture of 224 × 224 pixels.
//
// Every engine is warmed up, then measured in turn, round after round, so that a disturbance of the
// machine affects all of them. Times are medians over all calls. A ratio is onnxruntime-web's time
// for the same text and precision in the same run (for translations, its time per token) divided by
// ours: above 1 is faster. A program on the core's other hardware thread only adds time, and it
// slows an engine more the better the engine uses the core. So the time of the fastest tenth of
// calls, `undisturbed`, is given, too. Its ratios hardly change between runs (Chen and Revels
// 2016), and it is the one to compare with the peak. onnxruntime-web gets token ids, glassformer
// gets the text.
//
// It also measures the kernels' products as a share of the peak and, if they are installed, the
// speed of OpenBLAS and oneDNN; the sizes of the downloads; and cold starts. It prints Markdown, or
// with --json an array of {engine, build, precision, model, task, tokens, ms_median, ratio,
// ms_undisturbed, ratio_undisturbed, of_ceiling}, for translation with {beams, output_tokens,
// tokens_per_second, ms_first_token}. build/bench/results.json holds everything.
//
// With --peers it compares with native engines and with threads instead: see peers/run.mjs.
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';
import { buildNative, buildPackage, cmake, root, run, setUp } from '../../tools/build.mjs';
import { ceilingOf, operationsOf } from './ceiling.mjs';
import { shapes as published } from '../full/checkpoint.mjs';
import { exportOnnx, findNode, makePublished, output } from './prepare.mjs';
import { report } from './report.mjs';
import { precisions, shapes } from './shapes.mjs';

const lengths = [16, 64, 256];
/** The tokens that a published model reads. Models that write also write this many. */
const publishedLengths = {
  'text-classification': [128],
  'image-classification': [],
  'text-generation': [64],
  translation: [20],
};
const scripts = {
  'text-classification': 'measure.mjs',
  'image-classification': 'measure_pictures.mjs',
  'text-generation': 'measure_generation.mjs',
  translation: 'measure_translation.mjs',
};
const onnxruntime = join(root, 'node_modules/onnxruntime-web');
const weights = (name) => join(root, 'weights', name);

async function prepare() {
  await setUp('build', 'native', 'bench');
  console.error('building (a minute or two the first time)');
  await buildNative();
  await buildPackage({ release: true });
  const probes = {
    native: ['peak_probe', 'gemm_probe'],
    wasm: ['simd128', 'relaxed'].flatMap((isa) => [`peak_probe.${isa}`, `gemm_probe.${isa}`]),
  };
  for (const [preset, targets] of Object.entries(probes)) await cmake(preset, ...targets);
  return findNode();
}

/** Makes a larger classifier with random weights. Returns its folder. */
async function makeRandomModel() {
  const parts = join(output, 'random-512.parts');
  const model = join(output, 'random-512');
  mkdirSync(parts, { recursive: true });
  const config = JSON.parse(readFileSync(join(weights('sentiment'), 'config.json'), 'utf8'));
  Object.assign(config, { d_model: 512, d_ff: 2048, n_heads: 8, encoder_layers: 6 });
  writeFileSync(join(parts, 'config.json'), JSON.stringify(config));
  copyFileSync(join(weights('sentiment'), 'tokenizer.model'), join(parts, 'tokenizer.model'));
  rmSync(model, { recursive: true, force: true });
  const args = ['init', join(parts, 'config.json'), model, '--seed', '1'];
  await run(join(root, 'build/native/glassformer'), args);
  return model;
}

/** Returns the folder of a model that --model names: one that is made here, or an existing one. */
function folderOf(name) {
  if (name in published) return makePublished(name, published[name]);
  return name === 'random-512' ? makeRandomModel() : resolve(name);
}

/** Runs a script of this folder and reads the JSON that it prints. */
function measure(node, script, args) {
  const result = spawnSync(node, [join(root, 'tests/bench', script), ...args], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (result.status !== 0) throw new Error(`${script} failed`);
  return JSON.parse(result.stdout);
}

const quantile = (values, share) =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length * share)];
const median = (values) => quantile(values, 1 / 2);
/** Returns the time of undisturbed calls. */
const undisturbed = (values) => quantile(values, 1 / 10);
const round = (value, digits) => Number(value.toFixed(digits));

/** Measures the milliseconds from the start of a process to its first verdict, for each engine. */
function coldStarts(node, model, onnx) {
  const runs = { node: [], glassformer: [], 'onnxruntime-web': [] };
  for (let i = 0; i < 7; ++i) {
    for (const engine of Object.keys(runs)) {
      const start = performance.now();
      measure(node, 'cold_start.mjs', [engine, engine === 'glassformer' ? model : onnx]);
      runs[engine].push(performance.now() - start);
    }
  }
  return Object.fromEntries(Object.entries(runs).map(([engine, times]) => [engine, median(times)]));
}

/** Returns the download size of each package, without a model. */
function sizes() {
  const files = {
    glassformer: [
      'dist/glassformer.read.wasm',
      'dist/glassformer.read.relaxed.wasm',
      'dist/glassformer.wasm',
      'dist/glassformer.relaxed.wasm',
      'dist/index.js',
      'dist/worker.js',
    ].map((file) => join(root, file)),
    'onnxruntime-web': [
      'ort-wasm-simd-threaded.wasm',
      'ort-wasm-simd-threaded.mjs',
      'ort.wasm.min.mjs',
    ].map((file) => join(onnxruntime, 'dist', file)),
  };
  return Object.entries(files).flatMap(([engine, paths]) =>
    paths.map((path) => {
      const bytes = readFileSync(path);
      const gzip = gzipSync(bytes, { level: 9 }).length;
      return { engine, file: basename(path), bytes: bytes.length, gzip };
    }),
  );
}

/**
 * Compares our products with those of OpenBLAS and oneDNN; undefined if these are not installed.
 */
async function compareLibraries() {
  await run('cmake', ['--preset', 'native']); // searches for them again
  const { stdout } = spawnSync('cmake', ['--build', '--preset', 'native', '--target', 'help'], {
    cwd: root,
    encoding: 'utf8',
  });
  if (!/\bblas_probe\b/.test(stdout)) return undefined;
  await run('cmake', ['--build', '--preset', 'native', '--target', 'blas_probe']);
  const args = shapes.map((shape) => shape.join('x'));
  const env = { OMP_NUM_THREADS: '1', ONEDNN_MAX_CPU_ISA: 'AVX512_CORE_VNNI' };
  return JSON.parse(await run(join(root, 'build/native/blas_probe'), args, { env }));
}

/** Returns the row of a sample: times, ratios to onnxruntime-web's sample, share of the ceiling. */
function rowOf(sample, samples, model, config, machine) {
  const { engine, build, precision, tokens, beams, output_tokens = 1 } = sample;
  const theirs = samples.find(
    (other) =>
      other.engine === 'onnxruntime-web' &&
      other.precision === precision &&
      other.tokens === tokens &&
      other.beams === beams,
  );
  const perToken = (theirs.output_tokens ?? 1) / output_tokens;
  const ratio = (time) => time(theirs.milliseconds) / time(sample.milliseconds) / perToken;
  const ms = median(sample.milliseconds);
  const fast = undisturbed(sample.milliseconds);
  const row = {
    engine,
    build,
    precision,
    model: basename(model),
    task: config.task,
    tokens,
    ms_median: round(ms, 4),
    ratio: round(ratio(median), 3),
    ms_undisturbed: round(fast, 4),
    ratio_undisturbed: round(ratio(undisturbed), 3),
  };
  const machineOf = engine === 'onnxruntime-web' ? 'wasm-simd128' : build;
  const peak = machine.find((r) => r.precision === precision && r.build === machineOf);
  // Only for engines that multiply all weights: a shortlist leaves out most of the vocabulary.
  if (peak && config.encoder_layers) {
    row.of_ceiling = round(ceilingOf(operationsOf(config, sample), peak) / fast, 3);
  }
  if (!/-classification$/.test(config.task)) {
    Object.assign(row, { beams, output_tokens });
    row.tokens_per_second = round((1000 * output_tokens) / ms, 1);
    if (sample.firsts.length > 0) row.ms_first_token = round(median(sample.firsts), 4);
  }
  return row;
}

async function main() {
  if (process.argv.includes('--peers')) {
    const peers = await import('./peers/run.mjs');
    return peers.main(process.argv.slice(2));
  }
  const { values } = parseArgs({
    options: {
      json: { type: 'boolean', default: false },
      model: { type: 'string', multiple: true },
      precision: { type: 'string', multiple: true, default: precisions },
      rounds: { type: 'string', default: '6' },
    },
  });
  const node = await prepare();
  const wanted = values.model ?? [
    weights('sentiment'),
    'random-512',
    weights('en-de'),
    ...Object.keys(published),
  ];
  console.error('measuring (about ten minutes; do not use the machine meanwhile)');
  const rounds = Number(values.rounds);
  const machine = measure(node, 'probe.mjs', ['3']);
  const everything = { machine, libraries: await compareLibraries(), results: [], sizes: sizes() };
  for (const name of wanted) {
    const model = await folderOf(name);
    const config = JSON.parse(readFileSync(join(model, 'config.json'), 'utf8'));
    const onnx = await exportOnnx(model, values.precision);
    const reads = config.task === 'text-classification';
    const options = { model, onnx, rounds };
    if (name in published) options.lengths = publishedLengths[config.task];
    else if (reads) options.lengths = lengths;
    const { samples, versions } = measure(node, scripts[config.task], [JSON.stringify(options)]);
    everything.versions = { cpu: cpus()[0].model, ...versions };
    everything.results.push(
      ...samples.map((sample) => rowOf(sample, samples, model, config, machine)),
    );
    if (reads && !everything.cold) {
      const graph = join(Object.values(onnx)[0], 'classifier.onnx');
      everything.cold = coldStarts(node, model, graph);
    }
  }
  writeFileSync(join(output, 'results.json'), `${JSON.stringify(everything, null, 2)}\n`);
  console.log(values.json ? JSON.stringify(everything.results, null, 2) : report(everything));
}

main().catch((error) => {
  console.error(error.output ?? error.message);
  process.exitCode = 1;
});
