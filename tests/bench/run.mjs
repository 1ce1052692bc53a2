// `npm run bench [-- --json] [--model DIR]… [--rounds N]`: text to verdict and text to translation, one
// thread, side by side:
//
//   glassformer natively, and as wasm in Node 24 with plain and with relaxed SIMD,
//   onnxruntime-web (wasm) in the same process, on an ONNX export of the same weights: a decoder with
//   cached keys and values for translation.
//
// Every engine is warmed up, then measured in turn, round after round, so that a disturbance of the
// machine hits all of them; medians over all calls. A ratio is onnxruntime-web's time for the same
// text in the same run divided by ours: above 1 is faster. onnxruntime-web is handed token ids,
// while glassformer starts from the text. Beside that: the machine's peak (peak.cpp), sizes of what is
// downloaded, and cold starts. Prints Markdown, or with --json an array of
// {engine, build, precision, model, task, tokens, ms_median, ratio}, for translation with {beams,
// output_tokens, tokens_per_second, ms_first_token}; build/bench/results.json holds everything.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';
import { buildNative, buildPackage, root, run, setUp } from '../../wasm/toolchain/build.mjs';

const nodeMajor = 24;
const lengths = [16, 64, 256];
const output = join(root, 'build/bench');
const onnxruntime = join(root, 'node_modules/onnxruntime-web');

/** A Node with relaxed SIMD: this one if new enough, else one from npm, kept in .toolchain/. */
async function findNode() {
  if (Number(process.versions.node.split('.')[0]) >= nodeMajor) return process.execPath;
  const name = `node-${process.platform}-${process.arch}`;
  const folder = join(root, '.toolchain/node');
  const node = join(folder, 'node_modules', name, 'bin/node');
  if (!existsSync(node)) {
    console.error(`fetching Node ${nodeMajor} from npm (once, about a minute)`);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'package.json'), '{ "private": true }\n');
    const install = ['install', '--ignore-scripts', '--no-audit', '--no-fund'];
    await run('npm', [...install, '--prefix', folder, `${name}@${nodeMajor}`]);
  }
  return node;
}

async function prepare() {
  await setUp('build', 'native', 'bench');
  console.error('building (the first time a minute or two)');
  await buildNative();
  await buildPackage();
  for (const preset of ['native', 'wasm', 'wasm-relaxed'])
    await run('cmake', ['--build', '--preset', preset, '--target', 'peak_probe']);
  return findNode();
}

/** The model's ONNX graphs; resolves to their folder. */
async function exportOnnx(model) {
  const folder = join(output, basename(model));
  mkdirSync(folder, { recursive: true });
  const python = existsSync('/usr/bin/python3') ? '/usr/bin/python3' : 'python3';
  await run(python, ['-B', 'tests/bench/export_onnx.py', model, folder]);
  return folder;
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

const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1];

/** Milliseconds from the start of a fresh process to its first verdict, the engines in turn. */
function coldStarts(node, model, onnx) {
  const runs = { node: [], glassformer: [], 'onnxruntime-web': [] };
  for (let round = 0; round < 7; ++round) {
    for (const engine of Object.keys(runs)) {
      const start = performance.now();
      measure(node, 'cold_start.mjs', [engine, engine === 'glassformer' ? model : onnx]);
      runs[engine].push(performance.now() - start);
    }
  }
  return Object.fromEntries(Object.entries(runs).map(([engine, times]) => [engine, median(times)]));
}

/** What a user of each package downloads, without a model. */
function sizes() {
  const files = {
    glassformer: [
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

function table(header, rows) {
  const line = (cells) => `| ${cells.join(' | ')} |`;
  return [
    line(header),
    line(header.map((_, i) => (i === 0 ? '---' : '---:'))),
    ...rows.map(line),
  ].join('\n');
}

function reportClassifier(results) {
  const builds = [...new Map(results.map((row) => [`${row.engine}, ${row.build}`, row])).values()];
  const cell = ({ engine, build }, tokens) => {
    const row = results.find(
      (r) => r.engine === engine && r.build === build && r.tokens === tokens,
    );
    return row
      ? `${row.ms_median.toFixed(2)} ms (${row.ratio.toFixed(2)}×), ${row.gflops.toFixed(0)}`
      : '';
  };
  console.log(`
${results[0].model}, text to verdict: median ms (times as fast as onnxruntime-web), GFLOP/s.

${table(
  ['f32', ...lengths.map((tokens) => `${tokens} tokens`)],
  builds.map((row) => [
    `${row.engine}, ${row.build}`,
    ...lengths.map((tokens) => cell(row, tokens)),
  ]),
)}`);
}

function reportTranslator(results) {
  console.log(`
${results[0].model}, text to translation: tokens a second (times as fast as onnxruntime-web), ms to the first token of a greedy stream.

${table(
  ['f32', 'beams', 'tokens in, out', 'tokens/s', 'ms in all', 'ms to the first'],
  results.map((row) => [
    `${row.engine}, ${row.build}`,
    row.beams,
    `${row.tokens}, ${row.output_tokens}`,
    `${row.tokens_per_second.toFixed(0)} (${row.ratio.toFixed(2)}×)`,
    row.ms_median.toFixed(2),
    row.ms_first_token.toFixed(2),
  ]),
)}`);
}

function reportMachine({ machine, peak, cold, sizes: files }) {
  const kilobytes = (bytes) => `${(bytes / 1000).toFixed(1)} KB`;
  console.log(`
${machine}, one thread.

Peak of this core in the same run, multiply-adds in f32:

${table(
  ['GFLOP/s', 'registers alone', 'register tile fed from L1'],
  peak.map(({ build, chains, tile }) => [build, chains.toFixed(0), tile.toFixed(0)]),
)}

Cold start in Node, from the start of the process to the first verdict: glassformer ${cold.glassformer.toFixed(0)} ms, onnxruntime-web ${cold['onnxruntime-web'].toFixed(0)} ms (of which Node itself ${cold.node.toFixed(0)} ms).

${table(
  ['size', 'raw', 'gzip'],
  files.map(({ engine, file, bytes, gzip }) => [
    `${engine} ${file}`,
    kilobytes(bytes),
    kilobytes(gzip),
  ]),
)}`);
}

const isTheirs = (row) => row.engine === 'onnxruntime-web';
const round = (value, digits) => Number(value.toFixed(digits));

/** Rows of a classifier, and what was measured beside them. */
function benchClassifier(node, model, config, onnx, rounds) {
  const file = join(onnx, 'classifier.onnx');
  const measured = measure(node, 'measure.mjs', [model, file, rounds, ...lengths]);
  const { d_model: d, d_ff: f, encoder_layers: layers } = config;
  const operations = (tokens) => 2 * layers * tokens * (4 * d * d + 2 * d * f + 2 * tokens * d);
  const rows = measured.samples.map(({ engine, build, tokens, milliseconds }) => {
    const ms = median(milliseconds);
    const theirs = measured.samples.find((s) => isTheirs(s) && s.tokens === tokens);
    return {
      engine,
      build,
      precision: 'f32',
      model: basename(model),
      task: config.task,
      tokens,
      ms_median: round(ms, 4),
      ratio: round(median(theirs.milliseconds) / ms, 3),
      gflops: operations(tokens) / ms / 1e6,
    };
  });
  const { peak, versions } = measured;
  return { rows, peak, versions, cold: coldStarts(node, model, file) };
}

function benchTranslator(node, model, config, onnx, rounds) {
  const samples = measure(node, 'measure_translation.mjs', [model, onnx, rounds]);
  return samples.map(({ engine, build, beams, tokens, output_tokens, milliseconds, firsts }) => {
    const ms = median(milliseconds);
    const theirs = samples.find((s) => isTheirs(s) && s.tokens === tokens && s.beams === beams);
    return {
      engine,
      build,
      precision: 'f32',
      model: basename(model),
      task: config.task,
      tokens,
      ms_median: round(ms, 4),
      ratio: round(median(theirs.milliseconds) / ms, 3),
      beams,
      output_tokens,
      tokens_per_second: (1000 * output_tokens) / ms,
      ms_first_token: round(median(firsts), 4),
    };
  });
}

async function main() {
  const { values } = parseArgs({
    options: {
      json: { type: 'boolean', default: false },
      model: {
        type: 'string',
        multiple: true,
        default: ['sentiment', 'en-de'].map((name) => join(root, 'weights', name)),
      },
      rounds: { type: 'string', default: '8' },
    },
  });
  const node = await prepare();
  console.error('measuring (about four minutes; leave the machine alone)');
  const everything = { results: [], sizes: sizes() };
  for (const model of values.model.map((folder) => resolve(folder))) {
    const config = JSON.parse(readFileSync(join(model, 'config.json'), 'utf8'));
    const onnx = await exportOnnx(model);
    if (config.task === 'translation') {
      everything.results.push(...benchTranslator(node, model, config, onnx, values.rounds));
    } else {
      const { rows, versions, ...beside } = benchClassifier(
        node,
        model,
        config,
        onnx,
        values.rounds,
      );
      const machine = `${cpus()[0].model}, Node ${versions.node}, onnxruntime-web ${versions.onnxruntime}`;
      everything.results.push(...rows);
      Object.assign(everything, { machine, ...beside });
    }
  }
  writeFileSync(join(output, 'results.json'), `${JSON.stringify(everything, null, 2)}\n`);
  if (values.json) {
    const rows = everything.results.map(({ gflops, ...row }) => row);
    console.log(JSON.stringify(rows, null, 2));
    return;
  }
  for (const model of new Set(everything.results.map((row) => row.model))) {
    const rows = everything.results.filter((row) => row.model === model);
    (rows[0].task === 'translation' ? reportTranslator : reportClassifier)(rows);
  }
  if (everything.machine) reportMachine(everything);
}

main().catch((error) => {
  console.error(error.output ?? error.message);
  process.exitCode = 1;
});
